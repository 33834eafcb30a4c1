//! Who tells of changes in a folder: the client, the system, or nobody, so that one has to look.
//!
//! A client is believed once it has agreed to tell; until then, and where it refuses, the system tells. A folder that nobody tells of, or
//! that cannot be read, is looked at at intervals. What no watcher sees is looked at at intervals everywhere: a few paths often, and
//! everything rarely.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indexer::Indexer;
use tokio::sync::watch::Receiver;
use workspace::watch::{Told, WatchError, Watcher};

use crate::folders::Folder;
use crate::indexing::Look;
use crate::server::Server;

/// One looks so often at most; a folder that comes back is noticed after this time.
const INTERVAL: Duration = Duration::from_secs(2);
/// Looking takes at most a twentieth of the time: a look at everything takes a second for a million lines at worst, and much more where
/// the disk is far away.
const PAUSE: u32 = 20;
/// Where changes are reported, everything is looked at so often all the same: files may have got names outside of the folder.
const RARE_INTERVAL: Duration = Duration::from_secs(30);
/// These looks take at most a hundredth of the time.
const RARE_PAUSE: u32 = 100;

/// Why to look without having been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It is time to look at everything.
    Look,
    /// It is time to look at what no watcher sees.
    Poll,
    /// The client has agreed to tell: hearing has to begin anew, and what happened before may have been told to nobody.
    Begin,
}

/// Hearing of changes in a folder.
pub(super) struct Watching {
    server: Server,
    folder: Arc<Folder>,
    /// Whether the client tells.
    client: Receiver<bool>,
    system: Option<Watcher>,
    /// Whether nobody tells.
    looks_instead: bool,
    /// When to look at everything without having been told.
    next_look: Option<Instant>,
    /// When to look at what no watcher sees.
    next_poll: Option<Instant>,
    /// Whether the folder was gone when hearing was to begin.
    was_missing: bool,
    was_warned: bool,
}

impl Watching {
    /// Of a folder that is about to be read: nothing that happens from now on is missed once [`Watching::begin`] was called.
    pub(super) fn new(server: &Server, folder: &Arc<Folder>) -> Watching {
        Watching {
            server: server.clone(),
            folder: Arc::clone(folder),
            client: server.client_watches.subscribe(),
            system: None,
            looks_instead: false,
            next_look: None,
            next_poll: None,
            was_missing: false,
            was_warned: false,
        }
    }

    /// Begins to hear of what is known of the folder by now.
    pub(super) fn begin(&mut self, indexer: &Indexer) {
        self.stop();
        self.next_look = Some(Instant::now() + RARE_INTERVAL);
        self.next_poll = Some(Instant::now() + INTERVAL);
        if *self.client.borrow() {
            return;
        }
        let folder = Arc::clone(&self.folder);
        let told = move |told| match told {
            Told::Paths(paths) => folder.note(paths),
            Told::Everything => folder.note_everything(),
        };
        match Watcher::start(indexer.follower(), told) {
            Ok(watcher) => self.system = Some(watcher),
            Err(error) => self.look_instead(&error),
        }
    }

    /// Hears of new folders too; to be called after each look that succeeded and took so long. Only a look at everything puts off the
    /// next one, or files that are saved all the time would keep it from ever coming.
    pub(super) fn follow(&mut self, indexer: &Indexer, look: &Look, took: Duration) {
        if self.was_missing {
            self.begin(indexer);
        } else if let Some(watcher) = &mut self.system
            && let Err(error) = watcher.follow(indexer.follower())
        {
            self.system = None;
            self.look_instead(&error);
        }
        let (interval, pause) =
            if self.looks_instead { (INTERVAL, PAUSE) } else { (RARE_INTERVAL, RARE_PAUSE) };
        match look {
            Look::Everything => self.next_look = Some(Instant::now() + interval.max(took * pause)),
            Look::Unwatched => self.next_poll = Some(Instant::now() + INTERVAL.max(took * PAUSE)),
            Look::Paths(_) => {}
        }
    }

    /// Hears of nothing, and looks whether the folder can be read again.
    pub(super) fn wait_for_folder(&mut self) {
        self.stop();
        self.looks_instead = true;
        self.next_look = Some(Instant::now() + INTERVAL);
    }

    /// Waits until one has to look.
    pub(super) async fn next(&mut self) -> Next {
        let due = async |next: Option<Instant>| match next {
            Some(next) => tokio::time::sleep_until(next.into()).await,
            None => std::future::pending().await,
        };
        let (next_look, next_poll) = (self.next_look, self.next_poll);
        tokio::select! {
            () = due(next_look) => Next::Look,
            () = due(next_poll) => Next::Poll,
            // It fails when the server ends.
            Ok(()) = self.client.changed() => Next::Begin,
        }
    }

    fn stop(&mut self) {
        self.system = None;
        self.looks_instead = false;
        self.next_look = None;
        self.next_poll = None;
        self.was_missing = false;
    }

    fn look_instead(&mut self, error: &WatchError) {
        self.looks_instead = true;
        self.next_look = Some(Instant::now() + INTERVAL);
        self.was_missing = matches!(error, WatchError::Missing { .. });
        // What the next look finds is told then.
        if !self.was_missing && !std::mem::replace(&mut self.was_warned, true) {
            self.server.warn(format!("{}: {error}; looking for changes at intervals", self.folder.name));
        }
    }
}
