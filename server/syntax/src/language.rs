//! The table of languages: one row per language, with everything that its queries cannot express.

use std::sync::Arc;

use stored::SharedText;

use tree_sitter::Language as Grammar;

use crate::language_rules::LanguageRules;
use crate::languages::{CRules, CSharpRules, EcmaScriptRules, GoRules, JavaRules, PythonRules, RustRules};

/// Properties of one language for the generic code.
pub(crate) struct LanguageSpec {
    /// Name of the language in files and on the command line.
    pub(crate) name: &'static str,
    /// File name extensions, without the dot.
    pub(crate) endings: &'static [&'static str],
    /// The language's parser.
    pub(crate) grammar: fn() -> Grammar,
    /// Sources of the query for functions, blocks and comments.
    pub(crate) structure: &'static [&'static str],
    /// Sources of the query for functions and comments.
    pub(crate) functions: &'static [&'static str],
    /// Sources of the query for comments.
    pub(crate) comments: &'static [&'static str],
    /// Sources of the query for identifiers and strings.
    pub(crate) tokens: &'static [&'static str],
    /// Signs of which every function with a body contains at least one.
    pub(crate) body_signs: &'static [&'static str],
    /// Kinds of nodes that only contain a list of statements, without their own braces.
    pub(crate) statement_lists: &'static [&'static str],
    /// Kinds of nodes that are siblings before a function or statement and belong to it.
    pub(crate) attributes: &'static [&'static str],
    /// Kinds of nodes around a function's name: the name is in their `declarator`, or in their first named child.
    pub(crate) name_wrappers: &'static [&'static str],
    /// Prefixes of a comment that documents the function below it.
    pub(crate) doc_comments: &'static [&'static str],
    /// Terminator of a statement; empty if it is the end of the line.
    pub(crate) statement_end: &'static str,
    /// The call that imports a module, with its bracket; empty if the language has none.
    pub(crate) import_call: &'static str,
    /// First words of statements after which control never continues.
    pub(crate) jumps: &'static [&'static str],
    /// Whether lines that begin with `#` select the parts of the text that are compiled.
    pub(crate) has_preprocessor: bool,
    /// Whether the body of a function says nothing about definitions: all types are written, and functions contain no others. Bodies
    /// must be as in C for [`mod@crate::declarations`].
    pub(crate) has_opaque_bodies: bool,
    /// The language's rules about names.
    pub(crate) rules: &'static dyn LanguageRules,
}

/// Declares [`Language`] and its table from one row per language. `queries` names the folders whose queries it uses.
macro_rules! languages {
    ($($(#[$doc:meta])* $variant:ident {
        name: $name:literal,
        endings: $endings:expr,
        grammar: $grammar:expr,
        queries: [$($folder:literal),+],
        body_signs: $body_signs:expr,
        statement_lists: $statement_lists:expr,
        attributes: $attributes:expr,
        name_wrappers: $name_wrappers:expr,
        doc_comments: $doc_comments:expr,
        statement_end: $statement_end:expr,
        import_call: $import_call:expr,
        jumps: $jumps:expr,
        has_preprocessor: $has_preprocessor:expr,
        has_opaque_bodies: $has_opaque_bodies:expr,
        rules: $rules:expr,
    })+) => {
        /// A supported language. `name()` is its name in files and on the command line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Language {
            $($(#[$doc])* $variant,)+
        }

        impl Language {
            /// Every supported language, in the order of the documentation.
            pub const ALL: [Language; COUNT] = [$(Language::$variant),+];
        }

        /// Number of languages.
        pub(crate) const COUNT: usize = [$($name),+].len();

        /// The rows, in the order of [`Language::ALL`].
        static TABLE: [LanguageSpec; COUNT] = [$(LanguageSpec {
            name: $name,
            endings: &$endings,
            grammar: || $grammar.into(),
            structure: &[$(
                include_str!(concat!("languages/", $folder, "/functions.scm")),
                include_str!(concat!("languages/", $folder, "/blocks.scm")),
                include_str!(concat!("languages/", $folder, "/comments.scm")),
            )+],
            functions: &[$(
                include_str!(concat!("languages/", $folder, "/functions.scm")),
                include_str!(concat!("languages/", $folder, "/comments.scm")),
            )+],
            comments: &[$(include_str!(concat!("languages/", $folder, "/comments.scm"))),+],
            tokens: &[$(include_str!(concat!("languages/", $folder, "/tokens.scm"))),+],
            body_signs: &$body_signs,
            statement_lists: &$statement_lists,
            attributes: &$attributes,
            name_wrappers: &$name_wrappers,
            doc_comments: &$doc_comments,
            statement_end: $statement_end,
            import_call: $import_call,
            jumps: &$jumps,
            has_preprocessor: $has_preprocessor,
            has_opaque_bodies: $has_opaque_bodies,
            rules: &$rules,
        }),+];
    };
}

languages! {
    /// Python 3.
    Python {
        name: "python",
        endings: ["py", "pyi"],
        grammar: tree_sitter_python::LANGUAGE,
        queries: ["python"],
        body_signs: ["def"],
        statement_lists: ["block"],
        attributes: [],
        name_wrappers: [],
        doc_comments: [],
        statement_end: "",
        import_call: "",
        jumps: ["return", "raise", "break", "continue"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: PythonRules,
    }
    /// TypeScript without JSX.
    TypeScript {
        name: "typescript",
        endings: ["ts", "mts", "cts"],
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        queries: ["ecmascript", "typescript"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: ["decorator"],
        name_wrappers: [],
        doc_comments: ["/**"],
        statement_end: ";",
        import_call: "require(",
        jumps: ["return", "throw", "break", "continue"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: EcmaScriptRules,
    }
    /// TypeScript with JSX.
    Tsx {
        name: "tsx",
        endings: ["tsx"],
        grammar: tree_sitter_typescript::LANGUAGE_TSX,
        queries: ["ecmascript", "typescript"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: ["decorator"],
        name_wrappers: [],
        doc_comments: ["/**"],
        statement_end: ";",
        import_call: "require(",
        jumps: ["return", "throw", "break", "continue"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: EcmaScriptRules,
    }
    /// JavaScript, JSX included.
    JavaScript {
        name: "javascript",
        endings: ["js", "jsx", "mjs", "cjs"],
        grammar: tree_sitter_javascript::LANGUAGE,
        queries: ["ecmascript", "javascript"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: [],
        name_wrappers: [],
        doc_comments: ["/**"],
        statement_end: ";",
        import_call: "require(",
        jumps: ["return", "throw", "break", "continue"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: EcmaScriptRules,
    }
    /// Java.
    Java {
        name: "java",
        endings: ["java"],
        grammar: tree_sitter_java::LANGUAGE,
        queries: ["java"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: [],
        name_wrappers: [],
        doc_comments: ["/**"],
        statement_end: ";",
        import_call: "",
        jumps: ["return", "throw", "break", "continue", "yield"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: JavaRules,
    }
    /// C#.
    CSharp {
        name: "csharp",
        endings: ["cs"],
        grammar: tree_sitter_c_sharp::LANGUAGE,
        queries: ["csharp"],
        body_signs: ["{", "=>"],
        statement_lists: [],
        attributes: [],
        name_wrappers: [],
        doc_comments: ["///", "/**"],
        statement_end: ";",
        import_call: "",
        jumps: ["return", "throw", "break", "continue", "goto", "yield break"],
        has_preprocessor: true,
        has_opaque_bodies: false,
        rules: CSharpRules,
    }
    /// Rust.
    Rust {
        name: "rust",
        endings: ["rs"],
        grammar: tree_sitter_rust::LANGUAGE,
        queries: ["rust"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: ["attribute_item"],
        name_wrappers: [],
        doc_comments: ["///", "/**"],
        statement_end: ";",
        import_call: "",
        jumps: ["return", "break", "continue"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: RustRules,
    }
    /// Go.
    Go {
        name: "go",
        endings: ["go"],
        grammar: tree_sitter_go::LANGUAGE,
        queries: ["go"],
        body_signs: ["{"],
        statement_lists: ["statement_list"],
        attributes: [],
        name_wrappers: [],
        doc_comments: ["//", "/*"],
        statement_end: "",
        import_call: "",
        jumps: ["return", "break", "continue", "goto", "fallthrough"],
        has_preprocessor: false,
        has_opaque_bodies: false,
        rules: GoRules,
    }
    /// C (and `.h` headers).
    C {
        name: "c",
        endings: ["c", "h"],
        grammar: tree_sitter_c::LANGUAGE,
        queries: ["c"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: [],
        name_wrappers: ["function_declarator", "pointer_declarator", "parenthesized_declarator", "attributed_declarator"],
        doc_comments: ["//", "/*"],
        statement_end: ";",
        import_call: "",
        jumps: ["return", "break", "continue", "goto"],
        has_preprocessor: true,
        has_opaque_bodies: true,
        rules: CRules,
    }
    /// C++.
    Cpp {
        name: "cpp",
        endings: ["cc", "cpp", "cxx", "hpp", "hh", "hxx"],
        grammar: tree_sitter_cpp::LANGUAGE,
        queries: ["c", "cpp"],
        body_signs: ["{"],
        statement_lists: [],
        attributes: [],
        name_wrappers: [
            "function_declarator",
            "pointer_declarator",
            "reference_declarator",
            "parenthesized_declarator",
            "attributed_declarator",
        ],
        doc_comments: ["//", "/*"],
        statement_end: ";",
        import_call: "",
        jumps: ["return", "throw", "break", "continue", "goto", "co_return"],
        has_preprocessor: true,
        has_opaque_bodies: false,
        rules: CRules,
    }
}

/// Extension of headers in both C and C++.
const SHARED_HEADER: &str = ".h";

impl Language {
    /// Returns the language of a file by its extension; `.h` is C unless more is known.
    pub fn from_path(path: &str) -> Option<Language> {
        let name = path.rsplit(['/', '\\']).next()?;
        let (_, ending) = name.rsplit_once('.')?;
        Language::ALL.into_iter().find(|language| language.spec().endings.contains(&ending))
    }

    /// Decides the language of a repository's headers, given its files with their languages by name: if it has more C++ than C,
    /// an `.h` is C++.
    pub fn resolve_headers<'a>(files: impl IntoIterator<Item = (&'a str, &'a mut Language)>) {
        let (headers, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(path, _)| path.ends_with(SHARED_HEADER));
        let count = |language| others.iter().filter(|(_, other)| **other == language).count();
        if count(Language::Cpp) > count(Language::C) {
            headers.into_iter().for_each(|(_, language)| *language = Language::Cpp);
        }
    }

    /// Returns the language with this name in files and on the command line (`python`, `typescript`, `tsx`, `javascript`, `java`,
    /// `csharp`, `rust`, `go`, `c`, `cpp`).
    pub fn from_name(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// Returns the language's name in files and on the command line.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the file name extensions of the language, without the dot.
    pub fn endings(self) -> &'static [&'static str] {
        self.spec().endings
    }

    /// Returns the terminator of a statement; `None` if it is the end of the line.
    pub fn statement_terminator(self) -> Option<&'static str> {
        Some(self.spec().statement_end).filter(|end| !end.is_empty())
    }

    /// Whether blocks are made by braces instead of indentation.
    pub fn has_brace_blocks(self) -> bool {
        self.spec().body_signs.contains(&"{")
    }

    /// Returns the prefix of a line comment.
    pub fn line_comment(self) -> &'static str {
        if self == Language::Python { "#" } else { "//" }
    }

    /// Whether a line is a comment or continues one, judged by the line alone.
    pub fn is_comment_line(self, line: &str) -> bool {
        let line = line.trim_start();
        let goes_on = || {
            line.strip_prefix('*').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '/', '*']))
        };
        line.starts_with(self.line_comment())
            || self != Language::Python && (line.starts_with("/*") || goes_on())
    }

    pub(crate) fn spec(self) -> &'static LanguageSpec {
        &TABLE[self as usize]
    }
}

/// One source file of a workspace: plain text with its path and language, cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: Arc<str>,
    /// Language by the file's name.
    pub language: Language,
    /// The whole text, with its original line ends.
    pub text: SharedText,
}

/// A project file (`tsconfig.json`, `package.json`, `go.mod`, `Cargo.toml`), read for its module names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl Manifest {
    /// Whether a file is a manifest, by its name.
    pub fn is_at(path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_variant = |stem: &str| name.starts_with(stem) && name.ends_with(".json");
        matches!(name, "package.json" | "go.mod" | "Cargo.toml")
            || is_variant("tsconfig.")
            || is_variant("jsconfig.")
    }
}
