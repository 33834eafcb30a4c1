//! Tests of the lexer with each language's tokens, and with text that has none.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{Token, TokenKind, lex};
use crate::Language;

/// Prints one line per line of tokens: `w`ord, `n`umber, `s`tring, `p`unctuation with their text between `‹›`, `⏎` for a newline.
fn render(language: Language, text: &str) -> String {
    let letter = |kind| match kind {
        TokenKind::Word => "w",
        TokenKind::Number => "n",
        TokenKind::String => "s",
        TokenKind::Punctuation => "p",
        TokenKind::Newline => unreachable!("newlines are written apart"),
    };
    let mut out = String::new();
    for Token { kind, range } in lex(language, text) {
        match kind {
            TokenKind::Newline => out.push_str("⏎\n"),
            kind => out.push_str(&format!("{}‹{}›", letter(kind), &text[range])),
        }
    }
    out
}

#[track_caller]
fn check(language: Language, text: &str, expected: Expect) {
    expected.assert_eq(&render(language, text));
}

#[test]
fn words_numbers_and_longest_operators() {
    check(
        Language::Python,
        "naïve_1 = $x ** 0x1F // 1_000.5e-3 if a != .5 else b[1:2]",
        expect![
            "w‹naïve_1›p‹=›w‹$x›p‹**›n‹0x1F›p‹//›n‹1_000.5e-3›w‹if›w‹a›p‹!=›n‹.5›w‹else›w‹b›p‹[›n‹1›p‹:›n‹2›p‹]›"
        ],
    );
    check(
        Language::Rust,
        "for i in 0..=t.0.1 {}",
        expect!["w‹for›w‹i›w‹in›n‹0›p‹..=›w‹t›p‹.›n‹0.1›p‹{›p‹}›"],
    );
    check(Language::Rust, "Vec<Vec<u8>>= 1", expect!["w‹Vec›p‹<›w‹Vec›p‹<›w‹u8›p‹>>=›n‹1›"]);
    check(Language::Java, "List<List<T>> x", expect!["w‹List›p‹<›w‹List›p‹<›w‹T›p‹>›p‹>›w‹x›"]);
    check(Language::Go, "ch <- x &^ y; z := 1", expect!["w‹ch›p‹<-›w‹x›p‹&^›w‹y›p‹;›w‹z›p‹:=›n‹1›"]);
    check(Language::C, "a<-1; 0x1e-5", expect!["w‹a›p‹<›p‹-›n‹1›p‹;›n‹0x1e›p‹-›n‹5›"]);
    check(Language::Cpp, "1'000'000 <=> 'x'", expect!["n‹1'000'000›p‹<=>›s‹'x'›"]);
}

#[test]
fn consecutive_line_ends_are_one_newline_without_comments() {
    let text = "a # one\r\n\r\n  # two\r\n  b\r\n";
    check(
        Language::Python,
        text,
        expect![[r#"
            w‹a›⏎
            w‹b›⏎
        "#]],
    );
    let newline = lex(Language::Python, text).remove(1);
    assert_eq!(&text[newline.range], "\r\n\r\n  # two\r\n");
    check(
        Language::C,
        "\n/* x\n y */ a // b",
        expect![[r#"
        ⏎
        w‹a›"#]],
    );
    check(Language::Rust, "/* a /* b */ c */ d", expect!["w‹d›"]);
    check(Language::Java, "/* a /* b */ c */", expect!["w‹c›p‹*›p‹/›"]);
}

#[test]
fn python_strings() {
    check(
        Language::Python,
        r#"rb'a\'b' f"{d["k"]!r:>{w}} {{" Rb"" u'x' '''a
'b\'''' """#,
        expect![[r#"
            s‹rb'a\'b'›s‹f"{d["k"]!r:>{w}} {{"›s‹Rb""›s‹u'x'›s‹'''a
            'b\''''›s‹""›"#]],
    );
    check(
        Language::Python,
        "x = 'cut\ny = f'{cut\nz",
        expect![[r#"
            w‹x›p‹=›s‹'cut›⏎
            w‹y›p‹=›s‹f'{cut›⏎
            w‹z›"#]],
    );
    check(
        Language::Python,
        "bar'x' \"\"\"open\n end",
        expect![[r#"
        w‹bar›s‹'x'›s‹"""open
         end›"#]],
    );
}

#[test]
fn ecmascript_templates_and_regular_expressions() {
    check(
        Language::TypeScript,
        "a(`x ${b ? `y ${'}'}` : \"`\"} z`, /[/\"]\\/x/gi, c / d / e)",
        expect![[
            r#"w‹a›p‹(›s‹`x ${b ? `y ${'}'}` : "`"} z`›p‹,›s‹/[/"]\/x/gi›p‹,›w‹c›p‹/›w‹d›p‹/›w‹e›p‹)›"#
        ]],
    );
    check(Language::Tsx, "<a href='x'/></b>", expect!["p‹<›w‹a›w‹href›p‹=›s‹'x'›p‹/›p‹>›p‹<›p‹/›w‹b›p‹>›"]);
    check(
        Language::JavaScript,
        "x = /open\ny?.z ?? w",
        expect![[r#"
        w‹x›p‹=›p‹/›w‹open›⏎
        w‹y›p‹?.›w‹z›p‹??›w‹w›"#]],
    );
}

#[test]
fn rust_strings_chars_and_lifetimes() {
    check(
        Language::Rust,
        r####"fn f<'a>(x: &'a str, c: char = 'a', q: '\'', u: '\u{1f}', b: b'é') { r#"a"b"# br##"x"# "## r"\" r#type c"s" }"####,
        expect![[
            r###"w‹fn›w‹f›p‹<›w‹'a›p‹>›p‹(›w‹x›p‹:›p‹&›w‹'a›w‹str›p‹,›w‹c›p‹:›w‹char›p‹=›s‹'a'›p‹,›w‹q›p‹:›s‹'\''›p‹,›w‹u›p‹:›s‹'\u{1f}'›p‹,›w‹b›p‹:›s‹b'é'›p‹)›p‹{›s‹r#"a"b"#›s‹br##"x"# "##›s‹r"\"›w‹r#type›s‹c"s"›p‹}›"###
        ]],
    );
    check(
        Language::Rust,
        "\"two\nlines\" 'outer: loop",
        expect![[r#"
        s‹"two
        lines"›w‹'outer›p‹:›w‹loop›"#]],
    );
    for line_end in ["\n", "\r\n"] {
        check(
            Language::Rust,
            &format!("'{line_end}' ' '"),
            expect![[r#"
            w‹'›⏎
            s‹' '›w‹'›"#]],
        );
    }
}

#[test]
fn strings_of_the_other_languages() {
    check(
        Language::CSharp,
        r##"@"a""\" $"{d["k"]}" $@"{x}"" y" """a "" b""" $$"""{{x}}""" '\'' @class"##,
        expect![[
            r##"s‹@"a""\"›s‹$"{d["k"]}"›s‹$@"{x}"" y"›s‹"""a "" b"""›s‹$$"""{{x}}"""›s‹'\''›p‹@›w‹class›"##
        ]],
    );
    check(
        Language::Cpp,
        r##"u8"a" L'b' R"x(a)" )x" "a\
b""##,
        expect![[r##"
            s‹u8"a"›s‹L'b'›s‹R"x(a)" )x"›s‹"a\
            b"›"##]],
    );
    check(
        Language::C,
        "\"a\nR\"b\" '\\0'",
        expect![[r#"
        s‹"a›⏎
        w‹R›s‹"b"›s‹'\0'›"#]],
    );
    check(
        Language::Go,
        "`a\n\\` 'x' \"\\\"\"",
        expect![[r#"
        s‹`a
        \`›s‹'x'›s‹"\""›"#]],
    );
    check(
        Language::Java,
        "\"\"\"\n a \"b\" \\\"\"\" \"\"\" 'c'",
        expect![[r#"
        s‹"""
         a "b" \""" """›s‹'c'›"#]],
    );
}

pub(super) fn language() -> impl Strategy<Value = Language> {
    prop::sample::select(Language::ALL.to_vec())
}

/// Fragments that open, close and confuse literals and comments.
pub(super) fn code() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z0-9_$é ]{0,4}",
        prop::sample::select(vec![
            "\"", "'", "`", "\"\"\"", "'''", "r#\"", "\"#", "${", "{", "}", "/*", "*/", "//", "#", "\\",
            "\n", "\r\n", "\r", "$@\"", "R\"(", ")\"", "/", "[", "]", "1.", ".5", "e-", "\u{feff}",
            "\u{2028}", "🦀", "f\"", "r",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn check_ranges(text: &str, tokens: &[Token]) {
    let mut last = 0;
    for token in tokens {
        assert!(last <= token.range.start && token.range.start < token.range.end, "{token:?} after {last}");
        assert!(text.get(token.range.clone()).is_some(), "{token:?} splits a character");
        last = token.range.end;
    }
    assert!(last <= text.len());
}

/// Whether a gap between tokens is blank, for texts without any comment opener.
fn is_blank(gap: &str) -> bool {
    gap.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

proptest! {
    #[test]
    fn token_ranges_are_ordered_and_on_char_boundaries(language in language(), text in prop_oneof![any::<String>(), code()]) {
        check_ranges(&text, &lex(language, &text));
    }

    #[test]
    fn only_whitespace_is_between_tokens_without_comments(language in language(), text in code()) {
        let text = text.replace(['/', '#'], "");
        let mut last = 0;
        for token in lex(language, &text) {
            prop_assert!(is_blank(&text[last..token.range.start]));
            last = token.range.end;
        }
        prop_assert!(is_blank(&text[last..]));
    }

    #[test]
    fn lf_and_crlf_give_the_same_tokens(language in language(), text in code()) {
        let unix = text.replace("\r\n", "\n").replace('\r', "\n");
        let dos = unix.replace('\n', "\r\n");
        let kinds = |text: &str| lex(language, text).into_iter().map(|token| token.kind).collect::<Vec<_>>();
        prop_assert_eq!(kinds(&unix), kinds(&dos));
    }
}
