//! Words and signs that tell what a statement is.

use crate::{Family, Language};

/// What a statement is, as its first telling word says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// A condition, a loop or the like: its block ends it.
    Control,
    /// A function or a type: so does its block, where no names follow it.
    Declaration,
    /// A value: braces in it end nothing.
    Expression,
    /// Not known.
    #[default]
    Other,
}

/// The role that a word gives a statement; `is_first` where it begins the statement.
pub(super) fn role(language: Language, word: &str, is_first: bool) -> Role {
    let family = language.family();
    match word {
        "if" | "for" | "foreach" | "while" | "do" | "else" | "try" | "catch" | "finally" | "switch"
        | "loop" | "unsafe" | "synchronized" | "lock" | "checked" | "unchecked" | "fixed" => Role::Control,
        "match" if family == Family::Rust => Role::Control,
        "select" if family == Family::Go => Role::Control,
        "return" | "throw" | "yield" | "await" | "new" | "let" | "var" | "import" | "from" | "use" | "go"
        | "defer" | "delete" | "goto" | "break" | "continue" | "package"
            if is_first =>
        {
            Role::Expression
        }
        "class" | "struct" | "enum" | "union" | "interface" | "trait" | "impl" | "fn" | "func"
        | "function" | "mod" | "module" | "namespace" | "record" | "type" | "extern" | "macro_rules" => {
            Role::Declaration
        }
        _ => Role::Other,
    }
}

/// Whether a word, somewhere in a statement, is followed by a block of its own before the statement ends.
pub(super) fn takes_block(language: Language, word: &str) -> bool {
    match word {
        "async" | "move" => language == Language::Rust,
        _ if is_accessor(language, word) => true,
        "using" => language == Language::CSharp,
        "type" => language == Language::Go,
        "static" => matches!(language.family(), Family::Java | Family::Script),
        _ => matches!(role(language, word, false), Role::Control | Role::Declaration) && word != "type",
    }
}

/// Whether a word may be that of a property's accessor, whose body may be missing.
pub(super) fn is_accessor(language: Language, word: &str) -> bool {
    language == Language::CSharp && matches!(word, "get" | "set" | "init" | "add" | "remove")
}

/// Whether a group behind this word is a condition, behind which a statement follows.
pub(super) fn takes_condition(word: &str) -> bool {
    matches!(
        word,
        "if" | "for" | "while" | "with" | "switch" | "catch" | "foreach" | "using" | "lock" | "fixed"
    )
}

/// Whether a sign makes a value of what follows.
pub(super) fn assigns(sign: &str) -> bool {
    matches!(sign, "=" | ":=" | "+=" | "-=" | "*=" | "/=" | "|=" | "&=" | "^=" | "%=" | "??=" | "||=" | "&&=")
}

/// Words that go on with a statement whose block was closed.
pub(super) fn continues_block(word: &str) -> bool {
    matches!(word, "else" | "catch" | "finally")
}

/// Words that go on with an expression on the next line.
pub(super) fn joins(word: &str) -> bool {
    matches!(
        word,
        "in" | "of" | "instanceof" | "as" | "satisfies" | "extends" | "implements" | "where" | "is" | "with"
    )
}

/// Words that something has to follow.
pub(super) fn is_open(word: &str) -> bool {
    joins(word)
        || matches!(
            word,
            "typeof"
                | "new"
                | "await"
                | "else"
                | "do"
                | "case"
                | "const"
                | "let"
                | "var"
                | "import"
                | "from"
                | "export"
                | "default"
                | "async"
                | "function"
                | "class"
                | "delete"
                | "void"
                | "keyof"
        )
}
