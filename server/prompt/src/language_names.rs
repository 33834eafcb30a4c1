//! Names of languages in prompts. Models were trained on these words, so they belong to the templates.

use syntax::Language;

/// Returns the name of a language in a prompt, as in CodeGeeX4's guide; empty if the language is unknown, which the guide allows.
pub(crate) fn prompt_name(language: Option<Language>) -> &'static str {
    match language {
        None => "",
        Some(Language::Python) => "Python",
        Some(Language::TypeScript | Language::Tsx) => "TypeScript",
        Some(Language::JavaScript) => "JavaScript",
        Some(Language::Java) => "Java",
        Some(Language::CSharp) => "C#",
        Some(Language::Rust) => "Rust",
        Some(Language::Go) => "Go",
        Some(Language::C) => "C",
        Some(Language::Cpp) => "C++",
    }
}

/// Returns the sign that begins a comment; the most common one if the language is unknown.
pub(crate) fn comment_sign(language: Option<Language>) -> &'static str {
    language.map_or("//", Language::line_comment)
}
