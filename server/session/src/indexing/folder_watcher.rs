//! Selects the source of change events of a folder: the client, the system, or periodic scans.
//!
//! The client's events are used once it has agreed to send them; until then, and if it refuses, the system's watcher is used. A
//! folder without events, or one that cannot be read, is scanned periodically. Paths that no watcher reports are scanned in every
//! case: a few paths often, everything rarely.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch::Receiver;
use workspace::ScanScope;
use workspace::watcher::{WatchError, Watcher};

use crate::events::EventSender;
use crate::folder::Folder;
use crate::indexer::Indexer;
use crate::indexing::IndexingServices;

/// Interval of scans, at least; a folder that comes back is noticed after this time.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// Pause after a scan, as a multiple of its duration, so that scans take at most a twentieth of the time: a full scan takes up to
/// a second for a million lines, and much more on a remote disk.
const SCAN_PAUSE_FACTOR: u32 = 20;
/// Interval of full scans of a folder with events: its files may have hard links outside of the folder.
const WATCHED_SCAN_INTERVAL: Duration = Duration::from_secs(30);
/// Pause factor of these scans: they take at most a hundredth of the time.
const WATCHED_SCAN_PAUSE_FACTOR: u32 = 100;

/// Why a scan is due without an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakeReason {
    /// A full scan is due.
    FullScan,
    /// A scan of the unwatched paths is due.
    Poll,
    /// The client has agreed to send events: the watch must be restarted, since earlier events may be lost.
    Restart,
}

/// The watcher of a folder.
pub(super) struct FolderWatcher {
    folder: Arc<Folder>,
    events: EventSender,
    /// Whether the client sends events.
    client_watches: Receiver<bool>,
    system_watcher: Option<Watcher>,
    /// Whether scans replace events, because there are none.
    scans_instead: bool,
    /// Time of the next full scan.
    next_scan: Option<Instant>,
    /// Time of the next scan of the unwatched paths.
    next_poll: Option<Instant>,
    /// Whether the folder did not exist when the watch was to start.
    was_missing: bool,
    was_warned: bool,
}

impl FolderWatcher {
    /// Creates the watcher of a folder that is about to be read. No event from now on is missed if [`FolderWatcher::begin`] is called
    /// later.
    pub(super) fn new(services: &IndexingServices, folder: &Arc<Folder>) -> FolderWatcher {
        let mut client_watches = services.client_watches.clone();
        client_watches.mark_unchanged();
        FolderWatcher {
            folder: Arc::clone(folder),
            events: services.events.clone(),
            client_watches,
            system_watcher: None,
            scans_instead: false,
            next_scan: None,
            next_poll: None,
            was_missing: false,
            was_warned: false,
        }
    }

    /// Starts to watch the known paths of the folder.
    pub(super) fn begin(&mut self, indexer: &Indexer) {
        self.stop();
        self.next_scan = Some(Instant::now() + WATCHED_SCAN_INTERVAL);
        self.next_poll = Some(Instant::now() + SCAN_INTERVAL);
        if *self.client_watches.borrow() {
            return;
        }
        let folder = Arc::clone(&self.folder);
        match Watcher::start(indexer.tracker(), move |scope| folder.note_changes(scope)) {
            Ok(watcher) => self.system_watcher = Some(watcher),
            Err(error) => self.scan_instead(&error),
        }
    }

    /// Watches new folders too; call it after each successful scan, with its duration. Only a full scan postpones the next full
    /// scan, otherwise files that are saved all the time would postpone it for ever.
    pub(super) fn follow_refresh(&mut self, indexer: &Indexer, scope: &ScanScope, took: Duration) {
        if self.was_missing {
            self.begin(indexer);
        } else if let Some(watcher) = &mut self.system_watcher
            && let Err(error) = watcher.follow(indexer.tracker())
        {
            self.system_watcher = None;
            self.scan_instead(&error);
        }
        let (interval, pause) = if self.scans_instead {
            (SCAN_INTERVAL, SCAN_PAUSE_FACTOR)
        } else {
            (WATCHED_SCAN_INTERVAL, WATCHED_SCAN_PAUSE_FACTOR)
        };
        match scope {
            ScanScope::Everything => self.next_scan = Some(Instant::now() + interval.max(took * pause)),
            ScanScope::Unwatched => {
                self.next_poll = Some(Instant::now() + SCAN_INTERVAL.max(took * SCAN_PAUSE_FACTOR))
            }
            ScanScope::Paths(_) => {}
        }
    }

    /// Stops watching, and scans until the folder can be read again.
    pub(super) fn wait_for_folder(&mut self) {
        self.stop();
        self.scans_instead = true;
        self.next_scan = Some(Instant::now() + SCAN_INTERVAL);
    }

    /// Waits until a scan is due.
    pub(super) async fn next_wake(&mut self) -> WakeReason {
        let due = async |next: Option<Instant>| match next {
            Some(next) => tokio::time::sleep_until(next.into()).await,
            None => std::future::pending().await,
        };
        let (next_scan, next_poll) = (self.next_scan, self.next_poll);
        tokio::select! {
            () = due(next_scan) => WakeReason::FullScan,
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
        // The next scan covers changes until then.
        if !self.was_missing && !std::mem::replace(&mut self.was_warned, true) {
            self.events.warn(format!("{}: {error}; looking for changes at intervals", self.folder.name));
        }
    }
}
