//! The server's copy of a document equals the client's after any edit, in every encoding.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use serde_json::Value;
use tests::Project;
use tests::lsp::{Buffer, Encoding};

use super::editor::{Editor, find, setup};
use super::scripted_engine::{RULES, assert_synchronized, echo};

/// Documents per encoding.
const CASES: u32 = 60;

/// Typed texts: plain code, every line end, characters that are line ends elsewhere but not here, and characters of one to four
/// bytes, alone and combined. None begins as an echo does, or the engine's last words would count as typed.
const PIECES: &[&str] = &[
    "x",
    " = ",
    "\t",
    "def f():\n",
    "\n",
    "\r\n",
    "\r",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
    "\0",
    "é",
    "e\u{301}",
    "漢字",
    "😀",
    "👩\u{200d}👩\u{200d}👧",
    "\u{feff}",
    "مرحبا",
];

/// A document's change in one notification.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Replaces the text between two positions.
    Part { place: Index, length: usize, new: String },
    /// Appends text.
    Append(String),
    /// Replaces the whole text.
    Whole(String),
}

impl Change {
    /// Applies the change; returns it in the protocol's form.
    pub(super) fn apply(&self, buffer: &mut Buffer) -> Value {
        match self {
            Change::Part { place, length, new } => {
                let places = editable_offsets(buffer.text());
                let first = place.index(places.len());
                let last = (first + length).min(places.len() - 1);
                buffer.change(places[first]..places[last], new)
            }
            Change::Append(new) => buffer.change(buffer.text().len()..buffer.text().len(), new),
            Change::Whole(new) => buffer.change_all(new),
        }
    }
}

pub(super) fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (any::<Index>(), 0..8_usize, any_text(4))
            .prop_map(|(place, length, new)| Change::Part { place, length, new }),
        2 => (any::<Index>(), 0..80_usize, any_text(1))
            .prop_map(|(place, length, new)| Change::Part { place, length, new }),
        2 => any_text(4).prop_map(Change::Append),
        1 => any_text(20).prop_map(Change::Whole),
    ]
}

/// A text of at most this many pieces.
pub(super) fn any_text(pieces: usize) -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..=pieces).prop_map(|pieces| pieces.concat())
}

/// A runner with deterministic cases.
pub(super) fn runner() -> TestRunner {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Byte offsets that an editor can express: between characters, but not inside a line end.
fn editable_offsets(text: &str) -> Vec<usize> {
    let offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
    offsets.filter(|&offset| !(text[..offset].ends_with('\r') && text[offset..].starts_with('\n'))).collect()
}

/// An editor with this position encoding.
#[track_caller]
fn editor(project: &Project, encoding: Encoding) -> Editor {
    let client = setup(project).encodings(&[encoding.name()]);
    let editor = Editor::start(project, &["--scripted", &RULES.to_string()], client);
    assert_eq!(editor.encoding, encoding);
    editor
}

#[test]
fn random_edits_in_utf_8_leave_both_copies_equal() {
    check_random_edits(Encoding::Utf8);
}

#[test]
fn random_edits_in_utf_16_leave_both_copies_equal() {
    check_random_edits(Encoding::Utf16);
}

#[test]
fn random_edits_in_utf_32_leave_both_copies_equal() {
    check_random_edits(Encoding::Utf32);
}

#[track_caller]
fn check_random_edits(encoding: Encoding) {
    let project = Project::new("");
    let editor = editor(&project, encoding);
    let notifications = vec(vec(any_change(), 0..4), 1..8);
    let checked = runner().run(&(any_text(30), notifications), |(text, notifications)| {
        let mut buffer = editor.open("echo.py", &text);
        for changes in notifications {
            let changes = changes.iter().map(|change| change.apply(&mut buffer)).collect();
            editor.change(buffer.did_change(changes));
        }
        let result = check_synchronized(&editor, &buffer);
        editor.close(&buffer);
        result
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// As [`assert_in_step`], for a failure that can be shrunk.
fn check_synchronized(editor: &Editor, buffer: &Buffer) -> TestCaseResult {
    let ghost_text = editor.ghost_text(buffer, buffer.text().len());
    prop_assert_eq!(ghost_text, echo(buffer.text()));
    Ok(())
}

/// Replaces one range after the other, in every encoding; the copies must be equal after each.
#[track_caller]
fn check(text: &str, edits: &[(Range<usize>, &str)]) {
    let project = Project::new("");
    for encoding in Encoding::ALL {
        let editor = editor(&project, encoding);
        let mut buffer = editor.open("echo.py", text);
        assert_synchronized(&editor, &buffer);
        for (range, new) in edits {
            editor.change(buffer.edit(range.clone(), new));
            assert_synchronized(&editor, &buffer);
        }
    }
}

#[test]
fn an_empty_document_is_filled_and_emptied() {
    check("", &[(0..0, "x"), (0..1, ""), (0..0, "😀\n"), (0..5, "")]);
}

#[test]
fn edits_around_surrogate_pairs_keep_copies_equal() {
    check("a😀b😀c\n", &[(1..5, ""), (2..6, "👩\u{200d}👧"), (2..6, "é"), (0..2, "𝒳")]);
}

#[test]
fn combining_marks_count_as_characters() {
    check("e\u{301}e\u{301}", &[(1..3, ""), (1..1, "\u{302}"), (3..4, "\u{327}\u{301}")]);
}

#[test]
fn cr_crlf_and_lf_each_end_a_line() {
    // Edits come after a CR, a CRLF and an LF; then CR and LF are joined to one line end.
    check("a\rb\r\nc\nd", &[(2..3, "x"), (5..6, "y"), (7..8, "z"), (2..3, ""), (2..4, "\n"), (3..3, "w")]);
}

#[test]
fn other_line_separators_do_not_end_a_line() {
    check("a\u{2028}b\u{85}c\u{b}d\u{c}e\nf", &[(4..5, "x"), (8..8, "y"), (12..13, "z"), (11..12, "")]);
}

#[test]
fn deleting_across_lines_joins_them() {
    check("one\r\ntwo\nthree\rfour\n", &[(2..12, ""), (3..6, "\n"), (0..4, "")]);
}

#[test]
fn text_is_appended_with_and_without_a_final_newline() {
    check("x = 1", &[(5..5, "\n"), (6..6, "y = 2"), (11..11, "\r"), (12..12, "\n"), (13..13, "z")]);
}

#[test]
fn changes_in_one_notification_apply_in_order() {
    let project = Project::new("");
    let editor = editor(&project, Encoding::Utf16);
    let mut buffer = editor.open("echo.py", "alpha\nbeta\n");
    let changes = vec![
        buffer.change(0..5, "😀"),
        buffer.change(4..4, "\r\nmore"),
        buffer.change_all("new 😀\n"),
        buffer.change(8..9, "!"),
        buffer.change(0..3, ""),
    ];
    editor.change(buffer.did_change(changes));
    assert_synchronized(&editor, &buffer);
    editor.change(buffer.did_change(Vec::new()));
    assert_synchronized(&editor, &buffer);
}

#[test]
fn file_of_20_000_lines_stays_synchronized() {
    let text: String = (0..20_000).map(|line| format!("value_{line} = '😀 é {line}'\r\n")).collect();
    let project = Project::new("");
    let editor = editor(&project, Encoding::Utf16);
    let mut buffer = editor.open("echo.py", &text);
    assert_synchronized(&editor, &buffer);
    for line in [0, 1, 9_999, 19_998] {
        let place = find(buffer.text(), &format!("value_{line} ="));
        editor.change(buffer.edit(place..place + 5, "𝒳\n"));
    }
    assert_synchronized(&editor, &buffer);
    let (first, last) = (find(buffer.text(), "value_100 ="), find(buffer.text(), "value_19000 ="));
    editor.change(buffer.edit(first..last, ""));
    editor.change(buffer.append("end = '😀'"));
    assert_synchronized(&editor, &buffer);
}
