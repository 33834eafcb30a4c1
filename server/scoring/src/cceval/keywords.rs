//! Keywords of each language.
//!
//! The lists of Python, Java, C# and TypeScript are the original's with its omissions: outside of Python, `True`, `true` and
//! `async` are identifiers. The other lists are the languages' own keywords, without literals as in the original.

use syntax::Language;

/// Whether `word` is a keyword, and therefore no identifier.
pub(crate) fn is_keyword(language: Language, word: &str) -> bool {
    keywords(language).binary_search(&word).is_ok()
}

fn keywords(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => PYTHON,
        Language::TypeScript | Language::Tsx | Language::JavaScript => TYPESCRIPT,
        Language::Java => JAVA,
        Language::CSharp => CSHARP,
        Language::Rust => RUST,
        Language::Go => GO,
        Language::C => C,
        Language::Cpp => CPP,
    }
}

#[rustfmt::skip]
const PYTHON: &[&str] = &[
    "None", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

#[rustfmt::skip]
const JAVA: &[&str] = &[
    "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue",
    "default", "do", "double", "else", "enum", "extends", "final", "finally", "float", "for", "goto", "if",
    "implements", "import", "instanceof", "int", "interface", "long", "native", "new", "package", "private",
    "protected", "public", "return", "short", "static", "strictfp", "super", "switch", "synchronized",
    "this", "throw", "throws", "transient", "try", "var", "void", "volatile", "while",
];

#[rustfmt::skip]
const CSHARP: &[&str] = &[
    "abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const",
    "continue", "decimal", "default", "delegate", "do", "double", "else", "enum", "event", "explicit",
    "extern", "finally", "fixed", "float", "for", "foreach", "goto", "if", "implicit", "in", "int",
    "interface", "internal", "is", "lock", "long", "namespace", "new", "null", "object", "operator", "out",
    "override", "params", "private", "protected", "public", "readonly", "ref", "return", "sbyte", "sealed",
    "short", "sizeof", "stackalloc", "static", "string", "struct", "switch", "this", "throw", "try",
    "typeof", "uint", "ulong", "unchecked", "unsafe", "ushort", "using", "virtual", "void", "volatile",
    "while",
];

#[rustfmt::skip]
const TYPESCRIPT: &[&str] = &[
    "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
    "enum", "export", "extends", "finally", "for", "function", "if", "implements", "import", "in",
    "instanceof", "interface", "let", "new", "package", "private", "protected", "public", "return",
    "static", "super", "switch", "this", "throw", "try", "typeof", "var", "void", "while", "with", "yield",
];

#[rustfmt::skip]
const RUST: &[&str] = &[
    "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
    "self", "static", "struct", "super", "trait", "type", "unsafe", "use", "where", "while",
];

#[rustfmt::skip]
const GO: &[&str] = &[
    "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func",
    "go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct",
    "switch", "type", "var",
];

#[rustfmt::skip]
const C: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while",
];

#[rustfmt::skip]
const CPP: &[&str] = &[
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
    "char8_t", "class", "co_await", "co_return", "co_yield", "concept", "const", "const_cast", "consteval",
    "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "else", "enum", "explicit", "export", "extern", "float", "for", "friend", "goto", "if", "inline", "int",
    "long", "mutable", "namespace", "new", "noexcept", "nullptr", "operator", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "try",
    "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyword_lists_are_sorted() {
        for language in Language::ALL {
            assert!(keywords(language).is_sorted(), "{language:?}");
        }
    }
}
