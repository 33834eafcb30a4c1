//! Languages that share their tokens: code of one family completes code of the others in it.

use syntax::Language;

/// A group of languages with one token stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Python,
    /// TypeScript, TSX and JavaScript.
    Script,
    Java,
    CSharp,
    Rust,
    Go,
    /// C and C++.
    C,
}

impl Family {
    pub(crate) const ALL: [Family; 7] =
        [Family::Python, Family::Script, Family::Java, Family::CSharp, Family::Rust, Family::Go, Family::C];

    pub(crate) fn of(language: Language) -> Family {
        match language {
            Language::Python => Family::Python,
            Language::TypeScript | Language::Tsx | Language::JavaScript => Family::Script,
            Language::Java => Family::Java,
            Language::CSharp => Family::CSharp,
            Language::Rust => Family::Rust,
            Language::Go => Family::Go,
            Language::C | Language::Cpp => Family::C,
        }
    }

    /// Whether indentation, not brackets, makes blocks.
    pub(crate) fn is_indented(self) -> bool {
        self == Family::Python
    }

    /// Whether `;` ends a statement. In Go it separates the clauses of a header.
    pub(crate) fn has_semicolons(self) -> bool {
        self != Family::Go
    }
}
