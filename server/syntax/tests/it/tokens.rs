//! Identifiers, comments and strings of every language.

use expect_test::{Expect, expect};
use syntax::Language;

#[track_caller]
fn check_tokens(language: Language, text: &str, expect: Expect) {
    let tree = syntax::parse(language, text);
    assert!(!tree.has_error(), "the text must be whole");
    let mut out = String::new();
    let found =
        [("identifiers", tree.identifiers()), ("comments", tree.comments(text)), ("strings", tree.strings())];
    for (name, ranges) in found {
        let texts: Vec<_> = ranges.into_iter().map(|range| &text[range]).collect();
        out.push_str(&format!("{name}: {texts:?}\n"));
    }
    expect.assert_eq(&out);
}

#[test]
fn python() {
    check_tokens(
        Language::Python,
        "# c\nfrom a.b import c as d\nx = f\"{y + 'z'} w\" 'v' b'u'  # 😀\n@e\ndef f(g=1, *h): g.i = None\n",
        expect![[r##"
            identifiers: ["a", "b", "c", "d", "x", "y", "e", "f", "g", "h", "g", "i"]
            comments: ["# c", "# 😀"]
            strings: ["f\"{y + 'z'} w\"", "'v'", "b'u'"]
        "##]],
    );
}

#[test]
fn typescript() {
    check_tokens(
        Language::TypeScript,
        "/** c */\nlet a: B<C> = { d, e: `f ${g(\"h\")} i` }; // j\nclass K { #l = 'm'; n?(): O { return this.n; } }\n",
        expect![[r##"
            identifiers: ["a", "B", "C", "d", "e", "g", "K", "#l", "n", "O", "n"]
            comments: ["/** c */", "// j"]
            strings: ["`f ${g(\"h\")} i`", "'m'"]
        "##]],
    );
}

#[test]
fn tsx() {
    check_tokens(
        Language::Tsx,
        "const A = <B c=\"d\">{e /* f */}</B>;\n",
        expect![[r#"
        identifiers: ["A", "B", "c", "e", "B"]
        comments: ["/* f */"]
        strings: ["\"d\""]
    "#]],
    );
}

#[test]
fn javascript() {
    check_tokens(
        Language::JavaScript,
        "// c\r\nconst { a, b: c = 'd' } = /e/;\r\nf: for (;;) { break f; }\n",
        expect![[r#"
            identifiers: ["a", "b", "c", "f", "f"]
            comments: ["// c"]
            strings: ["'d'"]
        "#]],
    );
}

#[test]
fn java() {
    check_tokens(
        Language::Java,
        "/* c */ @A class B<C> { // d\n  char e = 'f'; String g = \"h\"; D i() { return j.k(\"\"\"\n  l\"\"\"); } }\n",
        expect![[r#"
            identifiers: ["A", "B", "C", "e", "String", "g", "D", "i", "j", "k"]
            comments: ["/* c */", "// d"]
            strings: ["'f'", "\"h\"", "\"\"\"\n  l\"\"\""]
        "#]],
    );
}

#[test]
fn csharp() {
    check_tokens(
        Language::CSharp,
        "/// c\n// d\nclass A { string b = $\"{c + \"d\"} e\" + @\"f\" + \"\"\"g\"\"\"; char h = 'i'; J<K> l; }\n",
        expect![[r#"
            identifiers: ["A", "b", "c", "h", "J", "K", "l"]
            comments: ["/// c", "// d"]
            strings: ["$\"{c + \"d\"} e\"", "@\"f\"", "\"\"\"g\"\"\"", "'i'"]
        "#]],
    );
}

#[test]
fn rust() {
    check_tokens(
        Language::Rust,
        "//! m\r\n/// c\r\nfn a<'b>(c: &'b D) { /* e */ f!(\"g\", r#\"h\"#, 'i', b\"j\"); K { l, m: n.o } }\r\n",
        expect![[r##"
            identifiers: ["a", "b", "c", "b", "D", "f", "K", "l", "m", "n", "o"]
            comments: ["//! m", "/// c", "/* e */"]
            strings: ["\"g\"", "r#\"h\"#", "'i'", "b\"j\""]
        "##]],
    );
}

#[test]
fn go() {
    check_tokens(
        Language::Go,
        "// c\npackage a\nfunc (b *C) d(e f.G) { h := \"i\" + `j`; _ = 'k' /* l */ }\n",
        expect![[r#"
            identifiers: ["a", "b", "C", "d", "e", "f", "G", "h", "_"]
            comments: ["// c", "/* l */"]
            strings: ["\"i\"", "`j`", "'k'"]
        "#]],
    );
}

#[test]
fn c() {
    check_tokens(
        Language::C,
        "#include <a.h>\n// b \\\n   c\nstruct D *e(f g) { h->i = \"j\" \"k\"; goto l; l: return 'm'; } /* n */\n",
        expect![[r#"
            identifiers: ["D", "e", "f", "g", "h", "i", "l", "l"]
            comments: ["// b \\\n   c", "/* n */"]
            strings: ["\"j\"", "\"k\"", "'m'"]
        "#]],
    );
}

#[test]
fn cpp() {
    check_tokens(
        Language::Cpp,
        "// a\nnamespace b { template <class C> D e(const std::string& f) { return R\"(g)\" + u8\"h\"_s; } }\n",
        expect![[r#"
            identifiers: ["b", "C", "D", "e", "std", "string", "f"]
            comments: ["// a"]
            strings: ["R\"(g)\"", "u8\"h\""]
        "#]],
    );
}
