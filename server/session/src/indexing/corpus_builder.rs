//! Builds the corpus of a folder, for engines that read it, in the background and one build at a time.
//!
//! Between builds the corpus follows the files incrementally: changes are an overlay. It is rebuilt when the overlay has become
//! large; before that a rebuild gains nothing, since completions see the same code either way.

use std::path::Path;
use std::time::{Duration, Instant};

use builtin::{Corpus, CorpusLimit};
use cache::Cache;
use completion::WorkspaceIndex;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use replay::CodeVersion;
use stored::BlockStore;

use crate::background_pool::BackgroundPool;
use crate::folder::Folder;
use crate::indexer::{Indexer, LoadedCorpus, store_corpus};
use crate::step_threads::StepThreads;

/// Factor of the rest after a build: if files change all the time, building takes at most a sixth of the time.
const REST_FACTOR: u32 = 5;
/// Debounce of a build, counted from the first change: the next change, as during a branch switch, would have to wait for the
/// build.
const DEBOUNCE: Duration = Duration::from_millis(300);
/// Maximum time for which a build waits while files change.
const MAX_POSTPONED: Duration = Duration::from_secs(60);

/// The corpus of a folder, and the version of its code.
pub(super) struct CorpusBuild {
    /// The index with the corpus.
    pub(super) index: WorkspaceIndex,
    /// Identifies the version of the code.
    pub(super) code_version: CodeVersion,
    /// Whether caching the corpus is not worth it: it is empty, or differs from the cached one by a few changes.
    pub(super) is_cached: bool,
}

/// An event of the builder.
pub(super) enum BuildEvent {
    /// A build ended; `None` if it panicked.
    Built(Option<CorpusBuild>),
    /// A rebuild may be due.
    Due,
}

/// Builds corpora.
pub(super) struct CorpusBuilder {
    /// Whether any engine reads the corpus.
    is_needed: bool,
    /// Maximum number of tokens of a corpus.
    max_tokens: usize,
    background: BackgroundPool,
    /// Time of the first change since the last build began.
    stale_since: Option<Instant>,
    /// The running build; returns the corpus and the build time.
    building: Option<BoxFuture<'static, Option<(CorpusBuild, Duration)>>>,
    /// Earliest time of the next build.
    next_build_at: Option<Instant>,
}

impl CorpusBuilder {
    /// Creates a builder that is not needed by any engine yet.
    pub(super) fn new(background: BackgroundPool) -> CorpusBuilder {
        CorpusBuilder {
            is_needed: false,
            max_tokens: Corpus::MAX_TOKENS,
            background,
            stale_since: None,
            building: None,
            next_build_at: None,
        }
    }

    /// Sets the maximum number of tokens of the next builds.
    pub(super) fn set_max_tokens(&mut self, max_tokens: usize) {
        self.max_tokens = max_tokens;
    }

    /// Sets whether any engine reads the corpus. After a change from `false` there is no corpus yet, so no rest applies.
    pub(super) fn set_needed(&mut self, is_needed: bool) {
        if is_needed && !self.is_needed {
            self.note_change();
            self.next_build_at = None;
        }
        self.is_needed = is_needed;
    }

    /// Notes that files have changed.
    pub(super) fn note_change(&mut self) {
        self.stale_since.get_or_insert_with(Instant::now);
    }

    /// Postpones a build that is due, because files have changed again. Returns whether it has not waited too long for that.
    pub(super) fn postpone(&mut self) -> bool {
        let may_wait = self.stale_since.is_none_or(|since| since.elapsed() < MAX_POSTPONED);
        if may_wait {
            self.next_build_at = Some(Instant::now() + DEBOUNCE);
        }
        may_wait
    }

    /// Starts a build of the current files, if one is due.
    pub(super) fn begin(&mut self, indexer: &Indexer, folder: &Folder) {
        let (files, index) = (indexer.files().clone(), indexer.current().clone());
        let (cache, is_needed, store) = (indexer.cache().cloned(), self.is_needed, indexer.store());
        let limit = CorpusLimit { tokens: self.max_tokens, near: folder.recent_directories() };
        self.stale_since = None;
        let build = move |threads: &StepThreads| {
            let start = Instant::now();
            let code_version = CodeVersion::new(&files, workspace::git_state(files.root()).as_ref());
            let (index, is_cached) = match is_needed {
                true => threads
                    .run(|| load_or_build(&index, files.root(), cache.as_ref(), limit, store.as_deref())),
                false => (WorkspaceIndex::empty(), true),
            };
            (CorpusBuild { index, code_version, is_cached }, start.elapsed())
        };
        let (background, priority) = (self.background.clone(), folder.priority.subscribe());
        self.building = Some(async move { background.run(priority, build).await }.boxed());
    }

    /// Waits until a build ends or a rebuild is due; for ever if there will be neither.
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

/// Returns the index with the corpus of its files, and whether caching the corpus is not worth it: the current corpus, rebuilt if
/// it is worn or lacks code near the user; otherwise the cached one, or one built from the texts.
pub(super) fn load_or_build(
    index: &WorkspaceIndex,
    root: &Path,
    cache: Option<&Cache>,
    limit: CorpusLimit,
    store: Option<&dyn BlockStore>,
) -> (WorkspaceIndex, bool) {
    let (start, files) = (Instant::now(), index.files());
    let (corpus, is_cached) = match index.tokens() {
        Some(corpus) if !corpus.needs_rebuild() && !corpus.lacks_code_near(&limit.near) => {
            return (index.clone(), true);
        }
        Some(corpus) => {
            let rebuilt = Corpus::clone(corpus).with_limit(limit.clone()).rebuilt(files);
            (store_corpus(rebuilt, &limit, store), false)
        }
        None => {
            let opened = LoadedCorpus::open(cache, root, files, limit, store);
            if let Some(reason) = &opened.miss {
                tracing::warn!(reason, "cached tokens cannot be used");
            }
            (opened.corpus, opened.is_cached)
        }
    };
    let coverage = corpus.coverage(files);
    tracing::info!(tokens = coverage.held, from_cache = is_cached, took = ?start.elapsed(), "tokens built");
    if coverage.excluded_files > 0 {
        tracing::warn!(files = coverage.excluded_files, held = %coverage, "files exceed the token limit of the built-in engine");
    }
    (index.clone().with_corpus(corpus), is_cached)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use index::Index;
    use syntax::{Language, SourceFile};

    use super::*;

    #[test]
    fn corpus_without_code_near_the_user_is_rebuilt() {
        let files: Arc<[SourceFile]> =
            [("a/x.py", "left = other(1, 2)\n"), ("b/y.py", "rest = other(1, 2)\n")]
                .map(|(path, line)| {
                    let text = line.repeat(4).into();
                    SourceFile { path: path.into(), language: Language::Python, text }
                })
                .into();
        let limit = |near: &str| CorpusLimit { tokens: 40, near: vec![near.into()] };
        let index = WorkspaceIndex::empty()
            .with_index(Arc::clone(&files), Index::from_files(Vec::new()), Arc::default())
            .with_corpus(Corpus::build_within(limit("a"), &files));
        let lacks = |index: &WorkspaceIndex, near: &str| {
            index.tokens().is_some_and(|corpus| corpus.lacks_code_near(&[near.into()]))
        };
        let (same, is_cached) = load_or_build(&index, Path::new("/shop"), None, limit("a"), None);
        assert!(is_cached && lacks(&same, "b"));
        let (moved, is_cached) = load_or_build(&same, Path::new("/shop"), None, limit("b"), None);
        assert!(!is_cached && lacks(&moved, "a") && !lacks(&moved, "b"));
    }
}
