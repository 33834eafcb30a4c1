//! Finds the file of a request among the files of a workspace, with the unsaved state of those that are open.
//!
//! Responsible for a bound: a request searches at most [`MAX_SEARCHED_BYTES`] and compares at most [`MAX_COMPARED`] files.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use stored::SharedText;

use crate::find_cursor::{FoundCursor, Surroundings, find_in_file, most_certain, search_lines};
use crate::routes::FillRequest;

/// Most bytes of files that are searched for a request: a search of 256 MB takes some tens of milliseconds.
const MAX_SEARCHED_BYTES: usize = 256 << 20;
/// Most files that are compared line by line.
const MAX_COMPARED: usize = 16;
/// Lines above and below the cursor that are searched in files.
const SEARCH_LINES: usize = 4;
/// Longest text around a cursor in bytes. Plugins send some hundred lines.
const MAX_AROUND_BYTES: usize = 1 << 20;

/// A file in which a request may be.
#[derive(Clone, Debug)]
pub(crate) struct SearchedFile {
    /// Index of its folder.
    pub(crate) folder: usize,
    /// Path in the folder, with `/`.
    pub(crate) path: Arc<str>,
    /// Its text: that of the open document, or the saved one.
    pub(crate) text: SharedText,
}

/// The place of a request.
#[derive(Clone, Debug)]
pub(crate) struct FoundPlace {
    /// Index of the folder.
    pub(crate) folder: usize,
    /// Path in the folder.
    pub(crate) path: Arc<str>,
    /// The document at the request, with the line ends of the file.
    pub(crate) text: String,
    /// The cursor in it, in bytes.
    pub(crate) offset: usize,
}

/// Returns the place of a request; `None` if it is in no file, or may be in several.
pub(crate) fn search(fill: &FillRequest, files: &[SearchedFile]) -> Option<FoundPlace> {
    if fill.prefix.len() + fill.suffix.len() > MAX_AROUND_BYTES {
        return None;
    }
    let (prefix, suffix) = (with_lf(&fill.prefix), with_lf(&fill.suffix));
    let around = Surroundings { prefix: &prefix, suffix: &suffix };
    let named = fill.path.as_deref().map(|path| named_files(files, path)).unwrap_or_default();
    let candidates = if named.is_empty() { likely_files(around, files) } else { named };
    let found = candidates.into_iter().take(MAX_COMPARED).filter_map(|file| {
        let text = with_lf(&file.text);
        Some((file, find_in_file(around, &text)?))
    });
    let (file, found) = most_certain(found.collect())?;
    Some(place(file, found))
}

/// Returns the files that a plugin may mean by this path: those whose path is the longest end of it, or all that end with it.
fn named_files<'a>(files: &'a [SearchedFile], path: &str) -> Vec<&'a SearchedFile> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let is_end = |whole: &str, end: &str| {
        whole.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let within: Vec<&SearchedFile> = files.iter().filter(|file| is_end(path, &file.path)).collect();
    match within.iter().map(|file| file.path.len()).max() {
        Some(longest) => within.into_iter().filter(|file| file.path.len() == longest).collect(),
        None => files.iter().filter(|file| is_end(&file.path, path)).collect(),
    }
}

/// Returns the files that contain lines near the cursor, those with the most lines first.
fn likely_files<'a>(around: Surroundings<'_>, files: &'a [SearchedFile]) -> Vec<&'a SearchedFile> {
    let whole = [around.prefix, around.suffix].concat();
    let mut lines = search_lines(around, SEARCH_LINES);
    if lines.is_empty() {
        lines.push(whole.trim());
    }
    let finders: Vec<memmem::Finder<'_>> = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| memmem::Finder::new(line.as_bytes()))
        .collect();
    let mut searched = 0;
    let mut likely: Vec<(usize, &SearchedFile)> = Vec::new();
    for file in files {
        searched += file.text.len() * finders.len();
        if searched > MAX_SEARCHED_BYTES {
            break;
        }
        let hits = finders.iter().filter(|finder| finder.find(file.text.as_bytes()).is_some()).count();
        if hits > 0 {
            likely.push((hits, file));
        }
    }
    // The order of equals is that of the files.
    likely.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    likely.into_iter().map(|(_, file)| file).collect()
}

fn place(file: &SearchedFile, found: FoundCursor) -> FoundPlace {
    let FoundCursor { text, offset, .. } = found;
    let (text, offset) = match file.text.contains("\r\n") {
        true => (text.replace('\n', "\r\n"), offset + text[..offset].matches('\n').count()),
        false => (text, offset),
    };
    FoundPlace { folder: file.folder, path: Arc::clone(&file.path), text, offset }
}

fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SearchedFile {
        SearchedFile { folder: 0, path: path.into(), text: text.into() }
    }

    fn fill(prefix: &str, suffix: &str, path: Option<&str>) -> FillRequest {
        FillRequest { prefix: prefix.to_owned(), suffix: suffix.to_owned(), path: path.map(str::to_owned) }
    }

    const A: &str = "def first(value):\n    return value\n\ndef second(value):\n    return 2 * value\n";

    #[test]
    fn the_file_with_the_lines_is_found_and_keeps_its_line_ends() {
        let files = [file("b.py", "def unrelated():\n    pass\n"), file("a.py", &A.replace('\n', "\r\n"))];
        let found = search(
            &fill("def first(value):\n    r = ", "\n    return value\n\ndef second(value):\n", None),
            &files,
        );
        let found = found.expect("it is found");
        assert_eq!((&*found.path, found.offset), ("a.py", 27));
        assert!(
            found.text.starts_with("def first(value):\r\n    r = \r\n    return value\r\n"),
            "{:?}",
            found.text
        );
    }

    #[test]
    fn a_named_file_is_preferred_to_its_copies() {
        let files = [file("a.py", A), file("copies/a.py", A)];
        let asked = |path| {
            search(&fill("def first(value):\n    return ", "value\n\ndef second(value):\n", path), &files)
        };
        assert!(asked(None).is_none(), "it may be either");
        for path in ["/w/copies/a.py", "copies/a.py", r"copies\a.py", "./copies/a.py"] {
            assert_eq!(asked(Some(path)).map(|found| found.path.to_string()).as_deref(), Some("copies/a.py"));
        }
    }

    #[test]
    fn texts_beyond_the_limit_are_not_searched() {
        assert!(search(&fill(&"x = 1\n".repeat(200_000), "", None), &[file("a.py", A)]).is_none());
    }
}
