//! The tokens of a folder, for engines that read them, put together beside everything else, one time after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use completion::World;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use indexer::Indexed;
use replay::Code;

use crate::background::Background;

/// Where files change all the time, putting the tokens together takes at most a sixth of it: it rests this many times as long.
const REST: u32 = 5;
/// They wait this long after the first change that was taken in: the next change, as of a switch of branches, would wait for them.
const SETTLING: Duration = Duration::from_millis(300);

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
    background: Background,
    /// Since when files are others than those they were put together from.
    stale_since: Option<Instant>,
    /// What comes of it, and how long it takes.
    building: Option<BoxFuture<'static, Option<(Built, Duration)>>>,
    /// When they may be put together next.
    rested: Option<Instant>,
}

impl Tokens {
    /// For nobody yet.
    pub(super) fn new(background: Background) -> Tokens {
        Tokens { are_read: false, background, stale_since: None, building: None, rested: None }
    }

    /// Whether any engine reads them may change; where none did before, there are none, and no rest is kept.
    pub(super) fn are_read(&mut self, are_read: bool) {
        if are_read && !self.are_read {
            self.note_change();
            self.rested = None;
        }
        self.are_read = are_read;
    }

    /// Takes note that files have changed.
    pub(super) fn note_change(&mut self) {
        self.stale_since.get_or_insert_with(Instant::now);
    }

    /// Begins to put them together as the files are now.
    pub(super) fn begin(&mut self, indexed: &Indexed) {
        let (files, are_read) = (indexed.files.clone(), self.are_read);
        self.stale_since = None;
        let building = self.background.run(move || {
            let start = Instant::now();
            let built = Built {
                world: if are_read { World::new(Arc::clone(files.files())) } else { World::empty() },
                code: Code::new(&files, workspace::git_state(files.root()).as_ref()),
            };
            (built, start.elapsed())
        });
        self.building = Some(building.boxed());
    }

    /// Waits until they are put together, or may and must be put together anew; for ever where neither will be.
    pub(super) async fn next(&mut self) -> Event {
        if let Some(building) = &mut self.building {
            let built = building.await;
            self.building = None;
            let took = built.as_ref().map_or(Duration::ZERO, |(_, took)| *took);
            if self.are_read {
                tracing::info!(?took, "tokens put together");
            }
            self.rested = Some(Instant::now() + took * REST);
            return Event::Built(built.map(|(built, _)| built));
        }
        let Some(since) = self.stale_since else { return std::future::pending().await };
        let settled = since + SETTLING;
        tokio::time::sleep_until(self.rested.map_or(settled, |rested| rested.max(settled)).into()).await;
        Event::Due
    }
}
