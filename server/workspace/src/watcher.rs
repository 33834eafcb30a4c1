//! Watches for changes if no client reports them.
//!
//! A [`Watcher`] reports paths with events; [`WorkspaceTracker::refresh`] finds out the actual change. It reads nothing and decides
//! nothing, so that a superfluous path costs a scan and never gives a wrong text. If the system reports no changes, or stops
//! reporting them, there is no watcher, and the caller has to scan at intervals.
//!
//! ```text
//!            ┌─────────── tell(ScanScope) ◄──────── Watcher ◄───────── system
//!            ▼                                    ▲
//!   wait until it is quiet ─► WorkspaceTracker::refresh ──┴─ Watcher::follow
//! ```

mod system_watcher;
#[cfg(unix)]
mod unix;

use std::path::PathBuf;

use thiserror::Error;

use crate::{ScanScope, WorkspaceTracker};
use system_watcher::SystemWatcher;

/// Reason why changes cannot be watched. The remedy is always to scan at intervals.
#[derive(Debug, Error)]
pub enum WatchError {
    /// The user's limit of watched folders is reached.
    #[error(
        "the system watches no more folders; raise its limits (on Linux fs.inotify.max_user_watches and \
         fs.inotify.max_user_instances)"
    )]
    TooMany,
    /// The file system does not report changes by other machines.
    #[error("{file_system} does not report changes made on other machines")]
    NoFileSystemEvents {
        /// The file system's name.
        file_system: &'static str,
    },
    /// The platform has no suitable method to watch folders.
    #[error("this platform does not report changes in folders")]
    Unsupported,
    /// The workspace's folder does not exist.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// Any other error.
    #[error("cannot watch {}: {reason}", path.display())]
    Failed {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
}

/// Reports changes until it is dropped.
#[derive(Debug)]
pub struct Watcher(SystemWatcher);

impl Watcher {
    /// Watches the folders of `follower`. `tell` is called from a thread of the watcher, once per event, and must not block;
    /// changes before the watch began are among the first reported.
    ///
    /// Watching folder by folder, as Linux does, takes 20 µs for each.
    pub fn start(
        follower: &WorkspaceTracker,
        tell: impl Fn(ScanScope) + Send + Sync + 'static,
    ) -> Result<Watcher, WatchError> {
        SystemWatcher::start(follower, tell).map(Watcher)
    }

    /// Watches the current folders of `follower`; must be called after each refresh. New folders are reported once they are
    /// watched, so that no change in them is missed. After an error, any part of the folders may be unwatched.
    pub fn follow(&mut self, follower: &WorkspaceTracker) -> Result<(), WatchError> {
        self.0.follow(follower)
    }
}
