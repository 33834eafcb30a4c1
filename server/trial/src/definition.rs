//! The file of a workspace's trial: `trial.json` in its folder for trials. Earlier trials are `trial-1.json`, `trial-2.json` and so on.
//!
//! A workspace's own files cannot start a trial, because a trial may send code to engines.
#![expect(clippy::disallowed_methods, reason = "the file of a trial is read and written here")]

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cases::{ParseError, TrialDefinition, parse_document, to_document};
use thiserror::Error;

/// Name of the file.
const FILE: &str = "trial.json";

/// Earlier trials of a workspace that are kept; the limit only ends the search for a name.
const MAX_EARLIER: u32 = 10_000;

/// A definition that cannot be read or written.
#[derive(Debug, Error)]
pub enum DefinitionError {
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// The file is invalid.
    #[error("{}: {reason}; start a new trial after removing the file", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The place and the reason.
        reason: ParseError,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {reason}; check its permissions and the free space", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
}

/// Returns the running or last trial of a folder for trials; `None` if there was none.
///
/// # Errors
/// The file cannot be read or is invalid.
pub fn read_definition(folder: &Path) -> Result<Option<TrialDefinition>, DefinitionError> {
    read(&folder.join(FILE))
}

fn read(path: &Path) -> Result<Option<TrialDefinition>, DefinitionError> {
    let text = match fs::read_to_string(path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|reason| DefinitionError::Read { path: path.to_owned(), reason })?,
    };
    let parsed = parse_document(&text);
    parsed.map(Some).map_err(|reason| DefinitionError::Parse { path: path.to_owned(), reason })
}

/// Returns all trials of a folder, oldest first, the running or last one at the end.
///
/// # Errors
/// A file cannot be read or is invalid.
pub fn read_definitions(folder: &Path) -> Result<Vec<TrialDefinition>, DefinitionError> {
    let mut all = Vec::new();
    for number in 1..=MAX_EARLIER {
        match read(&earlier(folder, number))? {
            Some(definition) => all.push(definition),
            None => break,
        }
    }
    all.extend(read_definition(folder)?);
    Ok(all)
}

/// Writes the definition. One of another name becomes an earlier trial.
///
/// # Errors
/// The present file is invalid, or the new one cannot be written.
pub fn write_definition(folder: &Path, definition: &TrialDefinition) -> Result<(), DefinitionError> {
    let path = folder.join(FILE);
    let failed = |reason| DefinitionError::Write { path: path.clone(), reason };
    private_files::own_folder(folder).map_err(failed)?;
    if read_definition(folder)?.is_some_and(|before| before.name != definition.name) {
        let name = (1..=MAX_EARLIER).map(|number| earlier(folder, number)).find(|name| !name.exists());
        let name = name.ok_or_else(|| failed(io::Error::other("too many earlier trials")))?;
        fs::rename(&path, name).map_err(failed)?;
    }
    private_files::write_atomically(&path, to_document(definition).as_bytes()).map_err(failed)
}

fn earlier(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("trial-{number}.json"))
}

#[cfg(test)]
mod tests {
    use cases::TrialMode;

    use super::*;

    fn definition(name: &str) -> TrialDefinition {
        let started_at = "2026-01-01T00:00:00Z".to_owned();
        TrialDefinition::new(name.to_owned(), TrialMode::Single, Vec::new(), started_at)
    }

    #[test]
    fn earlier_trials_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read_definition(folder.path()).expect("readable"), None);
        for name in ["a", "a", "b", "c"] {
            write_definition(folder.path(), &definition(name)).expect("written");
        }
        let names: Vec<String> =
            read_definitions(folder.path()).expect("readable").into_iter().map(|trial| trial.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        fs::write(folder.path().join(FILE), "{\n").expect("written");
        let error = read_definition(folder.path()).expect_err("invalid").to_string();
        assert!(error.contains("trial.json: line") && error.contains("after removing the file"), "{error}");
    }
}
