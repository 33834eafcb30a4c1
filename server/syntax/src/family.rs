//! Languages that share their tokens: code of one family completes code of the others in it.

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
    /// All of them.
    pub const ALL: [Family; 7] =
        [Family::Python, Family::Script, Family::Java, Family::CSharp, Family::Rust, Family::Go, Family::C];

    /// Whether indentation, not brackets, makes blocks.
    pub fn is_indented(self) -> bool {
        self == Family::Python
    }

    /// Whether strings may stand in single and double quotes alike.
    pub fn has_equal_quotes(self) -> bool {
        matches!(self, Family::Python | Family::Script)
    }

    /// Whether `;` ends a statement. In Go it separates the clauses of a header.
    pub fn has_semicolons(self) -> bool {
        self != Family::Go
    }
}

impl Language {
    /// The languages that it shares its tokens with.
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
