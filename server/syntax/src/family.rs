//! Families of languages with the same tokens: code of one language can complete code of the others in its family.

use crate::language::Language;

/// A group of languages with one token stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
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

impl Family {
    /// All families.
    pub const ALL: [Family; 7] =
        [Family::Python, Family::Script, Family::Java, Family::CSharp, Family::Rust, Family::Go, Family::C];

    /// Whether blocks are made by indentation instead of brackets.
    pub fn is_indented(self) -> bool {
        self == Family::Python
    }

    /// Whether single and double quotes are interchangeable for strings.
    pub fn has_equal_quotes(self) -> bool {
        matches!(self, Family::Python | Family::Script)
    }

    /// Whether `;` ends a statement. In Go it separates the clauses of a header.
    pub fn has_semicolons(self) -> bool {
        self != Family::Go
    }
}

impl Language {
    /// Returns the family of the language.
    pub fn family(self) -> Family {
        match self {
            Language::Python => Family::Python,
            Language::TypeScript | Language::Tsx | Language::JavaScript => Family::Script,
            Language::Java => Family::Java,
            Language::CSharp => Family::CSharp,
            Language::Rust => Family::Rust,
            Language::Go => Family::Go,
            Language::C | Language::Cpp => Family::C,
        }
    }
}
