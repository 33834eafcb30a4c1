//! What prompts call languages. Models were trained on these words, so they are a part of the templates.

use syntax::Language;

/// The word for a language where a prompt names it, as CodeGeeX4's guide writes them; nothing where it is not known, which the guide
/// allows.
pub(crate) fn spoken_name(language: Option<Language>) -> &'static str {
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

/// What begins a comment; most languages' sign where it is not known.
pub(crate) fn comment_sign(language: Option<Language>) -> &'static str {
    language.map_or("//", Language::line_comment)
}
