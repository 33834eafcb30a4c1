//! Errors of loading a workspace. Each message names the path and the remedy.

use std::io;
use std::path::PathBuf;

use syntax::Language;
use thiserror::Error;

use crate::Skips;

/// Reason why a workspace cannot be loaded.
#[derive(Debug, Error)]
pub enum WorkspaceError {
    /// The path does not exist.
    #[error("no folder at {}; check the path", path.display())]
    Missing {
        /// The requested path.
        path: PathBuf,
    },
    /// The path is a file.
    #[error("{} is a file, not a folder; pass the folder that holds it", path.display())]
    NotAFolder {
        /// The requested path.
        path: PathBuf,
    },
    /// The folder cannot be listed.
    #[error("cannot read the folder {}; check its permissions", path.display())]
    Unreadable {
        /// The requested path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder's ignore file is a pipe or a device.
    #[error("an ignore file in {} is no regular file and cannot be read; remove it", path.display())]
    SpecialIgnoreFile {
        /// The folder with the ignore file.
        path: PathBuf,
    },
    /// The caller cancelled the load.
    #[error("reading {} was cancelled", path.display())]
    Cancelled {
        /// The requested path.
        path: PathBuf,
    },
    /// The folder is readable, but has no source files.
    #[error(
        "no source files under {} (skipped: {skips}); pass a folder with files in {}, or check .gitignore and .ghostbenchignore",
        path.display(),
        languages()
    )]
    NoSource {
        /// The requested path.
        path: PathBuf,
        /// Everything that was skipped.
        skips: Skips,
    },
}

fn languages() -> String {
    Language::ALL.map(Language::name).join(", ")
}
