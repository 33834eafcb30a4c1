//! Cases in files that were edited after the recording.

use std::ops::Range;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::{
    BlockCut, Case, CompletionTask, FileText, Origin, OriginKind, SchemaVersion, Tags, Task, redact_case,
};

/// Returns a case of `text`, whose truth is between `⟦` and `⟧`.
fn case(text: &str) -> Case {
    let (prefix, rest) = text.split_once('⟦').unwrap();
    let (truth, suffix) = rest.split_once('⟧').unwrap();
    Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: String::new(),
        task: Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart)),
        language: "python".to_owned(),
        block_kind: None,
        path: "store.py".to_owned(),
        byte_range: prefix.len()..prefix.len() + truth.len(),
        line: 0,
        character: 0,
        prefix: prefix.to_owned(),
        suffix: suffix.to_owned(),
        truth: truth.to_owned(),
        context: Vec::new(),
        function: None,
        tests: None,
        origin: Origin::new(OriginKind::Live, "t"),
        tags: Tags::new(),
    }
}

/// Returns the range of the truth in the current text.
fn locate(case: &Case, today: &str) -> Option<Range<usize>> {
    case.truth_locator().locate_in(&FileText::new(today))
}

fn mark(text: &str, place: Range<usize>) -> String {
    [&text[..place.start], "⟦", &text[place.clone()], "⟧", &text[place.end..]].concat()
}

/// Marks the truth of the case recorded as `recorded` in `today`, and compares the result.
#[track_caller]
fn check(recorded: &str, today: &str, expected: &Expect) {
    let place = locate(&case(recorded), today);
    expected.assert_eq(&place.map_or("nowhere\n".to_owned(), |place| mark(today, place)));
}

const RECORDED: &str = "def load(path):
    if path:
        ⟦return None⟧
    return read(path)

def save(path):
    if not path:
        return None
    return write(path)
";

#[test]
fn truth_in_unchanged_file_is_at_its_recorded_range() {
    let text = RECORDED.replace(['⟦', '⟧'], "");
    assert_eq!(mark(&text, locate(&case(RECORDED), &text).unwrap()), RECORDED);
}

#[test]
fn truth_is_found_after_lines_are_added_and_moved() {
    check(
        RECORDED,
        "import os

def save(path):
    if not path:
        return None
    return write(path)

def load(path):
    log()
    if path:
        return None
    return read(path)
",
        &expect![[r#"
            import os

            def save(path):
                if not path:
                    return None
                return write(path)

            def load(path):
                log()
                if path:
                    ⟦return None⟧
                return read(path)
        "#]],
    );
}

#[test]
fn one_matching_adjacent_line_locates_the_truth() {
    let recorded = "a()\nif path:\n    ⟦return None⟧\nb()\n";
    check(
        recorded,
        "if path:\n    return None\nc()\n",
        &expect![[r#"
        if path:
            ⟦return None⟧
        c()
    "#]],
    );
    check(
        recorded,
        "while path:\n    return None\nb()\n",
        &expect![[r#"
        while path:
            ⟦return None⟧
        b()
    "#]],
    );
    check(
        recorded,
        "while path:\n    return None\nc()\n",
        &expect![[r#"
        nowhere
    "#]],
    );
}

#[test]
fn edited_truth_is_located_between_adjacent_lines() {
    check(
        RECORDED,
        "def load(path):
    if path:
        return default()
    return read(path)

def save(path):
    if not path:
        return None
    return write(path)
",
        &expect![[r#"
            def load(path):
                if path:
                    ⟦return default()⟧
                return read(path)

            def save(path):
                if not path:
                    return None
                return write(path)
        "#]],
    );
}

#[test]
fn partial_statement_is_located_by_its_start() {
    check(
        "a = 1\nload(⟦a, b)⟧\nc = 2\n",
        "x = 0\nload(a, b)\nd = load(a, b)\n",
        &expect![[r#"
        x = 0
        load(⟦a, b)⟧
        d = load(a, b)
    "#]],
    );
    check(
        "a = 1\nload(⟦a, b)⟧\nc = 2\n",
        "x = 0\nsave(a, b)\n",
        &expect![[r#"
        nowhere
    "#]],
    );
}

#[test]
fn an_empty_truth_is_found_by_the_line_before_it() {
    let recorded = "while a:\n    b()\n    c()⟦⟧\n\nd()\n";
    check(
        recorded,
        "import os\nwhile a:\n    b()\n    c()\n\nd()\n",
        &expect![[r#"
        import os
        while a:
            b()
            c()⟦⟧

        d()
    "#]],
    );
    check(
        recorded,
        "while a:\n    b()\nd()\n",
        &expect![[r#"
        nowhere
    "#]],
    );
    let fresh_line = "while a:\n    c()\n    ⟦⟧\nd()\n";
    check(
        fresh_line,
        "b()\nwhile a:\n    c()\n    \nd()\n",
        &expect![[r#"
        b()
        while a:
            c()
            ⟦⟧
        d()
    "#]],
    );
    let closed = "fn f() {\n    while a {\n        b();\n    }⟦⟧\n}\n";
    check(
        closed,
        "use a;\nfn f() {\n    while a {\n        b();\n    }\n}\n",
        &expect![[r#"
        use a;
        fn f() {
            while a {
                b();
            }⟦⟧
        }
    "#]],
    );
}

#[test]
fn fresh_line_missing_from_the_file_is_ignored() {
    let mut case = case("while a:\n    c()⟦⟧\nd()\n");
    case.prefix.push_str("\n    ");
    for today in ["while a:\n    c()\nd()\n", "b()\nwhile a:\n    c()\nd()\n"] {
        let end = today.find("\nd").unwrap();
        assert_eq!(locate(&case, today), Some(end..end));
    }
}

#[test]
fn overlapping_occurrences_are_distinguished() {
    check(
        "b()\n⟦c()\nc()⟧\nd()\ne()\n",
        "x()\nc()\nc()\nc()\nd()\ne()\n",
        &expect![[r#"
        x()
        c()
        ⟦c()
        c()⟧
        d()
        e()
    "#]],
    );
}

#[test]
fn long_truth_is_found_without_adjacent_lines() {
    let truth = "for line in lines:\n    self.items[line.key] = line.value";
    let today = format!("if c:\n    {truth}\nd()\n");
    check(
        &format!("if a:\n    ⟦{truth}⟧\nb()\n"),
        &today,
        &expect![[r#"
        if c:
            ⟦for line in lines:
            self.items[line.key] = line.value⟧
        d()
    "#]],
    );
}

#[test]
fn truth_with_masked_secret_is_located() {
    let key = ["ghp", "_0123456789abcdefABCDEF0123456789abcd"].concat();
    let recorded = format!("a = 1\ntoken = ⟦\"{key}\"⟧\nb = 2\n");
    let mut case = case(&recorded);
    assert!(redact_case(&mut case) > 0);
    let today = format!("import os\n{}", recorded.replace(['⟦', '⟧'], ""));
    assert_eq!(mark(&today, locate(&case, &today).unwrap()), format!("import os\n{recorded}"));
    let (before, _) = recorded.split_once('⟦').unwrap();
    let unchanged = recorded.replace(['⟦', '⟧'], "");
    let place = before.len()..before.len() + key.len() + 2;
    assert_eq!(locate(&case, &unchanged), Some(place));
}

/// Marks the truth of the case recorded as `recorded` after a conversion of its file; fails if it counts as edited.
#[track_caller]
fn check_converted(recorded: &str, convert: impl Fn(&str) -> String) {
    let today = convert(&recorded.replace(['⟦', '⟧'], ""));
    let landmark = case(recorded).truth_locator();
    let file = FileText::new(&today);
    let place = landmark.locate_in(&file).unwrap_or_else(|| panic!("nowhere in {today:?}"));
    assert_eq!(mark(&today, place.clone()), convert(recorded));
    assert!(!landmark.is_edited(&file, place));
}

#[test]
fn conversion_and_reindentation_do_not_count_as_edits() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let lf = |text: &str| text.replace("\r\n", "\n");
    let tabs = |text: &str| text.replace("    ", "\t");
    let two = |text: &str| text.replace("    ", "  ");
    let nested = |text: &str| format!("class Store:\n    {}", text.replace('\n', "\n    "));
    let function =
        "import os\n\ndef load(path):\n    ⟦if path:\n        return None\n    return read(path)⟧\n\nx = 1\n";
    for recorded in [
        RECORDED,
        function,
        "a = 1\nload(⟦a, b)⟧\nc = 2\n",
        "while a:\n    b()\n    c()⟦⟧\n\nd()\n",
        "while a:\n    c()\n    ⟦⟧\nd()\n",
    ] {
        for convert in [&crlf as &dyn Fn(&str) -> String, &tabs, &two, &nested, &|text| tabs(&crlf(text))] {
            check_converted(recorded, convert);
        }
        check_converted(&crlf(recorded), lf);
    }
}

#[test]
fn nearer_copy_is_found_after_line_ends_change() {
    let copy = "def f(x):\n    y = g(x)\n    return y\n";
    let recorded = format!("{copy}\nmore()\n{}\nlast()\n", copy.replace("y = g(x)", "⟦y = g(x)⟧"));
    check_converted(&recorded, |text| text.replace('\n', "\r\n"));
}

#[test]
fn masked_secret_is_not_an_edit_but_other_text_is() {
    let key = ["ghp", "_0123456789abcdefABCDEF0123456789abcd"].concat();
    let recorded = format!("a = 1\ntoken = ⟦\"{key}\"⟧\nb = 2\n");
    let mut case = case(&recorded);
    assert!(redact_case(&mut case) > 0);
    let landmark = case.truth_locator();
    let is_edited = |today: &str| {
        let file = FileText::new(today);
        let place = landmark.locate_in(&file).expect("the lines around it are there");
        landmark.is_edited(&file, place)
    };
    let unchanged = recorded.replace(['⟦', '⟧'], "");
    assert!(!is_edited(&unchanged));
    assert!(!is_edited(&unchanged.replace('\n', "\r\n")));
    assert!(is_edited(&unchanged.replace(&key, "from the environment")));
    assert!(is_edited(&unchanged.replace(&format!("\"{key}\""), &"f".repeat(key.len() + 2))));
    assert!(!format!("{landmark:?}").contains(&key));
}

#[test]
fn truth_in_very_long_lines_is_located() {
    let long = "größe + ".repeat(300);
    let recorded = format!("{long}⟦größe⟧{long}\n");
    let today = format!("x\n{}", recorded.replace(['⟦', '⟧'], ""));
    assert_eq!(mark(&today, locate(&case(&recorded), &today).unwrap()), format!("x\n{recorded}"));
}

/// Lines around a case that stay unchanged; lines further away are added and removed.
const KEPT: usize = 3;

proptest! {
    #[test]
    fn truth_is_located_after_edits_elsewhere(
        numbers in prop::collection::vec(0..30_u8, 20..40),
        at in 8..12_usize,
        lines in 0..4_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0..30_u8), 0..8),
        line_end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut file: Vec<String> = numbers.iter().map(|number| format!("    grüße({number}){line_end}")).collect();
        let recorded = |file: &[String], at: usize| {
            let truth = file[at..at + lines].concat();
            let truth = truth.trim_end().trim_start_matches(' ');
            let start = file[..at].concat().len() + if lines == 0 { 0 } else { 4 };
            mark(&file.concat(), start..start + truth.len())
        };
        let case = case(&recorded(&file, at));
        let mut at = at;
        for (place, removes, number) in edits {
            let place = place.index(file.len());
            if (at - KEPT..=at + lines + KEPT).contains(&place) {
                continue;
            }
            let moved = place < at;
            if removes {
                file.remove(place);
                at -= usize::from(moved);
            } else {
                file.insert(place, format!("    new({number}){line_end}"));
                at += usize::from(moved);
            }
            if at < KEPT {
                return Ok(());
            }
        }
        let today = file.concat();
        prop_assert_eq!(mark(&today, locate(&case, &today).unwrap()), recorded(&file, at));
    }

    #[test]
    fn any_text_is_searched_without_panic(
        recorded in "[ab \n(é\u{1F600}]{0,12}⟦[ab\né]{0,4}⟧[ab \n(é]{0,12}",
        today in "[ab \n(é\u{1F600}]{0,40}",
    ) {
        let case = case(&recorded);
        if let Some(place) = locate(&case, &today) {
            prop_assert!(today.get(place).is_some());
        }
    }
}
