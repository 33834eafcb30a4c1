//! The tokens of a folder, for engines that read them, put together beside everything else, one time after the other.
//!
//! Between these times they follow the files: what changes lies on top. They are put together anew when that has become much; below
//! that nothing would be gained, since completions see the same code either way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::Stats;
use cache::Cache;
use completion::World;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use indexer::{Indexed, Indexer};
use replay::Code;

use crate::background::Background;
use crate::folders::Folder;

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
    /// Whether keeping them for the next start would not pay: the cache has them but for a few changes, or there are none.
    pub(super) is_cached: bool,
}

/// What happens to tokens.
pub(super) enum Event {
    /// They are put together; `None` after a defect.
    Built(Option<Built>),
    /// They may have to be put together anew.
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

    /// Begins to put them together as the files are now, if they have to be.
    pub(super) fn begin(&mut self, indexer: &Indexer, folder: &Folder) {
        let (indexed, cache, are_read) = (indexer.indexed().clone(), indexer.cache().cloned(), self.are_read);
        let contents = folder.reading().contents;
        self.stale_since = None;
        let putting_together = move || {
            let start = Instant::now();
            let files = &indexed.files;
            let code = Code::new(files, workspace::git_state(files.root()).as_ref());
            let (world, is_cached) = match are_read {
                true => tokens(&contents.world, &indexed, cache.as_ref()),
                false => (World::empty(), true),
            };
            (Built { world, code, is_cached }, start.elapsed())
        };
        let (background, urgency) = (self.background.clone(), folder.urgency.subscribe());
        self.building = Some(async move { background.run(urgency, putting_together).await }.boxed());
    }

    /// Waits until they are put together, or may and must be put together anew; for ever where neither will be.
    pub(super) async fn next(&mut self) -> Event {
        if let Some(building) = &mut self.building {
            let built = building.await;
            self.building = None;
            let took = built.as_ref().map_or(Duration::ZERO, |(_, took)| *took);
            self.rested = Some(Instant::now() + took * REST);
            return Event::Built(built.map(|(built, _)| built));
        }
        let Some(since) = self.stale_since else { return std::future::pending().await };
        let settled = since + SETTLING;
        tokio::time::sleep_until(self.rested.map_or(settled, |rested| rested.max(settled)).into()).await;
        Event::Due
    }
}

/// The tokens of the files, and whether it would not pay to cache them: those that are known, anew where they are worn; else from the
/// cache, or from the texts.
pub(super) fn tokens(world: &World, indexed: &Indexed, cache: Option<&Cache>) -> (World, bool) {
    let (start, files) = (Instant::now(), indexed.files.files());
    let (corpus, is_cached) = match world.tokens() {
        Some(corpus) if !corpus.is_worn() => return (world.clone(), true),
        Some(corpus) => (corpus.renewed(files), false),
        None => {
            let opened = indexer::Tokens::open(cache, indexed.files.root(), files);
            if let Some(reason) = &opened.miss {
                tracing::warn!(reason, "cached tokens are of no use");
            }
            (opened.corpus, opened.is_cached)
        }
    };
    let Stats { tokens, left_out, .. } = corpus.stats();
    tracing::info!(tokens, from_cache = is_cached, took = ?start.elapsed(), "tokens put together");
    if left_out > 0 {
        tracing::warn!(files = left_out, "the built-in engine leaves out files for which there is no room");
    }
    (World::with_tokens(Arc::clone(files), corpus), is_cached)
}
