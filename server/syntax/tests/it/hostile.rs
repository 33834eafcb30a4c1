//! Texts that exhaust stacks, memory and time: nested or chained constructs, repeated very often.

use syntax::Language;

/// Constructs that nest or chain in several languages, as openers and closers.
const COMMON: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("f(", ")"),
    ("a[", "]"),
    ("a<", ">"),
    ("a+", ""),
    ("a.", ""),
    ("a().", ""),
    ("a=", ""),
    ("a ? b : ", ""),
    ("a,", ""),
    ("!", ""),
    ("-", ""),
    ("*", ""),
    ("&", ""),
    ("@a ", ""),
    ("a ", ""),
    ("if (a) ", ";"),
    ("if (a) {} else ", "{}"),
    ("while (a) {", "}"),
    ("try {", "} finally {}"),
    ("class A {", "}"),
    ("/*", "*/"),
    ("/* ", " */"),
    ("// a\n", ""),
    ("\"", ""),
    ("\"\" ", ""),
    ("'", ""),
    ("\\", ""),
    ("\u{feff}é😀", ""),
];

/// Constructs that nest or chain in single languages.
fn single_language_texts(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Python => &[
            ("f\"{", "}\""),
            ("f'''{", "}'''"),
            ("lambda: ", "0"),
            ("not ", "0"),
            ("await ", "0"),
            ("a if b else ", "c"),
            ("'''", ""),
            ("elif a: pass\n", ""),
            ("@a\n", "def f(): pass"),
            ("a for a in ", ""),
            ("case A(", ")"),
        ],
        Language::JavaScript | Language::TypeScript | Language::Tsx => &[
            ("`${", "}`"),
            ("<a>", "</a>"),
            ("<a b={", "}/>"),
            ("x => ", "0"),
            ("x => {", "}"),
            ("function f() {", "}"),
            ("async function* f() {", "}"),
            ("new ", "A"),
            ("type A<T> = B<", ">"),
            ("let a: A<", ">"),
            ("a extends b ? c : ", "d"),
            ("[{a:", "}]"),
            ("namespace N {", "}"),
            ("a?.", "b"),
            ("/a/", ""),
        ],
        Language::Java => &[
            ("A<B<", ">>"),
            ("(A) ", "b"),
            ("new A() { void f() { ", "}}"),
            ("x -> ", "0"),
            ("class A<T extends ", ">"),
            ("switch (a) { case 1: ", "}"),
            ("@A(@B(", "))"),
            ("\"\"\"\n", "\n\"\"\""),
        ],
        Language::CSharp => &[
            ("A<B<", ">>"),
            ("(A) ", "b"),
            ("$\"{", "}\""),
            ("$@\"{", "}\""),
            ("x => ", "0"),
            ("namespace N {", "}"),
            ("#if A\n", "#endif\n"),
            ("#region\n", "#endregion\n"),
            ("from a in b select ", "c"),
            ("a switch { _ => ", "}"),
            ("[A] ", "class B {}"),
        ],
        Language::Rust => &[
            ("r#\"", "\"#"),
            ("|x| ", "0"),
            ("match a { _ => ", "}"),
            ("fn f() {", "}"),
            ("mod a {", "}"),
            ("impl A for ", "B {}"),
            ("macro_rules! a { () => {", "}}"),
            ("a!(", ")"),
            ("Box<", ">"),
            ("&mut ", "a"),
            ("#[a] ", "fn f() {}"),
            ("a::", "b"),
            ("if a {} else ", "{}"),
            ("dyn Fn(", ")"),
        ],
        Language::Go => &[
            ("func() {", "}"),
            ("map[", "]int"),
            ("[]", "int"),
            ("struct { a ", "}"),
            ("<-", "a"),
            ("chan ", "int"),
            ("func(func(", "))"),
            ("switch { case a: ", "}"),
            ("if a {} else ", "{}"),
            ("`", "`"),
        ],
        Language::C | Language::Cpp => &[
            ("#if A\n", "#endif\n"),
            ("#ifdef A\n#else\n", "#endif\n"),
            ("#define A(", ")\n"),
            ("\\\n", ""),
            ("struct {", "};"),
            ("typedef ", "int a;"),
            ("(*", ")()"),
            ("template <class ", ">"),
            ("template <", ">"),
            ("A<B<", ">>"),
            ("namespace N {", "}"),
            ("[] { ", "}"),
            ("a::", "b"),
            ("R\"(", ")\""),
            ("decltype(", ")"),
            ("operator ", "+"),
            ("case 1: ", ";"),
            ("__attribute__((a)) ", "int b;"),
        ],
    }
}

/// Returns every form of a language repeated `repeats` times, left open and closed, by name.
pub(crate) fn texts(language: Language, repeats: usize) -> impl Iterator<Item = (String, String)> {
    let forms = COMMON.iter().chain(single_language_texts(language));
    forms.flat_map(move |&(open, close)| {
        let opened = open.repeat(repeats);
        let closed = (!close.is_empty()).then(|| {
            let closed = format!("{opened}a{}\n", close.repeat(repeats));
            (format!("{} {open:?} closed", language.name()), closed)
        });
        [(format!("{} {open:?}", language.name()), opened)].into_iter().chain(closed)
    })
}

/// Returns the parts of the forms.
pub(crate) fn pieces(language: Language) -> impl Iterator<Item = &'static str> {
    COMMON
        .iter()
        .chain(single_language_texts(language))
        .flat_map(|&(open, close)| [open, close])
        .filter(|piece| !piece.is_empty())
}
