//! A pause of the recording of a workspace's trial: a file in its folder for trials that contains the time at which the pause ends.
//!
//! The file outlives servers, and counts for all of them, so that no window records during a pause. A file that
//! cannot be read pauses the recording as well.
#![expect(clippy::disallowed_methods, reason = "the file of a pause is read and written here")]

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thiserror::Error;

/// Name of the file. It contains one time in RFC 3339.
const FILE: &str = "paused-until";

/// A pause that cannot be read, begun or ended.
#[derive(Debug, Error)]
pub enum PauseError {
    /// The file cannot be read, or does not contain a time.
    #[error("{}: {reason}; delete the file to resume recording", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file cannot be written or deleted.
    #[error("cannot change {}: {reason}; check its permissions and the free space", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
}

/// Returns when the pause of a folder for trials ends; `None` if recording is not paused at `now`.
///
/// # Errors
/// The file cannot be read. Nothing must be recorded then.
pub fn paused_until(folder: &Path, now: SystemTime) -> Result<Option<SystemTime>, PauseError> {
    let path = folder.join(FILE);
    let unreadable = |reason: String| PauseError::Unreadable { path: path.clone(), reason };
    let text = match fs::read_to_string(&path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|reason| unreadable(reason.to_string()))?,
    };
    let until = humantime::parse_rfc3339(text.trim()).map_err(|reason| unreadable(reason.to_string()))?;
    Ok(Some(until).filter(|until| *until > now))
}

/// Pauses the recording until a time.
///
/// # Errors
/// The file cannot be written.
pub fn pause(folder: &Path, until: SystemTime) -> Result<(), PauseError> {
    let path = folder.join(FILE);
    let text = format!("{}\n", humantime::format_rfc3339_seconds(until));
    let written = private_files::own_folder(folder);
    let written = written.and_then(|()| private_files::write_atomically(&path, text.as_bytes()));
    written.map_err(|reason| PauseError::Write { path, reason })
}

/// Ends a pause, if there is one.
///
/// # Errors
/// The file cannot be deleted.
pub fn resume(folder: &Path) -> Result<(), PauseError> {
    let path = folder.join(FILE);
    match fs::remove_file(&path) {
        Err(reason) if reason.kind() != ErrorKind::NotFound => Err(PauseError::Write { path, reason }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_pause_lasts_until_its_time_or_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let until = now + Duration::from_secs(60);
        assert_eq!(paused_until(folder, now).expect("readable"), None);
        resume(folder).expect("there is nothing to end");
        pause(folder, until).expect("written");
        assert_eq!(paused_until(folder, now).expect("readable"), Some(until));
        assert_eq!(paused_until(folder, until).expect("readable"), None, "it is over");
        resume(folder).expect("deleted");
        assert_eq!(paused_until(folder, now).expect("readable"), None);
    }

    #[test]
    fn an_unreadable_pause_is_an_error_with_its_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in ["", "tomorrow", "\u{feff}2026-01-01T00:00:00Z"] {
            fs::write(folder.path().join(FILE), text).expect("the folder is ours");
            let error = paused_until(folder.path(), SystemTime::UNIX_EPOCH).expect_err(text).to_string();
            assert!(error.contains(FILE) && error.contains("delete the file"), "{error}");
        }
    }
}
