//! Time from an edit in one open document to the answer in another one that needs it.

use std::fs;

use anyhow::{Result, ensure};
use completion::WorkspaceIndex;
use syntax::Language;
use tests::lsp::{Buffer, Encoding};

use super::query_document::{NAMES, QueryDocument};
use super::server_fixture::{ChangeReporter, ServerFixture};
use crate::measure::figures::SortedTimes;
use crate::measure::indexing::edits::{LANGUAGES, lines};
use crate::measure::indexing::time;
use crate::measure::lsp::editor::Editor;

/// Edits per language.
const EDITS: usize = 100;
/// Maximum length of the lines of a window around an edit.
const LINE_BYTES: usize = 80;
/// Maximum lines before and after an edit in its window, including blank ones.
const NEAR_LINES: usize = 8;

/// Returns the times from a line typed into a document of 3,000 lines to the answer to the request that immediately follows.
pub(super) fn measure(
    desk: &ServerFixture,
    indexed: &WorkspaceIndex,
) -> Result<[SortedTimes; LANGUAGES.len()]> {
    let editor = desk.start_and_wait(ChangeReporter::Client)?;
    let mut times = Vec::new();
    for language in LANGUAGES {
        let path = format!("bench_edited.{}", language.endings()[0]);
        let lines = lines(indexed, language)?;
        fs::write(desk.root.join(&path), lines.join("\n"))?;
        times.push(in_language(desk, &editor, language, &path, &lines)?);
        fs::remove_file(desk.root.join(&path))?;
    }
    Ok(times.try_into().unwrap_or_else(|_| unreachable!("there is one for each language")))
}

fn in_language(
    desk: &ServerFixture,
    editor: &Editor,
    language: Language,
    path: &str,
    lines: &[&str],
) -> Result<SortedTimes> {
    let mut edited = Buffer::new(desk.uri(path), language.name(), Encoding::Utf16, &lines.join("\n"));
    editor.open(&edited);
    let mut question = QueryDocument::open(editor, &desk.root, language, NAMES);
    // From the last position on, so that the others stay valid.
    let mut places = places(language, edited.text());
    ensure!(!places.is_empty(), "the document in {} has no function", language.name());
    places.reverse();
    let mut times = Vec::new();
    for number in 0..=EDITS {
        let name = format!("{NAMES}edit_{number}");
        question.change(editor, &name);
        let place = places[number * places.len() / (EDITS + 1)];
        let change = edited.edit(place..place, &format!("{name};\n"));
        let completion = question.completion();
        let (took, answer) = time(|| {
            editor.change(change);
            editor.complete(completion)
        });
        ensure!(
            question.is_answered_by(&answer),
            "edit {number} in {} is not found: {answer}",
            language.name()
        );
        // The first one also parses the whole document.
        if number > 0 {
            times.push(took);
        }
    }
    editor.close(&edited);
    question.close(editor);
    Ok(SortedTimes::new(times))
}

/// Returns the starts of lines with a function's first line, so that text typed there is code. Positions with long lines are
/// excluded, because their window exceeds the engine's context.
fn places(language: Language, text: &str) -> Vec<usize> {
    let functions = syntax::parse(language, text).functions(text);
    let start = |offset: usize| text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let is_short = |line: &str| line.len() < LINE_BYTES;
    let starts = functions.iter().map(|function| start(function.range.start));
    let mut places: Vec<usize> = starts
        .filter(|&place| {
            let (before, after) = text.split_at(place);
            before.lines().rev().take(NEAR_LINES).all(is_short)
                && after.lines().take(NEAR_LINES).all(is_short)
        })
        .collect();
    places.dedup();
    places
}
