//! Time from an edit in a file of 3,000 lines to the first search that finds it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use completion::WorkspaceIndex;
use index::{FileIndex, Term};
use syntax::{Language, SourceFile};

use super::time;
use crate::measure::figures::SortedTimes;

/// Lines of the edited file.
const LINES: usize = 3_000;
/// Edits per language.
const EDITS: usize = 50;
/// The languages of the reported retrieval figures.
pub(super) const LANGUAGES: [Language; 4] =
    [Language::Python, Language::TypeScript, Language::Java, Language::CSharp];

/// Reads the whole file again, adds it to the index and searches for a name that only the edit contains.
pub(super) fn measure(indexed: &WorkspaceIndex) -> Result<SortedTimes> {
    let mut times = Vec::new();
    for language in LANGUAGES {
        let lines = lines(indexed, language)?;
        for number in 0..EDITS {
            times.push(edit(indexed, language, &lines, number)?);
        }
    }
    Ok(SortedTimes::new(times))
}

/// The same in the language of most files.
pub(super) fn measure_one_language(indexed: &WorkspaceIndex) -> Result<SortedTimes> {
    let language = main_language(indexed.files())?;
    let lines = lines(indexed, language)?;
    let times = (0..2 * EDITS).map(|number| edit(indexed, language, &lines, number % EDITS));
    Ok(SortedTimes::new(times.collect::<Result<_>>()?))
}

/// Returns the language of most files.
pub(super) fn main_language(files: &[SourceFile]) -> Result<Language> {
    let count = |language: Language| files.iter().filter(|file| file.language == language).count();
    let language = Language::ALL.iter().copied().max_by_key(|language| count(*language));
    language.context("there are languages")
}

/// The first lines of the files in a language, repeated if there are too few.
pub(super) fn lines(indexed: &WorkspaceIndex, language: Language) -> Result<Vec<&str>> {
    let files: Vec<&SourceFile> = indexed.files().iter().filter(|file| file.language == language).collect();
    ensure!(!files.is_empty(), "the corpus holds no {}", language.name());
    Ok(files
        .iter()
        .cycle()
        .take(files.len() * LINES)
        .flat_map(|file| file.text.lines())
        .take(LINES)
        .collect())
}

fn edit(indexed: &WorkspaceIndex, language: Language, lines: &[&str], number: usize) -> Result<Duration> {
    let name = format!("typed_just_now_{number}");
    let line = format!("{name};");
    let (before, after) = lines.split_at(lines.len() * (number + 1) / (EDITS + 1));
    let text = [before, &[&line], after].concat().join("\n");
    let file = SourceFile { path: "edited".into(), language, text: text.into() };
    let (took, is_found) = time(|| {
        let searcher = indexed.index().hide(&[]).overlay(vec![Arc::new(FileIndex::new(file))]);
        !searcher.windows(&[(Term::identifier(&name), 1.0)], 1).is_empty()
    });
    is_found.then_some(took).context("the edit is not found")
}
