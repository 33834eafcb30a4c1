//! Who tells of changes in a folder: the client, the system, or nobody, so that one has to look.
//!
//! A client is believed once it has agreed to tell; until then, and where it refuses, the system tells. A folder that nobody tells of, or
//! that cannot be read, is looked at at intervals. What no watcher sees is looked at at intervals everywhere: a few paths often, and
//! everything rarely.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indexer::Indexer;
use tokio::sync::watch::Receiver;
use workspace::watcher::{WatchError, WatchEvent, Watcher};

use crate::indexing::RefreshScope;
use crate::server::Server;
use crate::workspace_folders::Folder;

/// One looks so often at most; a folder that comes back is noticed after this time.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// Looking takes at most a twentieth of the time: a look at everything takes a second for a million lines at worst, and much more where
/// the disk is far away.
const SCAN_PAUSE_FACTOR: u32 = 20;
/// Where changes are reported, everything is looked at so often all the same: files may have got names outside of the folder.
const WATCHED_SCAN_INTERVAL: Duration = Duration::from_secs(30);
/// These looks take at most a hundredth of the time.
const WATCHED_SCAN_PAUSE_FACTOR: u32 = 100;

/// Why to look without having been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakeReason {
    /// It is time to look at everything.
    FullScan,
    /// It is time to look at what no watcher sees.
    Poll,
    /// The client has agreed to tell: hearing has to begin anew, and what happened before may have been told to nobody.
    Restart,
}

/// Hearing of changes in a folder.
pub(super) struct FolderWatcher {
    server: Server,
    folder: Arc<Folder>,
    /// Whether the client tells.
    client_watches: Receiver<bool>,
    system_watcher: Option<Watcher>,
    /// Whether nobody tells.
    scans_instead: bool,
    /// When to look at everything without having been told.
    next_scan: Option<Instant>,
    /// When to look at what no watcher sees.
    next_poll: Option<Instant>,
    /// Whether the folder was gone when hearing was to begin.
    was_missing: bool,
    was_warned: bool,
}

impl FolderWatcher {
    /// Of a folder that is about to be read: nothing that happens from now on is missed once [`FolderWatcher::begin`] was called.
    pub(super) fn new(server: &Server, folder: &Arc<Folder>) -> FolderWatcher {
        FolderWatcher {
            server: server.clone(),
            folder: Arc::clone(folder),
            client_watches: server.client_watches.subscribe(),
            system_watcher: None,
            scans_instead: false,
            next_scan: None,
            next_poll: None,
            was_missing: false,
            was_warned: false,
        }
    }

    /// Begins to hear of what is known of the folder by now.
    pub(super) fn begin(&mut self, indexer: &Indexer) {
        self.stop();
        self.next_scan = Some(Instant::now() + WATCHED_SCAN_INTERVAL);
        self.next_poll = Some(Instant::now() + SCAN_INTERVAL);
        if *self.client_watches.borrow() {
            return;
        }
        let folder = Arc::clone(&self.folder);
        let told = move |told| match told {
            WatchEvent::Paths(paths) => folder.note_changed_paths(paths),
            WatchEvent::Everything => folder.note_unknown_changes(),
        };
        match Watcher::start(indexer.follower(), told) {
            Ok(watcher) => self.system_watcher = Some(watcher),
            Err(error) => self.scan_instead(&error),
        }
    }

    /// Hears of new folders too; to be called after each look that succeeded and took so long. Only a look at everything puts off the
    /// next one, or files that are saved all the time would keep it from ever coming.
    pub(super) fn follow_refresh(&mut self, indexer: &Indexer, look: &RefreshScope, took: Duration) {
        if self.was_missing {
            self.begin(indexer);
        } else if let Some(watcher) = &mut self.system_watcher
            && let Err(error) = watcher.follow(indexer.follower())
        {
            self.system_watcher = None;
            self.scan_instead(&error);
        }
        let (interval, pause) = if self.scans_instead {
            (SCAN_INTERVAL, SCAN_PAUSE_FACTOR)
        } else {
            (WATCHED_SCAN_INTERVAL, WATCHED_SCAN_PAUSE_FACTOR)
        };
        match look {
            RefreshScope::Everything => self.next_scan = Some(Instant::now() + interval.max(took * pause)),
            RefreshScope::Unwatched => {
                self.next_poll = Some(Instant::now() + SCAN_INTERVAL.max(took * SCAN_PAUSE_FACTOR))
            }
            RefreshScope::Paths(_) => {}
        }
    }

    /// Hears of nothing, and looks whether the folder can be read again.
    pub(super) fn wait_for_folder(&mut self) {
        self.stop();
        self.scans_instead = true;
        self.next_scan = Some(Instant::now() + SCAN_INTERVAL);
    }

    /// Waits until one has to look.
    pub(super) async fn next_wake(&mut self) -> WakeReason {
        let due = async |next: Option<Instant>| match next {
            Some(next) => tokio::time::sleep_until(next.into()).await,
            None => std::future::pending().await,
        };
        let (next_look, next_poll) = (self.next_scan, self.next_poll);
        tokio::select! {
            () = due(next_look) => WakeReason::FullScan,
            () = due(next_poll) => WakeReason::Poll,
            // It fails when the server ends.
            Ok(()) = self.client_watches.changed() => WakeReason::Restart,
        }
    }

    fn stop(&mut self) {
        self.system_watcher = None;
        self.scans_instead = false;
        self.next_scan = None;
        self.next_poll = None;
        self.was_missing = false;
    }

    fn scan_instead(&mut self, error: &WatchError) {
        self.scans_instead = true;
        self.next_scan = Some(Instant::now() + SCAN_INTERVAL);
        self.was_missing = matches!(error, WatchError::Missing { .. });
        // What the next look finds is told then.
        if !self.was_missing && !std::mem::replace(&mut self.was_warned, true) {
            self.server.warn(format!("{}: {error}; looking for changes at intervals", self.folder.name));
        }
    }
}
