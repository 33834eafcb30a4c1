//! Why there is nothing to open, and why nothing could be saved. Callers go on without; the messages are for their logs.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a workspace's cache is of no use. Saving puts a good one in its place.
#[derive(Debug, Error)]
pub enum Miss {
    /// Nothing was saved yet, or it was evicted.
    #[error("nothing is cached")]
    Absent,
    /// The system does not let it be read.
    #[error("cannot read the cache {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// Something else has its name.
    #[error("{} is not the workspace's cache", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the program has written it.
    #[error("the cache {} was written by another version ({found} instead of {wanted})", path.display())]
    Outdated {
        /// The file.
        path: PathBuf,
        /// The format that it is in.
        found: String,
        /// The format asked for.
        wanted: String,
    },
    /// It is not what was written.
    #[error("the cache {} is damaged: {damage}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        damage: &'static str,
    },
}

impl Miss {
    /// Whether there was something that should have been of use, so that a user may want to know.
    pub fn is_loss(&self) -> bool {
        !matches!(self, Miss::Absent)
    }
}

/// Why caches cannot be saved, listed or removed.
#[derive(Debug, Error)]
pub enum Error {
    /// The disk, or the user's share of it, is full.
    #[error("no space for caches in {}; free some or run `ghostbench index --clear`", folder.display())]
    NoSpace {
        /// The folder of the caches.
        folder: PathBuf,
    },
    /// The folder may not be written to.
    #[error("cannot write caches to {}: {reason}; check its permissions", folder.display())]
    NotWritable {
        /// The folder of the caches.
        folder: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// A folder has the name of the workspace's cache.
    #[error("{} is a folder where the cache belongs; remove it", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The workspace alone is more than all caches may take.
    #[error("the workspace needs more than the {limit} bytes that all caches may take")]
    TooLarge {
        /// The limit, bytes.
        limit: u64,
    },
    /// Anything else.
    #[error("cannot use the folder of caches {}: {reason}", folder.display())]
    Failed {
        /// The folder of the caches.
        folder: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
}

impl Error {
    pub(crate) fn of(reason: io::Error, folder: &Path) -> Error {
        let folder = folder.to_owned();
        match reason.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::NoSpace { folder },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Error::NotWritable { folder, reason }
            }
            _ => Error::Failed { folder, reason },
        }
    }
}
