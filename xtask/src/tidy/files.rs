//! The repository's text files, tracked or untracked but not ignored.

use std::fs;
use std::process::Command;

use anyhow::Result;
use xtask::process;

/// A text file.
pub(crate) struct TextFile {
    /// Path relative to the repository root, with `/` between its parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Reads all text files; skips files that are not UTF-8, and tracked files that are deleted.
pub(crate) fn read_all() -> Result<Vec<TextFile>> {
    let mut git = Command::new("git");
    let listing =
        process::output(git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]))?;
    let paths = listing.split_terminator('\0');
    Ok(paths
        .filter_map(|path| Some(TextFile { path: path.to_owned(), text: fs::read_to_string(path).ok()? }))
        .collect())
}

impl TextFile {
    /// Returns the file at a path.
    pub(crate) fn find<'a>(files: &'a [TextFile], path: &str) -> Option<&'a TextFile> {
        files.iter().find(|file| file.path == path)
    }

    /// Returns its lines with their 1-based numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Returns the 1-based line of a byte offset.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count() + 1
    }
}
