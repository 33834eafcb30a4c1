//! Why a workspace cannot be loaded. Each message names the path and the remedy.

use std::io;
use std::path::PathBuf;

use syntax::Language;
use thiserror::Error;

use crate::Skips;

/// Why a workspace cannot be loaded.
#[derive(Debug, Error)]
pub enum Error {
    /// Nothing is there.
    #[error("no folder at {}; check the path", path.display())]
    Missing {
        /// The path asked for.
        path: PathBuf,
    },
    /// A file is there.
    #[error("{} is a file, not a folder; pass the folder that holds it", path.display())]
    NotAFolder {
        /// The path asked for.
        path: PathBuf,
    },
    /// The folder cannot be listed.
    #[error("cannot read the folder {}; check its permissions", path.display())]
    Unreadable {
        /// The path asked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Its ignore file is a pipe or a device.
    #[error("an ignore file in {} is no regular file and cannot be read; remove it", path.display())]
    OddRules {
        /// The folder that holds it.
        path: PathBuf,
    },
    /// The caller had enough.
    #[error("reading {} was cancelled", path.display())]
    Cancelled {
        /// The path asked for.
        path: PathBuf,
    },
    /// The folder is readable, but no file in it counts.
    #[error(
        "no source files under {} (skipped: {skips}); pass a folder with files in {}, or check .gitignore and .ghostbenchignore",
        path.display(),
        languages()
    )]
    NoSource {
        /// The path asked for.
        path: PathBuf,
        /// What was there instead.
        skips: Skips,
    },
}

fn languages() -> String {
    Language::ALL.map(Language::name).join(", ")
}
