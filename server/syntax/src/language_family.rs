//! Families of languages with the same tokens: code of one language can complete code of the others in its family.

use crate::language::Language;

/// A group of languages with one token stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LanguageFamily {
    /// Python.
    Python,
    /// TypeScript, TSX and JavaScript.
    Script,
    /// Java.
    Java,
    /// C#.
    CSharp,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// C and C++.
    C,
}

impl LanguageFamily {
    /// All families.
    pub const ALL: [LanguageFamily; 7] = [
        LanguageFamily::Python,
        LanguageFamily::Script,
        LanguageFamily::Java,
        LanguageFamily::CSharp,
        LanguageFamily::Rust,
        LanguageFamily::Go,
        LanguageFamily::C,
    ];

    /// Whether blocks are made by indentation instead of brackets.
    pub fn is_indented(self) -> bool {
        self == LanguageFamily::Python
    }

    /// Whether single and double quotes are interchangeable for strings.
    pub fn has_equal_quotes(self) -> bool {
        matches!(self, LanguageFamily::Python | LanguageFamily::Script)
    }

    /// Whether `;` ends a statement. In Go it separates the clauses of a header.
    pub fn has_semicolons(self) -> bool {
        self != LanguageFamily::Go
    }
}

impl Language {
    /// Returns the family of the language.
    pub fn family(self) -> LanguageFamily {
        match self {
            Language::Python => LanguageFamily::Python,
            Language::TypeScript | Language::Tsx | Language::JavaScript => LanguageFamily::Script,
            Language::Java => LanguageFamily::Java,
            Language::CSharp => LanguageFamily::CSharp,
            Language::Rust => LanguageFamily::Rust,
            Language::Go => LanguageFamily::Go,
            Language::C | Language::Cpp => LanguageFamily::C,
        }
    }
}
