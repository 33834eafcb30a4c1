//! Words and signs that classify a statement.

use crate::{Language, LanguageFamily};

/// Kind of a statement, by its first significant word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StatementRole {
    /// A condition, a loop or the like: ends with its block.
    Control,
    /// A function or a type: ends with its block unless names follow.
    Declaration,
    /// A value: braces in it do not end the statement.
    Expression,
    /// Unknown.
    #[default]
    Other,
}

/// Returns the role that a word gives a statement; `is_first` if it begins the statement.
pub(super) fn role(language: Language, word: &str, is_first: bool) -> StatementRole {
    let family = language.family();
    match word {
        "if" | "for" | "foreach" | "while" | "do" | "else" | "try" | "catch" | "finally" | "switch"
        | "loop" | "unsafe" | "synchronized" | "lock" | "checked" | "unchecked" | "fixed" => {
            StatementRole::Control
        }
        "match" if family == LanguageFamily::Rust => StatementRole::Control,
        "select" if family == LanguageFamily::Go => StatementRole::Control,
        "return" | "throw" | "yield" | "await" | "new" | "let" | "var" | "import" | "from" | "use" | "go"
        | "defer" | "delete" | "goto" | "break" | "continue" | "package"
            if is_first =>
        {
            StatementRole::Expression
        }
        "class" | "struct" | "enum" | "union" | "interface" | "trait" | "impl" | "fn" | "func"
        | "function" | "mod" | "module" | "namespace" | "record" | "type" | "extern" | "macro_rules" => {
            StatementRole::Declaration
        }
        _ => StatementRole::Other,
    }
}

/// Whether a block of its own follows a word, anywhere in a statement, before the statement ends.
pub(super) fn takes_block(language: Language, word: &str) -> bool {
    match word {
        "async" | "move" => language == Language::Rust,
        _ if is_accessor(language, word) => true,
        "using" => language == Language::CSharp,
        "type" => language == Language::Go,
        "static" => matches!(language.family(), LanguageFamily::Java | LanguageFamily::Script),
        _ => {
            matches!(role(language, word, false), StatementRole::Control | StatementRole::Declaration)
                && word != "type"
        }
    }
}

/// Whether a word can be an accessor of a property, whose body is optional.
pub(super) fn is_accessor(language: Language, word: &str) -> bool {
    language == Language::CSharp && matches!(word, "get" | "set" | "init" | "add" | "remove")
}

/// Whether a group after this word is a condition, which a statement follows.
pub(super) fn takes_condition(word: &str) -> bool {
    matches!(
        word,
        "if" | "for" | "while" | "with" | "switch" | "catch" | "foreach" | "using" | "lock" | "fixed"
    )
}

/// Whether a sign assigns the expression after it.
pub(super) fn assigns(sign: &str) -> bool {
    matches!(sign, "=" | ":=" | "+=" | "-=" | "*=" | "/=" | "|=" | "&=" | "^=" | "%=" | "??=" | "||=" | "&&=")
}

/// Whether a word continues a statement whose block was closed.
pub(super) fn continues_block(word: &str) -> bool {
    matches!(word, "else" | "catch" | "finally")
}

/// Whether a word continues an expression on the next line.
pub(super) fn continues_expression(word: &str) -> bool {
    matches!(
        word,
        "in" | "of" | "instanceof" | "as" | "satisfies" | "extends" | "implements" | "where" | "is" | "with"
    )
}

/// Whether a word needs a continuation.
pub(super) fn requires_continuation(word: &str) -> bool {
    continues_expression(word)
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
