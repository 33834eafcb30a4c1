//! Reasons why a cache cannot be opened or saved. Callers continue without it; the messages are for their logs.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reason why a workspace's cache cannot be used. Saving replaces it with a valid one.
#[derive(Debug, Error)]
pub enum CacheMiss {
    /// Nothing is saved yet, or the cache was evicted.
    #[error("nothing is cached")]
    Absent,
    /// The file cannot be read.
    #[error("cannot read the cache {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        reason: io::Error,
    },
    /// The file is not the workspace's cache.
    #[error("{} is not the workspace's cache", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the program wrote the file.
    #[error("the cache {} was written by another version ({found} instead of {wanted})", path.display())]
    Outdated {
        /// The file.
        path: PathBuf,
        /// Format found in the file.
        found: String,
        /// Expected format.
        wanted: String,
    },
    /// The file is corrupt.
    #[error("the cache {} is damaged: {damage}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Description of the damage.
        damage: &'static str,
    },
}

impl CacheMiss {
    /// Returns whether a cache existed that should have been usable, so that the user may want to know.
    pub fn is_loss(&self) -> bool {
        !matches!(self, CacheMiss::Absent)
    }
}

/// Reason why caches cannot be saved, listed or removed.
#[derive(Debug, Error)]
pub enum CacheError {
    /// The disk or the user's quota is full.
    #[error("no space for caches in {}; free some or run `ghostbench index --clear`", folder.display())]
    NoSpace {
        /// Cache folder.
        folder: PathBuf,
    },
    /// The folder is not writable.
    #[error("cannot write caches to {}: {reason}; check its permissions", folder.display())]
    NotWritable {
        /// Cache folder.
        folder: PathBuf,
        /// Error of the operating system.
        reason: io::Error,
    },
    /// A folder occupies the path of the workspace's cache.
    #[error("{} is a folder where the cache belongs; remove it", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The workspace alone exceeds the limit for all caches.
    #[error("the workspace needs more than the {limit} bytes that all caches may take")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Any other error.
    #[error("cannot use the folder of caches {}: {reason}", folder.display())]
    Failed {
        /// Cache folder.
        folder: PathBuf,
        /// Error of the operating system.
        reason: io::Error,
    },
}

impl CacheError {
    pub(crate) fn of(reason: io::Error, folder: &Path) -> CacheError {
        let folder = folder.to_owned();
        match reason.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => CacheError::NoSpace { folder },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                CacheError::NotWritable { folder, reason }
            }
            _ => CacheError::Failed { folder, reason },
        }
    }
}
