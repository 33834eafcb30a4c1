//! The files of a workspace: found on disk, read once, handed out as immutable snapshots.
//!
//! The only crate that reads workspace files. [`load`] walks a folder and gives a [`Snapshot`]; whatever it leaves out is
//! counted with a [`SkipReason`], so nothing disappears silently. A snapshot never changes: an open buffer or a hidden file
//! gives a new snapshot, in which the text on disk is simply absent. [`admits`] tells for a single path what the walk would do with it.
//!
//! A [`Follower`] keeps what it knows and takes in what changes: a walk that looks only at what changed, files that are read only
//! where their [`Stamp`] differs, and a snapshot that is the same as [`load`] would give at that moment. Who has no client that
//! tells what changes asks the system, with a [`Watcher`](watch::Watcher).
//!
//! ```text
//! paths ─► scope ─► walk (folders, names, stamps) ─► tree ─► read (contents, in parallel) ─► tree ─► Snapshot + Changes
//!   ▲                                                 └── skips, folders ──► watch
//!   └──────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! It never writes, never follows symbolic links and never leaves its root.

mod admits;
mod changes;
mod error;
mod folders;
mod follower;
mod git;
mod one_file;
mod open;
mod path_text;
mod read;
mod real_path;
mod scope;
mod secret_names;
mod skips;
mod snapshot;
mod stamp;
mod tree;
mod unwatched;
mod walk;
pub mod watch;

use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

pub use admits::{Admission, admits};
pub use changes::Changes;
pub use error::Error;
pub use follower::{Follower, Known};
pub use git::{GitState, git_state};
pub use one_file::read_file;
pub use path_text::path_text;
pub use real_path::{RealPath, real_path};
pub use secret_names::is_secret_like;
pub use skips::{SkipReason, Skipped, Skips};
pub use snapshot::{Snapshot, Totals};
pub use stamp::Stamp;
pub use walk::is_small;

/// The blake3 hash of a text.
pub type TextHash = [u8; 32];

/// How much of a workspace is read, and by how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest file that is read, bytes.
    pub file_bytes: u64,
    /// Longest line of a file that a person may have written, bytes.
    pub line_bytes: usize,
    /// All texts together, bytes; files beyond it are skipped in the order of their paths.
    pub total_bytes: u64,
    /// Threads for walking and reading; the result is the same for any number.
    pub threads: NonZeroUsize,
}

impl Limits {
    /// Hand-written files stay below 1 MiB; what is larger is generated tables, amalgamations and bundles, which dominate every
    /// count and take a parser seconds.
    pub const FILE_BYTES: u64 = 1 << 20;

    /// Lines of this length are bundled code or data, never something typed at a cursor.
    pub const LINE_BYTES: usize = 5_000;

    /// 1 GiB of source is more than any single workspace measured; the limit keeps a folder of checkouts from filling the memory.
    pub const TOTAL_BYTES: u64 = 1 << 30;

    /// The limits above on all cores.
    pub fn standard() -> Limits {
        Limits {
            file_bytes: Limits::FILE_BYTES,
            line_bytes: Limits::LINE_BYTES,
            total_bytes: Limits::TOTAL_BYTES,
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }
}

/// How far reading a workspace has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
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

/// Reads the source files under `root`. `progress` is called from several threads, once for each file.
pub fn load(root: &Path, limits: &Limits, progress: &(dyn Fn(Progress) + Sync)) -> Result<Snapshot, Error> {
    let snapshot = Follower::open(root, limits, [], progress)?.into_snapshot();
    check_source(root, &snapshot)?;
    Ok(snapshot)
}

/// An error that tells what was left out, where a folder holds no source at all.
pub fn check_source(root: &Path, snapshot: &Snapshot) -> Result<(), Error> {
    if snapshot.files().is_empty() {
        return Err(Error::NoSource { path: root.to_owned(), skips: snapshot.skips().clone() });
    }
    Ok(())
}

/// Finds out why a folder cannot be walked, before the walk hides it among its skips. Waits for the disk, for one folder.
pub fn check_folder(root: &Path) -> Result<(), Error> {
    match std::fs::read_dir(root) {
        Ok(_) => check_rules(root),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::Missing { path: root.to_owned() })
        }
        Err(_) if root.is_file() => Err(Error::NotAFolder { path: root.to_owned() }),
        Err(source) => Err(Error::Unreadable { path: root.to_owned(), source }),
    }
}

/// The rules of the root, and of the repository that it lies in, have to be readable before a walk begins.
fn check_rules(root: &Path) -> Result<(), Error> {
    let above = walk::is_in_git_repository(root).then(|| root.ancestors().skip(1));
    let mut folders = above.into_iter().flatten().chain([root]);
    let odd = folders.find(|folder| walk::holds_odd_rules(folder));
    odd.map_or(Ok(()), |folder| Err(Error::OddRules { path: folder.to_owned() }))
}
