//! Origins exist at the reported position, under the reported name.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::{Language, SourceFile};
use text::Snippet;

use super::*;
use crate::{BuiltinSettings, Corpus, Method, OpenFile};

const UNGATED: BuiltinSettings =
    BuiltinSettings { method: Method::Hybrid, min_probability: None, min_continuation: None };

/// Other files, hints and the open file around its cursor.
struct Fixture<'a> {
    files: &'a [(&'a str, &'a str)],
    hints: &'a [Snippet],
    before: &'a str,
    after: &'a str,
    method: Method,
}

impl Fixture<'_> {
    fn completed(&self) -> (Completion, Vec<TokenOrigin>) {
        let files: Vec<SourceFile> = self
            .files
            .iter()
            .map(|&(path, text)| SourceFile {
                path: path.into(),
                language: Language::Python,
                text: text.into(),
            })
            .collect();
        // The first file is in the base, the others in a layer on top.
        let (saved, changed) = files.split_at(files.len().min(1));
        let corpus = Corpus::build(saved).with_changes(changed, &[]);
        let open = OpenFile::new("open.py", Language::Python, self.before, self.after);
        let open = OpenFile { hints: self.hints, ..open };
        let view = corpus.view(&open);
        let completion = view.complete(&BuiltinSettings { method: self.method, ..UNGATED }, &mut || true);
        let origins = view.origins(&completion);
        (completion, origins)
    }

    fn text_of(&self, source: &TokenSource) -> &str {
        match source {
            TokenSource::Before => self.before,
            TokenSource::After { .. } => self.after,
            TokenSource::Passage(_) => unreachable!("nothing is typed here"),
            TokenSource::Hint(hint) => &self.hints[*hint].text,
            TokenSource::File(path) => {
                self.files.iter().find(|(known, _)| **known == **path).map_or("", |file| file.1)
            }
        }
    }

    /// Returns the token at an origin; `None` if its text does not contain it.
    fn found(&self, origin: &TokenOrigin) -> Option<&str> {
        let text = self.text_of(&origin.source);
        let range = SourceTokens::read(&origin.source, Language::Python, text).find(origin)?;
        text.get(range)
    }
}

/// Checks the origin of each token: source, number, how many tokens before it are the same and match, and its name there.
#[track_caller]
fn check(files: &[(&str, &str)], hints: &[Snippet], fixture: &str, expected: Expect) {
    let (before, after) = test_fixture::split_at_cursor(fixture);
    let fixture = Fixture { files, hints, before, after, method: Method::Mixed };
    let (completion, origins) = fixture.completed();
    expected.assert_eq(
        &completion
            .tokens
            .iter()
            .zip(&origins)
            .map(|(token, origin)| {
                let TokenOrigin { source, number, same, alike, .. } = origin;
                let there = fixture.found(origin).expect("the token is there");
                format!(
                    "{:?} {source:?} {number} {same}/{alike} {there:?}\n",
                    &completion.text[token.range.clone()]
                )
            })
            .collect::<String>(),
    );
}

#[test]
fn tokens_copied_from_one_file_have_consecutive_numbers() {
    let other = "\n# comment\n\ndef f(path):\n    data = read(path)  # all\n    return data\n";
    check(
        &[("a.py", "x = 1\n"), ("b.py", other)],
        &[],
        "def g(path):\n    data = $0\n",
        expect![[r#"
        "read" File("b.py") 9 7/9 "read"
        "(" File("b.py") 10 8/10 "("
        "path" File("b.py") 11 9/11 "path"
        ")" File("b.py") 12 10/12 ")"
    "#]],
    );
}

#[test]
fn renamed_token_reports_its_original_name() {
    let other = "def f():\n    if self.radius is None:\n        raise ValueError('no')\n    return self.radius ** 2\n";
    let fixture = "def g():\n    if self.side is None:\n        raise ValueError('no')\n    return $0\n";
    check(
        &[("b.py", other)],
        &[],
        fixture,
        expect![[r#"
        "self" File("b.py") 21 11/21 "self"
        "." File("b.py") 22 12/22 "."
        "side" File("b.py") 23 13/23 "radius"
        " **" File("b.py") 24 0/24 "**"
        " 2" File("b.py") 25 1/25 "2"
    "#]],
    );
}

#[test]
fn origins_distinguish_hints_and_text_around_the_cursor() {
    let hints = [Snippet::new("near.py", "\nreply = near(2)\n"), Snippet::new("far.py", "q = 1\n")];
    check(
        &[],
        &hints,
        "reply = $0\n",
        expect![[r#"
        "near" Hint(0) 2 2/2 "near"
        "(" Hint(0) 3 3/3 "("
        "2" Hint(0) 4 4/4 "2"
        ")" Hint(0) 5 5/5 ")"
    "#]],
    );
    check(
        &[],
        &[],
        "total = add(a, b)\ntotal = $0\n",
        expect![[r#"
        "add" Before 2 2/2 "add"
        "(" Before 3 3/3 "("
        "a" Before 4 4/4 "a"
        "," Before 5 5/5 ","
        " b" Before 6 6/6 "b"
        ")" Before 7 7/7 ")"
    "#]],
    );
    check(
        &[],
        &[],
        "f('a$0b')\nf('axb')\n",
        expect![[r#"
        "x" After { skipped: 2 } 4 2/2 "'axb'"
    "#]],
    );
}

#[test]
fn typed_word_counts_towards_matching_tokens() {
    check(
        &[("b.py", "for item in items:\n    f(item)\n")],
        &[],
        "for item$0\n",
        expect![[r#"
        " in" File("b.py") 2 2/2 "in"
        " items" File("b.py") 3 3/3 "items"
        ":" File("b.py") 4 4/4 ":"
    "#]],
    );
    check(
        &[("b.py", "for item in items:\n    f(item)\n")],
        &[],
        "for it$0\n",
        expect![[r#"
        "em" File("b.py") 1 1/1 "item"
        " in" File("b.py") 2 2/2 "in"
        " items" File("b.py") 3 3/3 "items"
        ":" File("b.py") 4 4/4 ":"
    "#]],
    );
}

#[test]
fn origin_is_not_found_in_changed_text() {
    let origin =
        TokenOrigin { source: TokenSource::Before, number: 1, text: "=".to_owned(), same: 0, alike: 0 };
    let find = |text| SourceTokens::read(&origin.source, Language::Python, text).find(&origin);
    assert_eq!(find("# c\nx = 1"), Some(6..7));
    assert_eq!((find("x + 1"), find("x\n"), find("")), (None, None, None));
}

#[test]
fn identical_files_are_reported_by_their_first_path() {
    let text = "reply = far(1)\n";
    check(
        &[("b.py", text), ("a.py", text)],
        &[],
        "reply = $0\n",
        expect![[r#"
        "far" File("a.py") 2 2/2 "far"
        "(" File("a.py") 3 3/3 "("
        "1" File("a.py") 4 4/4 "1"
        ")" File("a.py") 5 5/5 ")"
    "#]],
    );
}

/// Realistic lines of code, some of them broken.
fn code() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "x", "alpha", "beta", " = ", "(", ")", ":", ",", "\n", "\n\n", "\n    ", "# c\n", "'s'", "'", "1",
        "if ", "return ", "é", "\r\n",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_token_is_found_at_its_origin(
        [before, after, other, near] in [code(), code(), code(), code()],
        method in prop::sample::select(vec![Method::NearestLine, Method::LongestMatch, Method::Mixed, Method::Hybrid]),
    ) {
        let (files, hints) = ([("a.py", &*other)], [Snippet::new("b.py", &near)]);
        let fixture = Fixture { files: &files, hints: &hints, before: &before, after: &after, method };
        let (completion, origins) = fixture.completed();
        prop_assert_eq!(completion.tokens.len(), origins.len());
        let mut end = 0;
        for (token, origin) in completion.tokens.iter().zip(&origins) {
            prop_assert_eq!(token.range.start, end);
            end = token.range.end;
            let found = fixture.found(origin);
            prop_assert!(found.is_some(), "{:?}", origin);
            prop_assert!(origin.same <= origin.alike);
            if origin.text == token.text && !token.text.is_empty() {
                let in_one_kind = |text: &str| text.replace('\'', "\"");
                prop_assert_eq!(found.map(in_one_kind), Some(in_one_kind(&token.text)));
            }
        }
        prop_assert!(completion.text[end..].trim().is_empty());
    }
}
