//! The files of a workspace: found on disk, read once, provided as immutable snapshots.
//!
//! The only crate that reads workspace files. [`load`] walks a folder and returns a [`Snapshot`]; everything that it skips is
//! counted with a [`SkipReason`], so nothing disappears silently. A snapshot never changes. [`admission`] applies the walk's rules to a
//! single path.
//!
//! A [`WorkspaceTracker`] keeps its state between scans: it walks only the changed paths, reads only files whose [`DiskStamp`] differs, and
//! has the same snapshot as [`load`] would return at that moment. Without a client that reports changes, a
//! [`Watcher`](watcher::Watcher) gets them from the system.
//!
//! ```text
//! paths ─► scope ─► walk (folders, names, stamps) ─► tree ─► read (contents, in parallel) ─► tree ─► Snapshot + Changes
//!   ▲                                                 └── skips, folders ──► watch
//!   └──────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`GitHistory`] reads the commits of a repository and the files in them; [`HeadTracker`] reports when another commit is checked out.
//!
//! It never writes, never follows symbolic links and never leaves its root.

mod admission;
mod disk_stamp;
mod error;
mod git;
mod git_history;
mod head_tracker;
mod list_files;
mod open_regular;
mod path_text;
mod path_tree;
mod read_file;
mod read_files;
mod real_path;
mod scan_scope;
mod secret_names;
mod skipped_folders;
mod skips;
mod snapshot;
mod unwatched_paths;
mod walk;
mod walk_scope;
pub mod watcher;
mod workspace_changes;
mod workspace_tracker;

use std::path::Path;
use std::sync::Arc;

pub use admission::{Admission, DiskReader, admits};
pub use disk_stamp::DiskStamp;
pub use error::WorkspaceError;
pub use git::{GitState, git_state};
pub use git_history::{
    BlobChange, BlobText, Commit, CommitChanges, GitHistory, GitHistoryError, MAX_CHANGED_FILES,
};
pub use head_tracker::HeadTracker;
pub use list_files::{ListedFile, list_files};
pub use path_text::path_text;
pub use read_file::read_file;
pub use real_path::{RealPath, real_path};
pub use scan_scope::ScanScope;
pub use secret_names::is_secret_like;
pub use skips::{SkipReason, SkippedPath, Skips};
pub use snapshot::{Snapshot, Totals};
pub use walk::is_small;
pub use workspace_changes::WorkspaceChanges;
pub use workspace_tracker::{KnownFile, TextStore, WorkspaceTracker};

/// The blake3 hash of a text.
pub type TextHash = [u8; 32];

/// Limits of reading a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum size of a file, in bytes.
    pub file_bytes: u64,
    /// Maximum length of a line in hand-written code, in bytes.
    pub line_bytes: usize,
    /// Maximum size of all texts together, in bytes; files beyond it are skipped in the order of their paths.
    pub total_bytes: u64,
}

impl ReadLimits {
    /// Hand-written files are below 1 MiB; larger ones are generated tables, amalgamations and bundles, which dominate every
    /// count and take a parser seconds.
    pub const FILE_BYTES: u64 = 1 << 20;

    /// Lines of this length are bundled code or data, never typed at a cursor.
    pub const LINE_BYTES: usize = 5_000;

    /// 1 GiB of source is more than any single workspace measured; the limit keeps a folder of checkouts from filling the memory.
    pub const TOTAL_BYTES: u64 = 1 << 30;

    /// Returns the limits above.
    pub fn standard() -> ReadLimits {
        ReadLimits {
            file_bytes: ReadLimits::FILE_BYTES,
            line_bytes: ReadLimits::LINE_BYTES,
            total_bytes: ReadLimits::TOTAL_BYTES,
        }
    }
}

/// Progress of reading a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// Folders are being walked.
    Walking {
        /// Files found so far, source or not.
        found: usize,
    },
    /// Files are being read.
    Reading {
        /// Files read so far.
        read: usize,
        /// Files to read.
        total: usize,
    },
}

/// Reads the source files under `root`, on the current rayon pool. `progress` is called from several threads, once for each file.
pub fn load(
    root: &Path,
    limits: &ReadLimits,
    progress: &(dyn Fn(LoadProgress) + Sync),
) -> Result<Snapshot, WorkspaceError> {
    let snapshot = WorkspaceTracker::open(root, limits, [], progress)?.into_snapshot();
    check_source(root, &snapshot)?;
    Ok(snapshot)
}

/// Reads the source files in some directories, relative to `root`, and below them. For them the result is that of [`load`], except for
/// the languages of headers, which depend on all files.
pub fn load_directories(
    root: &Path,
    limits: &ReadLimits,
    directories: &[Arc<str>],
) -> Result<Snapshot, WorkspaceError> {
    Ok(WorkspaceTracker::open_directories(root, limits, directories)?.into_snapshot())
}

/// Checks that the workspace has source files; the error lists everything that was skipped.
pub fn check_source(root: &Path, snapshot: &Snapshot) -> Result<(), WorkspaceError> {
    if snapshot.files().is_empty() {
        return Err(WorkspaceError::NoSource { path: root.to_owned(), skips: snapshot.skips().clone() });
    }
    Ok(())
}

/// Checks that a folder can be walked, since the walk itself would only count it as skipped. Waits for the disk, for one folder.
pub fn check_folder(root: &Path) -> Result<(), WorkspaceError> {
    match std::fs::read_dir(root) {
        Ok(_) => check_rules(root),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(WorkspaceError::Missing { path: root.to_owned() })
        }
        Err(_) if root.is_file() => Err(WorkspaceError::NotAFolder { path: root.to_owned() }),
        Err(source) => Err(WorkspaceError::Unreadable { path: root.to_owned(), source }),
    }
}

/// Checks that the ignore files of the root, and of the repository around it, are readable before a walk begins.
fn check_rules(root: &Path) -> Result<(), WorkspaceError> {
    let above = walk::is_in_git_repository(root).then(|| root.ancestors().skip(1));
    let mut folders = above.into_iter().flatten().chain([root]);
    let odd = folders.find(|folder| walk::has_special_ignore_file(folder));
    odd.map_or(Ok(()), |folder| Err(WorkspaceError::SpecialIgnoreFile { path: folder.to_owned() }))
}
