//! The engine from outside: a workspace, a cursor, a completion.

use builtin::{Completion, Corpus, Hint, Method, OpenFile, Settings, StopReason};
use expect_test::{Expect, expect};
use syntax::{Language, SourceFile};

const UNGATED: Settings = Settings { method: Method::Hybrid, min_probability: None, min_continuation: None };

fn file(path: &str, language: Language, text: &str) -> SourceFile {
    SourceFile { path: path.into(), language, text: text.into() }
}

fn open<'a>(language: Language, before: &'a str, after: &'a str) -> OpenFile<'a> {
    OpenFile { path: "src/open", language, before, after, hints: &[], hidden: &[] }
}

fn complete(corpus: &Corpus, open: &OpenFile, settings: &Settings) -> Completion {
    corpus.view(open).complete(settings, &mut || true)
}

/// Completes at `$0` in the second text with the first one as the only other file of the workspace.
#[track_caller]
fn check(language: Language, other: &str, fixture: &str, expected: Expect) {
    let corpus = Corpus::build(&[file("src/other", language, other)]);
    let (before, after) = fixture.split_once("$0").expect("a cursor");
    let completion = complete(&corpus, &open(language, before, after), &UNGATED);
    expected.assert_eq(&format!("{:?} {:?}", completion.stop, completion.text));
}

const SHAPES: &str = "\
class Circle:
    def area(self):
        if self.radius is None:
            raise ValueError('no radius')
        return self.radius ** 2 * math.pi
";

#[test]
fn the_rest_of_a_statement_is_copied_with_its_names_replaced() {
    check(
        Language::Python,
        SHAPES,
        "class Square:\n    def area(self):\n        if self.side is None:\n            raise $0\n",
        expect![[r#"StatementEnd "ValueError('no radius')""#]],
    );
    check(
        Language::Python,
        SHAPES,
        "class Square:\n    def area(self):\n        if self.side is None:\n            raise ValueError('no side')\n        return $0\n",
        expect![[r#"StatementEnd "self.side ** 2 * math.pi""#]],
    );
}
