//! The engine's public interface: a workspace, a cursor, a completion.

use std::sync::Arc;

use builtin::{
    BuiltinSettings, Completion, Corpus, MaskedCorpus, Method, OpenFile, RecentTyping, StopReason,
    TypedPassage,
};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::{Language, SourceFile};
use text::Snippet;

const UNGATED: BuiltinSettings =
    BuiltinSettings { method: Method::Hybrid, min_probability: None, min_continuation: None };
const ALL_METHODS: [Method; 5] =
    [Method::Empty, Method::NearestLine, Method::LongestMatch, Method::Mixed, Method::Hybrid];

fn file(path: &str, language: Language, text: &str) -> SourceFile {
    SourceFile { path: path.into(), language, text: text.into() }
}

fn open<'a>(language: Language, before: &'a str, after: &'a str) -> OpenFile<'a> {
    OpenFile::new("src/open", language, before, after)
}

fn complete(corpus: &Corpus, open: &OpenFile, settings: &BuiltinSettings) -> Completion {
    corpus.view(open).complete(settings, &mut || true)
}

fn complete_at(language: Language, other: &str, fixture: &str, settings: &BuiltinSettings) -> Completion {
    let corpus = Corpus::build(&[file("src/other", language, other)]);
    let (before, after) = test_fixture::split_at_cursor(fixture);
    complete(&corpus, &open(language, before, after), settings)
}

/// Completes at `$0` in the second text with the first one as the only other file of the workspace.
#[track_caller]
fn check(language: Language, other: &str, fixture: &str, expected: Expect) {
    let Completion { stop, text, .. } = complete_at(language, other, fixture, &UNGATED);
    expected.assert_eq(&format!("{stop:?}: {text:?}"));
}

const SHAPES: &str = "\
class Circle:
    def area(self):
        if self.radius is None:
            raise ValueError('no radius')
        return self.radius ** 2 * math.pi

    def name(self):
        return 'circle'
";

const LOOPS: &str = "\
int sum(int *items, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += items[i];
    }
    return total;
}
";

#[test]
fn the_rest_of_a_statement_is_copied() {
    check(
        Language::Python,
        SHAPES,
        "class Square:\n    def area(self):\n        if self.radius is None:\n            raise $0\n",
        expect![[r#"StatementEnd: "ValueError('no radius')""#]],
    );
    check(
        Language::C,
        LOOPS,
        "int main() {\n    for (int i = 0;$0\n",
        expect![[r#"StatementEnd: " i < count; i++) {\n        total += items[i];\n    }""#]],
    );
}

#[test]
fn renamed_identifiers_are_replaced_consistently() {
    check(
        Language::Python,
        SHAPES,
        "class Square:\n    def area(self):\n        if self.side is None:\n            raise ValueError('no side')\n        return $0\n",
        expect![[r#"StatementEnd: "self.side ** 2 * math.pi""#]],
    );
}

#[test]
fn partial_word_is_completed_and_whole_word_is_continued() {
    let before = "class Square:\n    def area(self):\n        if self.radius is None:\n            ";
    let check = |typed: &str, expected: Expect| {
        check(Language::Python, SHAPES, &format!("{before}{typed}$0\n"), expected);
    };
    check("ra", expect![[r#"StatementEnd: "ise ValueError('no radius')""#]]);
    check("raise", expect![[r#"StatementEnd: " ValueError('no radius')""#]]);
    check("raise Val", expect![[r#"StatementEnd: "ueError('no radius')""#]]);
    check("raise ValueError('no", expect![[r#"StatementEnd: " radius')""#]]);
}

#[test]
fn complete_word_is_not_treated_as_a_prefix() {
    let other = "for i in items:\n    f(i)\nfor i in items:\n    g(i)\n";
    check(Language::Python, other, "i = 1\nfor i$0\n", expect![[r#"StatementEnd: " in items:""#]]);
}

#[test]
fn string_completion_stops_at_the_suffix() {
    let before =
        "class Square:\n    def area(self):\n        if self.radius is None:\n            raise ValueError(";
    let check = |string: &str, expected: Expect| {
        check(Language::Python, SHAPES, &format!("{before}{string}\n"), expected);
    };
    check("'no$0')", expect![[r#"SuffixReached: " radius""#]]);
    check("'$0'", expect![[r#"SuffixReached: "no radius""#]]);
    check("'no $0us')", expect![[r#"SuffixReached: "radi""#]]);
    check("'no$0)", expect![[r#"SuffixReached: " radius'""#]]);
}

#[test]
fn comments_are_not_completed() {
    check(Language::Python, SHAPES, "def area(self):\n    # the $0\n", expect![[r#"NothingNeeded: """#]]);
    check(Language::C, LOOPS, "/* for (int i = $0", expect![[r#"NothingNeeded: """#]]);
}

#[test]
fn suffix_decides_how_much_is_completed() {
    let before = "int mean(int *items, int count) {\n    int total = 0;\n    $0";
    let check =
        |after: &str, expected: Expect| check(Language::C, LOOPS, &format!("{before}{after}"), expected);
    check(
        "\n}\n",
        expect![[
            r#"BlockEnd: "for (int i = 0; i < count; i++) {\n        total += items[i];\n    }\n    return total;""#
        ]],
    );
    check(
        "\n    return total / count;\n}\n",
        expect![[r#"StatementEnd: "for (int i = 0; i < count; i++) {\n        total += items[i];\n    }""#]],
    );
    check(
        "\n    return total;\n}\n",
        expect![[r#"StatementEnd: "for (int i = 0; i < count; i++) {\n        total += items[i];\n    }""#]],
    );
}

#[test]
fn body_is_completed_after_its_header() {
    check(
        Language::Python,
        SHAPES,
        "class Square:\n    def area(self):$0\n\nx = 1\n",
        expect![[
            r#"BlockEnd: "\n        if self.radius is None:\n            raise ValueError('no radius')\n        return self.radius ** 2 * math.pi""#
        ]],
    );
    check(
        Language::C,
        LOOPS,
        "int sum(int *items, int count) {$0}\n",
        expect![[
            r#"BlockEnd: "\n    int total = 0;\n    for (int i = 0; i < count; i++) {\n        total += items[i];\n    }\n    return total;\n""#
        ]],
    );
}

#[test]
fn existing_brackets_and_semicolons_are_not_repeated() {
    check(
        Language::C,
        LOOPS,
        "int main() {\n    total += items[$0];\n}\n",
        expect![[r#"SuffixReached: "i""#]],
    );
    check(
        Language::C,
        LOOPS,
        "int main() {\n    total += $0;\n}\n",
        expect![[r#"SuffixReached: "items[i]""#]],
    );
}

#[test]
fn completion_uses_the_code_style_of_the_open_file() {
    check(
        Language::C,
        LOOPS,
        "int mean(int *items, int count) {\r\n\tint total = 0;\r\n\t$0\r\n}\r\n",
        expect![[
            r#"BlockEnd: "for (int i = 0; i < count; i++) {\r\n\t\ttotal += items[i];\r\n\t}\r\n\treturn total;""#
        ]],
    );
    check(
        Language::Python,
        SHAPES,
        "class Square:\n  def area(self):\n    if self.radius is None:\n      raise ValueError('no radius')\n    $0\n",
        expect![[r#"BlockEnd: "return self.radius ** 2 * math.pi""#]],
    );
}

const TITLES: &str = r#"def titles(page):
    page.heading('Contents', level='one')
    page.footer('The end of "it"', 'made by hand')
"#;

#[test]
fn literals_are_quoted_as_in_the_open_file() {
    let check = |fixture: &str, expected: Expect| check(Language::Python, TITLES, fixture, expected);
    check("page.heading($0\n", expect![[r#"StatementEnd: "'Contents', level='one')""#]]);
    check("x = \"y\"\npage.heading($0\n", expect![[r#"StatementEnd: "\"Contents\", \"made by hand\")""#]]);
    check(
        "x = \"y\", 'z', 'w'\npage.heading($0\n",
        expect![[r#"StatementEnd: "'Contents', 'made by hand')""#]],
    );
    check(
        "x = \"y\"\npage.footer($0\n",
        expect![[r#"StatementEnd: "'The end of \"it\"', \"made by hand\")""#]],
    );
    let thrice = TITLES.replace('\'', "\"\"\"");
    let kept = complete_at(Language::Python, &thrice, "x = 'y'\npage.heading($0\n", &UNGATED);
    assert_eq!(kept.text, r#""""Contents""", level="""one""")"#);
}

#[test]
fn matching_ignores_the_quote_style() {
    let other = "kind = kinds.get(\"square\", 1)\nkind = kinds.get(\"circle\", 2)\n";
    let check = |fixture: &str, expected: Expect| check(Language::Python, other, fixture, expected);
    check("kind = kinds.get('square', $0\n", expect![[r#"StatementEnd: "1)""#]]);
    check("kind = kinds.get('circle', $0\n", expect![[r#"StatementEnd: "2)""#]]);
}

#[test]
fn literal_continues_with_the_typed_quote() {
    let check = |fixture: &str, expected: Expect| check(Language::Python, TITLES, fixture, expected);
    check("page.heading('Con$0\n", expect![[r#"StatementEnd: "tents', level='one')""#]]);
    check("page.heading(\"Con$0\n", expect![[r#"StatementEnd: "tents\", level=\"one\")""#]]);
    check("x = 'y'\npage.heading(\"Con$0\n", expect![[r#"StatementEnd: "tents\", 'made by hand')""#]]);
    check("page.heading(\"Con$0s\")\n", expect![[r#"SuffixReached: "tent""#]]);
    check("page.footer(\"The$0\n", expect![[r#"NothingFound: """#]]);
}

#[test]
fn attributes_and_code_have_separate_quote_styles() {
    let other = "const a = link('x', <a href=\"top\" rel='up'>b</a>);\n";
    let check = |fixture: &str, expected: Expect| check(Language::Tsx, other, fixture, expected);
    check(
        "import y from \"y\";\nconst a = link($0\n",
        expect![[r#"StatementEnd: "\"x\", <a href=\"top\" rel='up'>b</a>);""#]],
    );
    check(
        "const c = <c d='e'/>;\nconst a = link($0\n",
        expect![[r#"StatementEnd: "'x', <a href='top' rel='up'>b</a>);""#]],
    );
}

#[test]
fn character_literals_are_not_requoted() {
    let other = "int x = find('a', \"b\");\n";
    check(
        Language::C,
        other,
        "char *s = \"s\";\nint x = find($0\n",
        expect![[r#"StatementEnd: "'a', \"b\");""#]],
    );
}

#[test]
fn complete_body_is_not_continued() {
    let fixture = format!(
        "{SHAPES}\n    def again(self):\n        return 'circle'\n        $0\n\n    def last(self):\n        pass\n"
    );
    let completion = complete_at(Language::Python, SHAPES, &fixture, &BuiltinSettings::for_replay());
    assert_eq!((completion.stop, completion.text.as_str()), (StopReason::NothingNeeded, ""));
    assert!(completion.continuation < 0.5, "{}", completion.continuation);
}

#[test]
fn unlikely_tokens_are_cut_off() {
    let (other, fixture) = ("a = f(1)\na = g(2)\na = h(3)\na = k(4)\n", "a = $0\n");
    let ungated = complete_at(Language::Python, other, fixture, &UNGATED);
    assert!(ungated.trust < 0.5 && !ungated.text.is_empty(), "{ungated:?}");
    let gated = complete_at(Language::Python, other, fixture, &BuiltinSettings::for_editor());
    assert_eq!((gated.stop, gated.text.as_str()), (StopReason::Unlikely, ""));
    assert_eq!(gated.trust, ungated.trust, "the probability is reported");
}

/// Returns the completion of a call whose last argument is not certain, after this number of suggestions that other text was typed over.
fn complete_uncertain_call(min_probability: Option<f64>, typed_over: usize) -> Completion {
    let call = |number: u8| format!("def f{number}(loaded):\n    compute(loaded, {number})\n\n");
    let corpus =
        Corpus::build(&[file("src/other", Language::Python, &(1..=9).map(call).collect::<String>())]);
    let typing = RecentTyping { typed_over, ..RecentTyping::default() };
    let open = open(Language::Python, "def h(loaded):\n    comp", "\n\nx = 1\n");
    let settings = BuiltinSettings { min_probability, ..UNGATED };
    complete(&corpus, &OpenFile { recent_typing: Some(&typing), ..open }, &settings)
}

#[test]
fn unlikely_completion_is_cut_to_its_certain_beginning() {
    let whole = complete_uncertain_call(None, 0);
    let beginning = complete_uncertain_call(Some(0.5), 0);
    assert!(whole.trust < 0.5, "{whole:?}");
    expect!["ute(loaded, 6) | ute("].assert_eq(&format!("{} | {}", whole.text, beginning.text));
    assert_eq!(beginning.stop, StopReason::Unlikely);
    assert!(beginning.trust >= 0.85, "{beginning:?}");
}

#[test]
fn less_is_shown_on_a_line_where_suggestions_were_typed_over() {
    let shown = [0, 2, 9].map(|typed_over| complete_uncertain_call(Some(0.5), typed_over).text);
    // There is only one word that begins so.
    assert_eq!(shown, ["ute(", "ute", "ute"]);
}

#[test]
fn half_typed_name_is_completed_or_left_alone() {
    let other = "class TaskError(CeleryError):\n    pass\n\nclass Retry(CeleryError):\n    pass\n";
    let check = |fixture: &str, expected: Expect| check(Language::Python, other, fixture, expected);
    check("class TaskErr$0\n", expect![[r#"StatementEnd: "or(CeleryError):""#]]);
    check("class RevokedErr$0\n", expect![[r#"NothingFound: """#]]);
    check("class Retry$0\n", expect![[r#"StatementEnd: "(CeleryError):""#]]);
}

#[test]
fn repeating_completion_is_cut() {
    let other = "x = [\n    (1, 2), (1, 2), (1, 2), (1, 2), (1, 2), (1, 2), (1, 2), (1, 2),\n]\n";
    let completion = complete_at(Language::Python, other, "y = [$0\n", &UNGATED);
    assert_eq!(completion.stop, StopReason::Repetition);
    assert!(completion.tokens.len() < 20, "{completion:?}");
}

#[test]
fn open_and_hidden_files_are_never_copied_from() {
    const CANARY: &str = "canary_in_a_coal_mine";
    let truth = format!("launch({CANARY}, 42)");
    let before = "def start():\n    prepare()\n    ";
    let whole = format!("{before}{truth}\n");
    let files = [
        file("src/open", Language::Python, &whole),
        file("src/copy", Language::Python, &format!("# a copy\n{whole}")),
        file("src/other", Language::Python, SHAPES),
    ];
    let corpus = Corpus::build(&files);
    let visible = complete(&corpus, &open(Language::Python, before, "\n"), &UNGATED);
    assert!(visible.text.contains(CANARY), "the copy is not hidden yet: {visible:?}");
    for method in ALL_METHODS {
        let hidden = OpenFile { hidden: &["src/copy"], ..open(Language::Python, before, "\n") };
        for typed in ["", "launch(", "launch(can"] {
            let before = format!("{before}{typed}");
            let completion = complete(
                &corpus,
                &OpenFile { before: &before, ..hidden },
                &BuiltinSettings { method, ..UNGATED },
            );
            assert!(!format!("{typed}{}", completion.text).contains(CANARY), "{method:?}: {completion:?}");
        }
    }
}

#[test]
fn matches_do_not_extend_into_a_masked_file() {
    let filler: String = (0..30).map(|number| format!("f{number} ")).collect();
    let texts = ["alpha beta gamma delta\n", "x = 1\n", &filler, "y\nx = 2\n"];
    let paths = ["src/open", "near", "filler", "far"];
    let files = [0, 1, 2, 3].map(|number| file(paths[number], Language::Python, texts[number]));
    let open = open(Language::Python, "alpha beta gamma delta\nx = ", "\n");
    let settings = BuiltinSettings { method: Method::NearestLine, ..UNGATED };
    assert_eq!(complete(&Corpus::build(&files), &open, &settings).text, "2");
}

#[test]
fn files_with_the_same_text_are_hidden_together() {
    let text = "def start():\n    launch(canary)\n";
    let files = [file("a.py", Language::Python, text), file("b.py", Language::Python, text)];
    let corpus = Corpus::build(&files);
    assert_eq!(corpus.stats().files, 1);
    let open = OpenFile { path: "b.py", ..open(Language::Python, "def start():\n    ", "\n") };
    assert!(!complete(&corpus, &open, &UNGATED).text.contains("canary"));
}

#[test]
fn matches_do_not_span_the_cursor() {
    let corpus = Corpus::build(&[]);
    let (before, after) = ("alpha beta ", "canary\nalpha beta gamma\n");
    let completion = complete(&corpus, &open(Language::Python, before, after), &UNGATED);
    assert_eq!(completion.text, "gamma", "from the second line, not from the text after the cursor");
}

#[test]
fn hints_take_precedence_over_other_files() {
    let corpus = Corpus::build(&[file("src/other", Language::Python, "reply = far(1)\n")]);
    let hints = [Snippet::new("src/hint.py", "reply = near(2)\n")];
    let open = OpenFile { hints: &hints, ..open(Language::Python, "reply = ", "\n") };
    assert_eq!(complete(&corpus, &open, &UNGATED).text, "near(2)");
}

/// One call per language, each with another argument.
const POLYGLOT: &[(&str, &str)] = &[
    ("a.py", "result = call(python)\n"),
    ("a.ts", "result = call(script);\n"),
    ("A.java", "result = call(java);\n"),
    ("A.cs", "result = call(sharp);\n"),
    ("a.rs", "result = call(rust);\n"),
    ("a.go", "result = call(golang)\n"),
    ("a.h", "result = call(header);\n"),
];

#[test]
fn only_languages_of_the_same_family_are_copied_from() {
    let language = |path: &str| Language::from_path(path).expect("its language is known");
    let files: Vec<SourceFile> =
        POLYGLOT.iter().map(|(path, text)| file(path, language(path), text)).collect();
    let corpus = Corpus::build(&files);
    let completed = |path: &str| {
        let open = OpenFile { path, ..open(language(path), "result = call(", "\n") };
        complete(&corpus, &open, &UNGATED).text.trim_end_matches(';').trim_end_matches(')').to_owned()
    };
    for (paths, expected) in [
        (&["b.py", "b.pyi"][..], "python"),
        (&["b.ts", "b.mts", "b.tsx", "b.js", "b.jsx", "b.cjs"], "script"),
        (&["B.java"], "java"),
        (&["B.cs"], "sharp"),
        (&["b.rs"], "rust"),
        (&["b.go"], "golang"),
        (&["b.c", "b.cpp", "b.cc", "b.hpp", "b.h"], "header"),
    ] {
        for path in paths {
            assert_eq!(completed(path), expected, "{path}");
        }
    }
}

#[test]
fn hint_in_another_language_is_ignored() {
    let corpus = Corpus::build(&[file("src/other.py", Language::Python, "result = call(far)\n")]);
    let completed = |path: &str| {
        let hints = [Snippet::new(path, "result = call(near)\n")];
        let open = OpenFile { hints: &hints, ..open(Language::Python, "result = call(", "\n") };
        complete(&corpus, &open, &UNGATED).text
    };
    assert_eq!([completed("hint.ts"), completed("hint.pyi"), completed("hint")], ["far)", "near)", "near)"]);
}

/// Completes at `$0` with the text between `‹` and `›` as recent typing, in the open file and in passages of other files.
#[track_caller]
fn check_recent(other: &str, passages: &[(&str, &str)], fixture: &str, expected: Expect) {
    let corpus = Corpus::build(&[file("src/other.py", Language::Python, other)]);
    let passage = |&(path, text): &(&str, &str)| {
        let (text, mut typed) = without_marks(text);
        TypedPassage { path: path.into(), text, typed: typed.remove(0) }
    };
    let (before, after) = test_fixture::split_at_cursor(fixture);
    let (text, here) = without_marks(&format!("{before}{after}"));
    let cut = without_marks(before).0.len();
    let typing = RecentTyping { here, elsewhere: passages.iter().map(passage).collect(), typed_over: 0 };
    let open = open(Language::Python, &text[..cut], &text[cut..]);
    let open = OpenFile { recent_typing: Some(&typing), hidden: &["src/hidden.py"], ..open };
    let Completion { stop, text, .. } = complete(&corpus, &open, &UNGATED);
    expected.assert_eq(&format!("{stop:?}: {text:?}"));
}

fn without_marks(text: &str) -> (String, Vec<std::ops::Range<usize>>) {
    let (mut plain, mut typed) = (String::new(), Vec::new());
    for (index, part) in text.split(['‹', '›']).enumerate() {
        if index % 2 == 1 {
            typed.push(plain.len()..plain.len() + part.len());
        }
        plain.push_str(part);
    }
    (plain, typed)
}

#[test]
fn recently_typed_continuation_is_preferred() {
    let check = |fixture: &str, expected: Expect| check_recent("", &[], fixture, expected);
    let (one, two, at) =
        ("if x:\n    a = f(one)\n", "while x:\n    a = f(two)\n", "for x in y:\n    a = f($0\n");
    let (typed_one, typed_two) = (one.replace("one", "‹one›"), two.replace("two", "‹two›"));
    check(&format!("{one}{two}{at}"), expect![[r#"StatementEnd: "two)""#]]);
    check(&format!("{typed_one}{two}{at}"), expect![[r#"StatementEnd: "one)""#]]);
    check(&format!("{one}{typed_two}{at}"), expect![[r#"StatementEnd: "two)""#]]);
    check(&format!("{at}{typed_one}{two}"), expect![[r#"StatementEnd: "one)""#]]);
    check(&format!("{at}{one}{typed_two}"), expect![[r#"StatementEnd: "two)""#]]);
}

#[test]
fn recent_typing_in_other_files_is_preferred() {
    let other = "a = f(first)\na = f(first)\na = f(second)\n";
    let check = |passages: &[(&str, &str)], expected: Expect| {
        check_recent(other, passages, "a = f($0\n", expected);
    };
    check(&[], expect![[r#"StatementEnd: "first)""#]]);
    check(&[("src/typed.py", "b = 1\na = f(‹second›)\n")], expect![[r#"StatementEnd: "second)""#]]);
    check(&[("src/typed.py", "b = 1\na = f(second)\n‹c = 2›\n")], expect![[r#"StatementEnd: "first)""#]]);
    check(&[("src/typed.ts", "b = 1\na = f(‹second›)\n")], expect![[r#"StatementEnd: "first)""#]]);
    check(&[("src/hidden.py", "b = 1\na = f(‹second›)\n")], expect![[r#"StatementEnd: "first)""#]]);
    check(&[("src/open", "b = 1\na = f(‹second›)\n")], expect![[r#"StatementEnd: "first)""#]]);
}

#[test]
fn completion_is_cancelled_between_tokens() {
    let corpus = Corpus::build(&[file("src/other", Language::C, LOOPS)]);
    let mut left = 3;
    let mut keep_going = || {
        left -= 1;
        left >= 0
    };
    let open = open(Language::C, "int total = 0;\n", "");
    let completion = corpus.view(&open).complete(&UNGATED, &mut keep_going);
    assert_eq!((completion.stop, completion.tokens.len()), (StopReason::Cancelled, 3));
}

#[test]
fn building_a_view_is_cancelled_at_each_step() {
    let corpus = Arc::new(Corpus::build(&[]));
    let masked = MaskedCorpus::new(corpus, "src/open".into(), Language::C, Vec::new());
    let hints = [Snippet::new("src/hint.c", "int b;\n")];
    let asked = |limit: usize| {
        let mut asked = 0;
        let mut keep_going = || {
            asked += 1;
            asked <= limit
        };
        let view = masked.view("int a;\n", "int c;\n", &hints, &RecentTyping::default(), &mut keep_going);
        (view.is_some(), asked)
    };
    assert_eq!(asked(usize::MAX), (true, 5), "after each part of the work");
    for limit in 0..5 {
        assert_eq!(asked(limit), (false, limit + 1));
    }
}

/// Arbitrarily broken text, made of pieces relevant to lexers.
fn code() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "x", "alpha", "if", "else", "return", "0", "1.5", "(", ")", "[", "]", "{", "}", ":", ";", ",", ".",
        "=", "=>", "/", "\\", "\n", "\r\n", "\r", "    ", "\t", " ", "\"", "'", "`", "${", "#", "//", "/*",
        "*/", "\"\"\"", "r#\"", "R\"(", "f'{", "$@\"", "\u{feff}", "é", "名", "𝒳", "\u{301}",
    ];
    let piece = prop_oneof![9 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => "\\PC{0,4}"];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A text split at any character.
fn cut() -> impl Strategy<Value = (String, String)> {
    (code(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let (before, after) = text.split_at(at);
        (before.to_owned(), after.to_owned())
    })
}

proptest! {
    #[test]
    fn any_text_completes_deterministically_without_masked_words(
        language in prop::sample::select(&Language::ALL[..]),
        hint_path in prop::sample::select(&["src/hint.py", "src/hint.tsx", "src/hint.cs", "hint"][..]),
        (before, after) in cut(),
        [other, hint, near_own, near_copy] in [code(), code(), code(), code()],
        method in prop::sample::select(&ALL_METHODS[..]),
        is_gated in any::<bool>(),
    ) {
        const CANARY: &str = "canary";
        let own = format!("{before}{CANARY} {near_own}{after}");
        let copy = format!("{near_copy}{before} {CANARY}({CANARY}){after}");
        let files = [("src/other", &other), ("src/open", &own), ("copy", &copy)];
        let corpus = Corpus::build(&files.map(|(path, text)| file(path, language, text)));
        let hints = [Snippet::new(hint_path, &hint)];
        let open = OpenFile { hints: &hints, hidden: &["copy", "nowhere"], ..open(language, &before, &after) };
        let settings = BuiltinSettings { method, ..if is_gated { BuiltinSettings::for_editor() } else { UNGATED } };
        let completion = complete(&corpus, &open, &settings);
        prop_assert!(completion.tokens.iter().all(|token| token.probability.is_finite()));
        prop_assert!(!completion.text.contains(CANARY), "{:?}", completion);
        prop_assert_eq!(&completion, &complete(&corpus, &open, &settings));
    }
}
