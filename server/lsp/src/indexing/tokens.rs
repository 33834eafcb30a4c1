//! The tokens of a folder, for engines that read them, put together beside everything else, one time after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use completion::World;
use indexer::Indexed;
use replay::Code;
use tokio::task::{JoinHandle, spawn_blocking};

/// Where files change all the time, putting the tokens together takes at most a sixth of it: it rests this many times as long.
const REST: u32 = 5;

/// The tokens of a folder, with what tells its code from other code.
pub(super) struct Built {
    /// The tokens.
    pub(super) world: World,
    /// What tells the code from other code.
    pub(super) code: Code,
}

/// What happens to tokens.
pub(super) enum Event {
    /// They are put together; `None` after a defect.
    Built(Option<Built>),
    /// They are to be put together anew.
    Due,
}

/// Putting tokens together.
pub(super) struct Tokens {
    /// Whether any engine reads them.
    are_read: bool,
    /// Whether files have changed since they were put together.
    pub(super) are_stale: bool,
    building: Option<JoinHandle<Built>>,
    begun: Option<Instant>,
    /// When they may be put together next.
    next: Option<Instant>,
}

impl Tokens {
    pub(super) fn new(are_read: bool) -> Tokens {
        Tokens { are_read, are_stale: false, building: None, begun: None, next: None }
    }

    /// Begins to put them together as the files are now.
    pub(super) fn begin(&mut self, indexed: &Indexed) {
        let (files, are_read) = (indexed.files.clone(), self.are_read);
        self.are_stale = false;
        self.begun = Some(Instant::now());
        self.building = Some(spawn_blocking(move || Built {
            world: if are_read { World::new(Arc::clone(files.files())) } else { World::empty() },
            code: Code::new(&files, workspace::git_state(files.root()).as_ref()),
        }));
    }

    /// Waits until they are put together, or may and must be put together anew; for ever where neither will be.
    pub(super) async fn next(&mut self) -> Event {
        if let Some(building) = &mut self.building {
            let built = building.await.ok();
            self.building = None;
            let took = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
            if self.are_read {
                tracing::info!(?took, "tokens put together");
            }
            self.next = Some(Instant::now() + took * REST);
            return Event::Built(built);
        }
        if !self.are_stale {
            return std::future::pending().await;
        }
        if let Some(next) = self.next {
            tokio::time::sleep_until(next.into()).await;
        }
        Event::Due
    }
}
