//! Names of languages in prompts. Models were trained on these words, so they belong to the templates.

use syntax::Language;

/// Returns the name of a language in a prompt, as in CodeGeeX4's guide.
pub(crate) fn prompt_name(language: Language) -> &'static str {
    match language {
        Language::Python => "Python",
        Language::TypeScript | Language::Tsx => "TypeScript",
        Language::JavaScript => "JavaScript",
        Language::Java => "Java",
        Language::CSharp => "C#",
        Language::Rust => "Rust",
        Language::Go => "Go",
        Language::C => "C",
        Language::Cpp => "C++",
    }
}
