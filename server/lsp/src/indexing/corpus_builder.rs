//! The tokens of a folder, for engines that read them, put together beside everything else, one time after the other.
//!
//! Between these times they follow the files: what changes lies on top. They are put together anew when that has become much; below
//! that nothing would be gained, since completions see the same code either way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::CorpusStats;
use cache::Cache;
use completion::WorkspaceIndex;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use indexer::{IndexedFolder, Indexer};
use replay::CodeVersion;

use crate::background_pool::BackgroundPool;
use crate::workspace_folders::Folder;

/// Where files change all the time, putting the tokens together takes at most a sixth of it: it rests this many times as long.
const REST_FACTOR: u32 = 5;
/// They wait this long after the first change that was taken in: the next change, as of a switch of branches, would wait for them.
const DEBOUNCE: Duration = Duration::from_millis(300);

/// The tokens of a folder, with what tells its code from other code.
pub(super) struct CorpusBuild {
    /// The tokens.
    pub(super) index: WorkspaceIndex,
    /// What tells the code from other code.
    pub(super) code_version: CodeVersion,
    /// Whether keeping them for the next start would not pay: the cache has them but for a few changes, or there are none.
    pub(super) is_cached: bool,
}

/// What happens to tokens.
pub(super) enum BuildEvent {
    /// They are put together; `None` after a defect.
    Built(Option<CorpusBuild>),
    /// They may have to be put together anew.
    Due,
}

/// Putting tokens together.
pub(super) struct CorpusBuilder {
    /// Whether any engine reads them.
    is_needed: bool,
    background: BackgroundPool,
    /// Since when files are others than those they were put together from.
    stale_since: Option<Instant>,
    /// What comes of it, and how long it takes.
    building: Option<BoxFuture<'static, Option<(CorpusBuild, Duration)>>>,
    /// When they may be put together next.
    next_build_at: Option<Instant>,
}

impl CorpusBuilder {
    /// For nobody yet.
    pub(super) fn new(background: BackgroundPool) -> CorpusBuilder {
        CorpusBuilder { is_needed: false, background, stale_since: None, building: None, next_build_at: None }
    }

    /// Whether any engine reads them may change; where none did before, there are none, and no rest is kept.
    pub(super) fn set_needed(&mut self, are_read: bool) {
        if are_read && !self.is_needed {
            self.note_change();
            self.next_build_at = None;
        }
        self.is_needed = are_read;
    }

    /// Takes note that files have changed.
    pub(super) fn note_change(&mut self) {
        self.stale_since.get_or_insert_with(Instant::now);
    }

    /// Begins to put them together as the files are now, if they have to be.
    pub(super) fn begin(&mut self, indexer: &Indexer, folder: &Folder) {
        let (indexed, cache, are_read) =
            (indexer.current().clone(), indexer.cache().cloned(), self.is_needed);
        let contents = folder.state().contents;
        self.stale_since = None;
        let putting_together = move || {
            let start = Instant::now();
            let files = &indexed.files;
            let code = CodeVersion::new(files, workspace::git_state(files.root()).as_ref());
            let (world, is_cached) = match are_read {
                true => load_or_build(&contents.index, &indexed, cache.as_ref()),
                false => (WorkspaceIndex::empty(), true),
            };
            (CorpusBuild { index: world, code_version: code, is_cached }, start.elapsed())
        };
        let (background, urgency) = (self.background.clone(), folder.priority.subscribe());
        self.building = Some(async move { background.run(urgency, putting_together).await }.boxed());
    }

    /// Waits until they are put together, or may and must be put together anew; for ever where neither will be.
    pub(super) async fn next_event(&mut self) -> BuildEvent {
        if let Some(building) = &mut self.building {
            let built = building.await;
            self.building = None;
            let took = built.as_ref().map_or(Duration::ZERO, |(_, took)| *took);
            self.next_build_at = Some(Instant::now() + took * REST_FACTOR);
            return BuildEvent::Built(built.map(|(built, _)| built));
        }
        let Some(since) = self.stale_since else { return std::future::pending().await };
        let settled = since + DEBOUNCE;
        tokio::time::sleep_until(self.next_build_at.map_or(settled, |rested| rested.max(settled)).into())
            .await;
        BuildEvent::Due
    }
}

/// The tokens of the files, and whether it would not pay to cache them: those that are known, anew where they are worn; else from the
/// cache, or from the texts.
pub(super) fn load_or_build(
    world: &WorkspaceIndex,
    indexed: &IndexedFolder,
    cache: Option<&Cache>,
) -> (WorkspaceIndex, bool) {
    let (start, files) = (Instant::now(), indexed.files.files());
    let (corpus, is_cached) = match world.tokens() {
        Some(corpus) if !corpus.needs_rebuild() => return (world.clone(), true),
        Some(corpus) => (corpus.rebuilt(files), false),
        None => {
            let opened = indexer::LoadedCorpus::open(cache, indexed.files.root(), files);
            if let Some(reason) = &opened.miss {
                tracing::warn!(reason, "cached tokens are of no use");
            }
            (opened.corpus, opened.is_cached)
        }
    };
    let CorpusStats { tokens, excluded_files: left_out, .. } = corpus.stats();
    tracing::info!(tokens, from_cache = is_cached, took = ?start.elapsed(), "tokens put together");
    if left_out > 0 {
        tracing::warn!(files = left_out, "the built-in engine leaves out files for which there is no room");
    }
    (WorkspaceIndex::with_tokens(Arc::clone(files), corpus), is_cached)
}
