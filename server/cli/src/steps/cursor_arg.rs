//! Resolves a position in a file of the workspace.
//!
//! Columns count characters (Unicode scalar values) from 1, as rustc, Python and most editors do. Errors name the valid range.

use std::path::{Path, PathBuf};

use syntax::SourceFile;
use text::{Document, Position, PositionEncoding};
use workspace::{ReadLimits, SkippedPath};

use crate::args::CursorArg;
use crate::exit::UsageError;
use crate::output::{self, count};

/// Returns the workspace's file at a path relative to the current folder or to the workspace's root.
pub(crate) fn find_file(workspace: &Path, path: &Path) -> Result<SourceFile, UsageError> {
    let (shown, root) = (output::path(path), output::path(workspace));
    let named = [path.to_owned(), workspace.join(path)];
    let named: Vec<PathBuf> = named.iter().filter_map(|path| path.canonicalize().ok()).collect();
    if named.is_empty() {
        return Err(UsageError(format!("{shown} does not exist (workspace {root}); {FILE_REMEDY}")));
    }
    let folder = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let Some((path, inner)) = named.iter().find_map(|path| Some((path, path.strip_prefix(&folder).ok()?)))
    else {
        return Err(UsageError(format!(
            "{shown} is outside of the workspace {root}; name its folder with --workspace"
        )));
    };
    if path.is_dir() {
        return Err(UsageError(format!("{shown} is a folder; name a file in it")));
    }
    workspace::read_file(&folder, &with_slashes(inner), &ReadLimits::standard()).map_err(|skipped| {
        let SkippedPath { reason, error, .. } = skipped;
        let error = error.map(|error| format!(": {error}")).unwrap_or_default();
        let reason = reason.name();
        UsageError(format!("{shown} is not an indexed source file ({reason}{error}); {FILE_REMEDY}"))
    })
}

/// Remedy for a file that is not indexed.
const FILE_REMEDY: &str = "name a code file in the folder, or another folder with --workspace";

/// Returns a relative path with slashes, as in the index.
fn with_slashes(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Returns the position as a byte offset of the text.
pub(crate) fn cursor_offset(place: &CursorArg, text: &str) -> Result<usize, UsageError> {
    let document = Document::new(text);
    let position = Position { line: place.line - 1, character: place.column - 1 };
    // A document maps a position behind the end of a line to that end.
    let is_there = |offset: &usize| document.position(*offset, PositionEncoding::Utf32) == Some(position);
    if let Some(offset) = document.offset(position, PositionEncoding::Utf32).filter(is_there) {
        return Ok(offset);
    }
    let path = output::path(&place.path);
    let line = document.line(place.line as usize - 1).and_then(|range| document.slice(range));
    let message = match line {
        Some(line) => {
            let columns = line.trim_end_matches(['\r', '\n']).chars().count() + 1;
            format!("line {} of {path} has {}; choose one of them", place.line, count(columns, "column"))
        }
        None => format!("{path} has {}; choose one of them", count(document.line_count(), "line")),
    };
    Err(UsageError(message))
}
