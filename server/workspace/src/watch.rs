//! Hearing of changes where no client tells of them.
//!
//! A [`Watcher`] names paths at which something has happened; what it was, [`Follower::refresh`] finds out. It reads nothing and
//! decides nothing, so that a path too many costs a look and never a wrong text. Where the system tells of no changes, or of no more,
//! there is no watcher, and one has to look at intervals.
//!
//! ```text
//!            ┌─────────── tell(Told) ◄──────── Watcher ◄───────── system
//!            ▼                                    ▲
//!   wait until it is quiet ─► Follower::refresh ──┴─ Watcher::follow
//! ```

mod events;
#[cfg(unix)]
mod unix;

use std::path::PathBuf;

use thiserror::Error;

use crate::Follower;
use events::Events;

/// What a watcher tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Look at these paths, for [`Follower::refresh`].
    Paths(Vec<PathBuf>),
    /// Look at everything, for [`Follower::refresh_all`]: it was not noticed what has happened.
    Everything,
}

/// Why changes cannot be heard of. Each time the remedy is to look at intervals.
#[derive(Debug, Error)]
pub enum WatchError {
    /// The system watches no more folders for this user.
    #[error(
        "the system watches no more folders; raise its limits (on Linux fs.inotify.max_user_watches and \
         fs.inotify.max_user_instances)"
    )]
    TooMany,
    /// The file system does not tell of what others change in it.
    #[error("{file_system} does not tell of changes made on other machines")]
    Deaf {
        /// The file system's name.
        file_system: &'static str,
    },
    /// The platform has no way to watch folders that is of use here.
    #[error("this platform does not tell of changes in folders")]
    Unsupported,
    /// The workspace's folder is not there.
    #[error("{} is not there", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// Anything else.
    #[error("cannot watch {}: {reason}", path.display())]
    Failed {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

/// Tells of changes until it is dropped.
#[derive(Debug)]
pub struct Watcher(Events);

impl Watcher {
    /// Watches the folders that `follower` follows. `tell` is called from a thread of the watcher, once for each single event, and must
    /// not wait; what was missed until the watch began is among the first things told.
    ///
    /// Watching folder by folder, as Linux does, takes 20 µs for each.
    pub fn start(
        follower: &Follower,
        tell: impl Fn(Told) + Send + Sync + 'static,
    ) -> Result<Watcher, WatchError> {
        Events::start(follower, tell).map(Watcher)
    }

    /// Watches what `follower` follows by now; to be called after each refresh. New folders are told of once they are watched, so that
    /// nothing in them is missed. After an error not all are watched, and what is may be any part.
    pub fn follow(&mut self, follower: &Follower) -> Result<(), WatchError> {
        self.0.follow(follower)
    }
}
