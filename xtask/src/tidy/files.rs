//! The repository's text files: what git tracks and what it would add.

use std::fs;
use std::process::Command;

use anyhow::Result;
use xtask::process;

/// A text file.
pub(crate) struct File {
    /// Path relative to the repository root, with `/` between its parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// All text files; files that are no UTF-8, and files that are tracked but deleted, are left out.
pub(crate) fn read_all() -> Result<Vec<File>> {
    let mut git = Command::new("git");
    let listing =
        process::output(git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]))?;
    let paths = listing.split_terminator('\0');
    Ok(paths
        .filter_map(|path| Some(File { path: path.to_owned(), text: fs::read_to_string(path).ok()? }))
        .collect())
}

impl File {
    /// The file at a path, where it is one of them.
    pub(crate) fn find<'a>(files: &'a [File], path: &str) -> Option<&'a File> {
        files.iter().find(|file| file.path == path)
    }

    /// Its lines with their 1-based numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The 1-based line of a byte offset.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count() + 1
    }
}
