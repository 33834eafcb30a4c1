//! Problems of a store, with their remedies.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::ErrorCode;
use thiserror::Error;

/// A store that cannot be opened, read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder cannot be created, or the file in it.
    #[error("cannot write to {}: {reason}; check its permissions and the free space", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// There is no store.
    #[error("{} does not exist or is empty; nothing has been recorded in this workspace", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The format is newer than this build.
    #[error(
        "{} has store version {found}, and this ghostbench reads versions up to {known}; install the newer version, or move the file away",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that is known.
        known: i64,
    },
    /// The file is a database of another program.
    #[error("{} is a database of another program; move it away", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds a lock.
    #[error("{} is locked by another process for more than {} s; end that process, then restart", path.display(), waited.as_secs())]
    Locked {
        /// The file.
        path: PathBuf,
        /// Time after which the caller gave up.
        waited: Duration,
    },
    /// The file is damaged.
    #[error("{} is damaged: {reason}; the language server sets it aside when it starts", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The database's reason.
        reason: String,
    },
    /// The disk is full.
    #[error("the disk of {} is full; make room, then restart", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Texts were deleted from the tables, but another process prevents their removal from the file.
    #[error(
        "the rows are deleted, but {} is read by another process, so that their text may still be in the file; run the command again",
        path.display()
    )]
    StillInFile {
        /// The file.
        path: PathBuf,
    },
    /// A row cannot be read.
    #[error("{}: opportunity {id} cannot be read: {reason}; remove it with `ghostbench trial forget --id {id}`", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The row's id.
        id: String,
        /// The reason.
        reason: String,
    },
    /// Any other error of the database.
    #[error("{}: {reason}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The database's reason.
        reason: rusqlite::Error,
    },
}

/// Kinds of database errors that are handled differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorCategory {
    /// Another process holds a lock.
    Locked,
    /// The file is damaged, or no database.
    Corrupt,
    /// There is no space.
    Full,
    /// Anything else.
    Other,
}

/// Returns the kind of an error.
pub(super) fn category(error: &rusqlite::Error) -> ErrorCategory {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorCategory::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorCategory::Corrupt,
        Some(ErrorCode::DiskFull) => ErrorCategory::Full,
        _ => ErrorCategory::Other,
    }
}

impl StoreError {
    /// Wraps an error of the database at `path`; `waited` is the time for which locks were awaited.
    pub(super) fn of(path: &std::path::Path, reason: rusqlite::Error, waited: Duration) -> StoreError {
        let path = path.to_owned();
        match category(&reason) {
            ErrorCategory::Locked => StoreError::Locked { path, waited },
            ErrorCategory::Corrupt => StoreError::Corrupt { path, reason: reason.to_string() },
            ErrorCategory::Full => StoreError::Full { path },
            ErrorCategory::Other => StoreError::Database { path, reason },
        }
    }
}
