//! Scenarios of cursortab.nvim's evaluation: text archives with the buffer, the cursor and the expected buffer.
//!
//! An archive is a header with a field per line, followed by files, each after a line `-- NAME --`. A scenario whose expected buffer is the
//! buffer itself, or whose steps expect that nothing is shown, asks for silence.

use std::collections::HashMap;

use cases::{Case, Task};
use serde::Serialize;
use syntax::Language;

use super::UnusableItem;
use super::insertion::{NO_INSERTION, inserted, offset_at, task_before};
use crate::imported_case::{CaseParts, imported_case};
use crate::row_reader::check_path;

/// Limit of cursors of one scenario.
const MAX_CURSORS: usize = 1_000;

/// A scenario at one of its cursors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CursortabCase {
    /// Its id; with the line of the cursor if there are several.
    pub id: String,
    /// The file.
    pub file: String,
    /// 1-based line of the cursor.
    pub row: usize,
    /// Column of the cursor, in bytes.
    pub col: usize,
    /// The buffer.
    pub buffer: String,
    /// The buffer after the expected edit.
    pub expected: String,
    #[serde(skip)]
    language: Language,
}

/// The parts of an archive.
struct Archive<'a> {
    fields: HashMap<&'a str, &'a str>,
    files: HashMap<&'a str, String>,
}

/// Returns the scenario of a file, once for each of its cursors; `name` is its id if it has none.
///
/// # Errors
///
/// A part is missing or not valid.
pub fn cursortab_cases(text: &str, name: &str) -> Result<Vec<CursortabCase>, UnusableItem> {
    let archive = Archive::parse(text);
    let broken = |reason: String| UnusableItem::Broken(1, reason);
    let part = |name: &str| archive.files.get(name).cloned();
    let buffer = part("buffer.txt").ok_or_else(|| broken("there is no `-- buffer.txt --`".to_owned()))?;
    let expects_nothing = part("steps").is_some_and(|steps| steps.lines().any(expects_silence));
    let expected = part("expected").or_else(|| part("expected.txt"));
    let expected = expected.or_else(|| expects_nothing.then(|| buffer.clone()));
    let expected = expected.ok_or(UnusableItem::LeftOut("the scenario has no expected buffer"))?;
    let named = archive.fields.get("language").copied().unwrap_or_default();
    let file = match archive.fields.get("file") {
        Some(file) => (*file).to_owned(),
        None => format!("eval.{}", Language::from_name(named).map_or("", first_ending)),
    };
    check_path(&file).map_err(broken)?;
    let language = Language::from_path(&file).or_else(|| Language::from_name(named));
    let language =
        language.ok_or_else(|| broken(format!("the file {file:?} is in no supported language")))?;
    let id = archive.fields.get("id").copied().unwrap_or(name);
    let cursors = archive.cursors().map_err(broken)?;
    let with_line = |row: usize| if cursors.len() == 1 { id.to_owned() } else { format!("{id}@L{row}") };
    let case = |&(row, col): &(usize, usize)| CursortabCase {
        id: with_line(row),
        file: file.clone(),
        row,
        col,
        buffer: buffer.clone(),
        expected: expected.clone(),
        language,
    };
    Ok(cursors.iter().map(case).collect())
}

/// Whether a step expects that nothing is shown: `expect !shown`.
fn expects_silence(step: &str) -> bool {
    let mut words = step.split_whitespace();
    words.next() == Some("expect") && words.any(|word| word == "!shown")
}

fn first_ending(language: Language) -> &'static str {
    language.endings().first().copied().unwrap_or_default().trim_start_matches('.')
}

impl CursortabCase {
    /// Returns the case.
    ///
    /// # Errors
    ///
    /// The cursor is outside of the buffer, or the expected edit is no insertion there.
    pub fn case(&self) -> Result<Case, UnusableItem> {
        let cursor = offset_at(&self.buffer, self.row - 1, self.col).ok_or_else(|| {
            UnusableItem::Broken(1, format!("the cursor {}:{} is outside of the buffer", self.row, self.col))
        })?;
        let truth =
            inserted(&self.buffer, &self.expected, cursor).ok_or(UnusableItem::LeftOut(NO_INSERTION))?;
        let (prefix, suffix) = self.buffer.split_at(cursor);
        let case = imported_case(CaseParts {
            benchmark: "cursortab",
            id: &self.id,
            repository: None,
            task: if truth.is_empty() { Task::EMPTY } else { task_before(suffix) },
            language: self.language,
            block_kind: None,
            path: &self.file,
            prefix,
            suffix,
            truth,
            context: Vec::new(),
        });
        case.ok_or_else(|| UnusableItem::Broken(1, "the buffer is too long".to_owned()))
    }
}

impl<'a> Archive<'a> {
    fn parse(text: &'a str) -> Archive<'a> {
        let mut archive = Archive { fields: HashMap::new(), files: HashMap::new() };
        let mut current: Option<&str> = None;
        for line in text.split_inclusive('\n') {
            if let Some(name) = file_name(line) {
                archive.files.entry(name).or_default();
                current = Some(name);
            } else if let Some(file) = current.and_then(|name| archive.files.get_mut(name)) {
                file.push_str(line);
            } else if let Some((name, value)) = line.split_once(':') {
                archive.fields.insert(name.trim(), value.trim());
            }
        }
        archive
    }

    /// Returns the cursors as 1-based line and column in bytes: that of engines that insert, otherwise the editor's, and further ones.
    fn cursors(&self) -> Result<Vec<(usize, usize)>, String> {
        let number = |name: &str| -> Result<Option<usize>, String> {
            let Some(value) = self.fields.get(name) else { return Ok(None) };
            value.parse().map(Some).map_err(|_| format!("the {name} {value:?} is no number"))
        };
        let inserting = number("fim-row")?.filter(|&row| row > 0).zip(number("fim-col")?);
        let first = match inserting {
            Some(cursor) => cursor,
            None => (number("row")?.unwrap_or(1), number("col")?.unwrap_or(0)),
        };
        let mut cursors = vec![first];
        let further = self.fields.get("cursor-positions").copied().unwrap_or_default();
        for position in further.split(',').map(str::trim).filter(|position| !position.is_empty()) {
            let parts = position
                .split_once(':')
                .and_then(|(row, col)| Some((row.trim().parse().ok()?, col.trim().parse().ok()?)));
            cursors.push(parts.ok_or_else(|| format!("the cursor {position:?} is not LINE:COLUMN"))?);
        }
        if cursors.len() > MAX_CURSORS || cursors.iter().any(|&(row, _)| row == 0) {
            return Err(format!("lines of cursors count from 1, and there are at most {MAX_CURSORS}"));
        }
        Ok(cursors)
    }
}

/// Returns the name in a line `-- NAME --`.
fn file_name(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("-- ")?.strip_suffix(" --").map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(header: &str, buffer: &str, expected: &str) -> String {
        format!(
            "What it is about.\n{header}\n-- buffer.txt --\n{buffer}-- steps --\nwait\n-- expected --\n{expected}"
        )
    }

    fn only(text: &str) -> CursortabCase {
        let mut cases = cursortab_cases(text, "name").expect("a scenario");
        assert_eq!(cases.len(), 1);
        cases.remove(0)
    }

    #[test]
    fn an_insertion_at_the_cursor_is_a_case() {
        let header = "id: log\nfile: src/a.ts\nrow: 2\ncol: 7\nfim-row: 2\nfim-col: 8";
        let text = scenario(header, "f();\n\tlog(\"a\")\nend\n", "f();\n\tlog(\"a\", b)\nend\n");
        let case = only(&text).case().expect("a case");
        assert_eq!((case.prefix.as_str(), case.truth.as_str()), ("f();\n\tlog(\"a\"", ", b"));
        assert_eq!((case.path.as_str(), case.language.as_str()), ("src/a.ts", "typescript"));
        assert_eq!(case.origin.benchmark_id.as_deref(), Some("log"));
    }

    #[test]
    fn an_unchanged_buffer_asks_for_silence() {
        let case = only(&scenario("language: go\nrow: 1\ncol: 1", "a\n", "a\n")).case().expect("a case");
        assert_eq!((case.truth.as_str(), case.task, case.path.as_str()), ("", Task::EMPTY, "eval.go"));
        assert_eq!(case.origin.benchmark_id.as_deref(), Some("name"));
    }

    #[test]
    fn steps_without_a_suggestion_ask_for_silence() {
        let text = "file: a.py\nrow: 1\ncol: 1\n-- buffer.txt --\na\n-- steps --\nrequest-completion\n  expect !shown suppressed\n";
        assert_eq!(only(text).case().expect("a case").task, Task::EMPTY);
        let shown = text.replace("!shown", "shown");
        assert!(matches!(cursortab_cases(&shown, "name"), Err(UnusableItem::LeftOut(_))));
    }

    #[test]
    fn each_cursor_is_a_case_of_its_own() {
        let text = scenario("file: a.py\nrow: 1\ncol: 0\ncursor-positions: 2:0, 2:1", "a\nb\n", "a\nxb\n");
        let cases = cursortab_cases(&text, "name").expect("scenarios");
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["name@L1", "name@L2", "name@L2"]);
        let found = cases.iter().map(|case| case.case().map(|case| case.truth));
        let left_out = || Err(UnusableItem::LeftOut(NO_INSERTION));
        assert_eq!(found.collect::<Vec<_>>(), [left_out(), Ok("x".to_owned()), left_out()]);
    }

    #[test]
    fn broken_scenarios_are_reported() {
        let reason = |text: &str| {
            let read = cursortab_cases(text, "name");
            read.and_then(|cases| cases.iter().try_for_each(|case| case.case().map(drop)))
                .expect_err("not usable")
        };
        let broken = |text: &str| UnusableItem::Broken(1, text.to_owned());
        assert_eq!(reason("id: a\n"), broken("there is no `-- buffer.txt --`"));
        assert!(matches!(reason("-- buffer.txt --\na\n"), UnusableItem::LeftOut(_)));
        let outside = broken("the path \"../a.py\" is not a path inside of the repository");
        assert_eq!(reason(&scenario("file: ../a.py", "a\n", "a\n")), outside);
        let cursor = broken("the cursor 9:0 is outside of the buffer");
        assert_eq!(reason(&scenario("file: a.py\nrow: 9", "a\n", "a\n")), cursor);
        assert_eq!(
            reason(&scenario("file: a.py\nrow: x", "a\n", "a\n")),
            broken("the row \"x\" is no number")
        );
        assert!(matches!(reason(&scenario("file: a.txt", "a\n", "a\n")), UnusableItem::Broken(1, _)));
    }
}
