//! Keeps the index of a folder up to date in the background.
//!
//! ```text
//! open: near the open documents, or a cached index ──► published
//!       cache + disk ─► index ──► published ─► corpus, from the cache ─► published, ready
//! change events ─► debounce ─► index and corpus ──► published
//!                                    └─► rebuilt corpus, when worn, debounced and rested ─► published, cached
//! ```
//!
//! Requests never wait for indexing; until it is done they see less. All computation here is [`BackgroundPool`] work, one job after
//! the other. The index and the built-in engine's corpus are updated incrementally; after many changes the corpus is rebuilt. While a
//! branch switch goes on, its files are read and derived already, and published together when it has ended.

mod change_burst;
mod corpus_builder;
mod folder_watcher;
mod memory_watch;
mod near_code;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use builtin::Corpus;
use cache::Cache;
use config::{Config, Environment};
use futures_util::FutureExt;
use tokio::sync::{oneshot, watch};
use workspace::{ReadLimits, ScanScope, check_folder};

use crate::background_pool::{BackgroundPool, Priority};
use crate::events::{EventSender, IndexingOutcome, IndexingReport, Progress, SessionEvent};
use crate::folder::Folder;
use crate::index_memory::{IndexMemory, model_tokens};
use crate::indexer::{IndexProgress, Indexer, OpenRun, save_corpus};
use crate::step_threads::StepThreads;
use change_burst::ChangeBurst;
use corpus_builder::{BuildEvent, CorpusBuild, CorpusBuilder};
use folder_watcher::{FolderWatcher, WakeReason};

/// Folders with at most this many entries are small: they are indexed in a second or two on the slowest machine, usually in
/// milliseconds.
const SMALL_FOLDER_ENTRIES: usize = 1_000;

/// The parts that the indexing of all folders shares; cheap to clone.
#[derive(Clone)]
pub(crate) struct IndexingServices {
    pub(crate) background: BackgroundPool,
    pub(crate) cache: Option<Cache>,
    /// Whether the editor reports changed files.
    pub(crate) client_watches: watch::Receiver<bool>,
    pub(crate) events: EventSender,
}

/// A background task panicked; see the log.
#[derive(Debug, PartialEq, Eq)]
struct TaskPanic;

/// Keeps the index of a folder up to date until the folder is removed.
pub(crate) fn start(services: IndexingServices, folder: Arc<Folder>) {
    let removed = folder.removed.clone();
    tokio::spawn(async move {
        detect_small_folder(&folder).await;
        let keeping = AssertUnwindSafe(keep_up_to_date(&services, &folder)).catch_unwind();
        if removed.run_until_cancelled(keeping).await.is_some() {
            let message = format!("reading {} panicked; close it and open it again", folder.name);
            report_failure(&services, &folder, message);
        }
    });
}

/// Detects whether a folder is small. Reads no files, and only the folder itself waits for the result.
async fn detect_small_folder(folder: &Folder) {
    let (root, removed) = (folder.root.clone(), folder.removed.clone());
    if removed.is_cancelled() {
        return;
    }
    let counting = tokio::task::spawn_blocking(move || workspace::is_small(&root, SMALL_FOLDER_ENTRIES));
    if counting.await.unwrap_or(false) {
        folder.mark_small();
    }
}

/// Runs until a task panics.
async fn keep_up_to_date(
    services: &IndexingServices,
    folder: &Arc<Folder>,
) -> Result<std::convert::Infallible, TaskPanic> {
    let mut watching = FolderWatcher::new(services, folder);
    let mut tokens = CorpusBuilder::new(services.background.clone());
    let mut settings = folder.settings.subscribe();
    let mut indexer = loop {
        // The full scan below covers all changes noted so far.
        folder.take_pending();
        tokens.set_needed(reads_tokens(folder).await);
        let settings = index_settings(folder).await;
        tokens.set_max_tokens(model_tokens(&settings));
        let memory = IndexMemory::of_settings(&settings);
        match open_folder(services, folder, &mut tokens, memory).await? {
            Some(indexer) => break indexer,
            None => wait_until_readable(services, folder, &mut watching).await?,
        }
    };
    watching.begin(&indexer);
    let _memory_watch = indexer.store().map(memory_watch::watch_memory);
    loop {
        let scope = tokio::select! {
            () = folder.changed.notified() => {
                indexer = follow_burst(services, folder, indexer, &mut watching).await?;
                folder.take_pending()
            }
            () = folder.opened_elsewhere.notified() => {
                let corpus = indexer.current().tokens();
                if corpus.is_some_and(|corpus| corpus.lacks_code_near(&folder.recent_directories())) {
                    tokens.note_change();
                }
                continue;
            }
            Ok(()) = settings.changed() => {
                tokens.set_needed(reads_tokens(folder).await);
                continue;
            }
            next = watching.next_wake() => {
                if next == WakeReason::Restart {
                    watching.begin(&indexer);
                }
                // A scan in the middle of a branch switch would apply a part of it.
                if folder.pending_changes() > 0 {
                    indexer = follow_burst(services, folder, indexer, &mut watching).await?;
                }
                if next == WakeReason::Poll { ScanScope::Unwatched } else { ScanScope::Everything }
            }
            event = tokens.next_event() => {
                match event {
                    BuildEvent::Built(built) => {
                        indexer = publish_tokens(services, folder, built, indexer).await?;
                        indexer = save(services, folder, indexer).await?;
                    }
                    BuildEvent::Due if folder.pending_changes() > 0 && tokens.postpone() => {}
                    BuildEvent::Due => tokens.begin(&indexer, folder),
                }
                continue;
            }
        };
        let is_different;
        (indexer, is_different) = refresh(services, folder, indexer, scope, &mut watching).await?;
        if is_different {
            tokens.note_change();
        }
    }
}

/// Waits until a burst of changes ends. While a branch switch goes on, its files are read and derived, but nothing is published: a part of it
/// is neither the one branch nor the other.
async fn follow_burst(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
    watching: &mut FolderWatcher,
) -> Result<Indexer, TaskPanic> {
    let mut burst = ChangeBurst::new();
    while burst.goes_on(|| folder.pending_changes()).await {
        if folder.has_failed() {
            continue;
        }
        let (start, moves) = (Instant::now(), indexer.tracker().root_changes());
        let scope = folder.take_pending();
        let preparing = run_in_background(services, folder, move |threads| {
            let prepared = indexer.prepare(&scope, threads);
            (indexer, scope, prepared)
        });
        let (scope, prepared);
        (indexer, scope, prepared) = preparing.await?;
        if prepared.is_err() {
            // The scan after the burst reports the error if it remains.
            folder.note_changes(ScanScope::Everything);
            break;
        }
        follow_scan(folder, &indexer, &scope, moves, start.elapsed(), watching);
    }
    Ok(indexer)
}

/// Whether any engine of a folder reads its tokens.
async fn reads_tokens(folder: &Folder) -> bool {
    folder.needs_tokens.load(Ordering::Relaxed)
        || folder.settings.effective().await.is_some_and(|settings| settings.engine_set.reads_tokens())
}

/// Returns the settings of the folder's index; the defaults if its settings cannot be read.
async fn index_settings(folder: &Folder) -> config::IndexSettings {
    let effective = folder.settings.effective().await;
    effective.map_or_else(
        || Config::new(&[], &Environment::default()).index,
        |settings| settings.config.index.clone(),
    )
}

/// Waits until an unreadable folder can be read again; checks nothing else.
async fn wait_until_readable(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    watching: &mut FolderWatcher,
) -> Result<(), TaskPanic> {
    loop {
        watching.wait_for_folder();
        tokio::select! {
            () = folder.changed.notified() => {}
            _ = watching.next_wake() => {}
        }
        let root = folder.root.clone();
        if run_in_background(services, folder, move |_| check_folder(&root)).await?.is_ok() {
            return Ok(());
        }
    }
}

/// Opens a folder and publishes its contents: first the index, then the corpus. `None` if the folder cannot be read.
async fn open_folder(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    tokens: &mut CorpusBuilder,
    memory: IndexMemory,
) -> Result<Option<Indexer>, TaskPanic> {
    let start = Instant::now();
    folder.begin_indexing();
    let (progress, reported_progress) = watch::channel(Progress::default());
    let (outcome, reported_outcome) = oneshot::channel();
    services.events.send(SessionEvent::IndexingStarted(IndexingReport {
        folder: folder.name.clone(),
        progress: reported_progress,
        outcome: reported_outcome,
    }));
    publish_near_code(services, folder).await?;
    let mut opened = open_indexer(services, folder, memory, progress.clone()).await;
    if let Ok(Ok(indexer)) = opened {
        publish_index(services, folder, &indexer);
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "indexed");
        tokens.begin(&indexer, folder);
        opened = match tokens.next_event().await {
            BuildEvent::Built(built) => publish_tokens(services, folder, built, indexer).await.map(Ok),
            BuildEvent::Due => Ok(Ok(indexer)),
        };
    }
    drop(progress);
    tracing::info!(folder = folder.name, took = ?start.elapsed(), "read");
    let opened = opened?;
    let reported = match &opened {
        Ok(indexer) => {
            let index = indexer.current();
            let tokens = index.tokens().map(|tokens| tokens.coverage(index.files()));
            IndexingOutcome::Ready { tokens: tokens.unwrap_or_default() }
        }
        Err(reason) => {
            folder.fail_indexing(reason.clone());
            tracing::warn!(folder = folder.name, reason, "cannot be read");
            IndexingOutcome::Failed(reason.clone())
        }
    };
    // Without a receiver the editor is gone.
    let _ = outcome.send(reported);
    match opened {
        Ok(indexer) => Ok(Some(save(services, folder, indexer).await?)),
        Err(_) => Ok(None),
    }
}

/// Publishes the code near the open documents of a folder that is neither small nor opened at once.
async fn publish_near_code(services: &IndexingServices, folder: &Arc<Folder>) -> Result<(), TaskPanic> {
    if folder.is_small() || opens_fast(services, folder).await? {
        return Ok(());
    }
    let directories = near_code::near_directories(folder).await;
    if directories.is_empty() {
        return Ok(());
    }
    let (start, root) = (Instant::now(), folder.root.clone());
    let near = run_in_background(services, folder, move |_| near_code::index_near_code(&root, &directories));
    if let Some(index) = near.await? {
        tracing::info!(folder = folder.name, files = index.files().len(), took = ?start.elapsed(), "near code indexed");
        services.background.drop_in_background(folder.update_index(index));
    }
    Ok(())
}

async fn opens_fast(services: &IndexingServices, folder: &Folder) -> Result<bool, TaskPanic> {
    let (cache, root) = (services.cache.clone(), folder.root.clone());
    run_in_background(services, folder, move |_| {
        cache.is_some_and(|cache| Indexer::opens_fast(&cache, &root))
    })
    .await
}

async fn open_indexer(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    memory: IndexMemory,
    progress: watch::Sender<Progress>,
) -> Result<Result<Indexer, String>, TaskPanic> {
    let (cache, opened, start) = (services.cache.clone(), Arc::clone(folder), Instant::now());
    let opening = run_in_background(services, folder, move |threads| {
        let report = |loaded| {
            if let IndexProgress::Deriving { done, total } = loaded {
                progress.send_replace(Progress { done, total });
            }
        };
        let keep_going = || !opened.removed.is_cancelled();
        let on_cached = |index| {
            // The previous one is empty, or is of the code near the open documents.
            drop(opened.update_index(index));
            tracing::info!(folder = opened.name, took = ?start.elapsed(), "cached index published");
        };
        let run = OpenRun {
            memory,
            progress: &report,
            keep_going: &keep_going,
            on_tree: None,
            on_cached: &on_cached,
            threads,
        };
        Indexer::open_with(&opened.root, &ReadLimits::standard(), cache, &run)
    });
    let (indexer, opening) = match opening.await? {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let too_complex = indexer.current().index().too_complex().len();
    tracing::info!(
        folder = folder.name,
        reused = opening.reused,
        derived = opening.rebuilt,
        on_disk = indexer.store().is_some(),
        too_complex,
        "opened"
    );
    if let Some(miss) = opening.miss {
        tracing::warn!(folder = folder.name, reason = %miss, "the cache is rebuilt");
    }
    Ok(Ok(indexer))
}

fn publish_index(services: &IndexingServices, folder: &Folder, indexer: &Indexer) {
    services.background.drop_in_background(folder.update_index(indexer.current().clone()));
}

/// Publishes a corpus with the current index, which may be newer, and caches the corpus if that is worth it.
async fn publish_tokens(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    built: Option<CorpusBuild>,
    mut indexer: Indexer,
) -> Result<Indexer, TaskPanic> {
    let CorpusBuild { index: built, code_version, is_cached } = built.ok_or(TaskPanic)?;
    let indexer = run_in_background(services, folder, move |threads| {
        threads.run(|| indexer.adopt_tokens_of(&built));
        indexer
    })
    .await?;
    let index = indexer.current().clone();
    let corpus = index.tokens().cloned();
    // Code may still be written in a folder without source files.
    let code_version = (!index.files().is_empty()).then_some(code_version);
    services.background.drop_in_background(folder.finish_indexing(index, code_version));
    if let Some((corpus, cache)) = corpus.zip(indexer.cache().cloned())
        && !is_cached
    {
        save_tokens(services, folder, indexer.tracker().root().to_owned(), corpus, cache).await?;
    }
    Ok(indexer)
}

/// Caches the corpus. The corpus is published before, so that the previously cached one is no longer in use: some systems cannot
/// replace a file in use.
async fn save_tokens(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    root: PathBuf,
    corpus: Arc<Corpus>,
    cache: Cache,
) -> Result<(), TaskPanic> {
    let owned = Arc::clone(folder);
    let saving = run_in_background(services, folder, move |_| match save_corpus(&cache, &root, &corpus) {
        Ok(bytes) => tracing::info!(folder = owned.name, bytes, "tokens cached"),
        Err(error) => owned.warn_of_cache_once(&error),
    });
    saving.await
}

/// Applies the changes on disk, and watches new folders. Returns whether anything differs.
async fn refresh(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
    scope: ScanScope,
    watching: &mut FolderWatcher,
) -> Result<(Indexer, bool), TaskPanic> {
    let start = Instant::now();
    // Checking a few paths may miss that the folder is gone.
    let scope = if folder.has_failed() { ScanScope::Everything } else { scope };
    let moves = indexer.tracker().root_changes();
    let scan = run_in_background(services, folder, move |threads| {
        let refreshed = indexer.refresh_on(&scope, threads);
        let is_trimmed = indexer.drop_unused(Instant::now());
        (indexer, scope, refreshed, is_trimmed)
    });
    let (mut indexer, scope, refreshed, is_trimmed) = scan.await?;
    if !matches!(scope, ScanScope::Unwatched) {
        tracing::debug!(folder = folder.name, took = ?start.elapsed(), "looked");
    }
    let is_different = match refreshed {
        Ok(is_different) => is_different,
        Err(error) => {
            watching.wait_for_folder();
            report_failure(services, folder, error.to_string());
            return Ok((indexer, false));
        }
    };
    if is_trimmed || is_different {
        publish_index(services, folder, &indexer);
    }
    if is_different {
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "changes applied");
        indexer = update_tokens(services, folder, indexer).await?;
    }
    if folder.recover() {
        services.events.send(SessionEvent::FolderReadable(folder.name.clone()));
        // The watched paths may belong to another folder now.
        watching.begin(&indexer);
    } else {
        follow_scan(folder, &indexer, &scope, moves, start.elapsed(), watching);
    }
    Ok((indexer, is_different))
}

/// Watches what a scan found; `moves` are the tracker's root changes before it.
fn follow_scan(
    folder: &Folder,
    indexer: &Indexer,
    scope: &ScanScope,
    moves: u64,
    took: Duration,
    watching: &mut FolderWatcher,
) {
    if indexer.tracker().root_changes() == moves {
        watching.follow_refresh(indexer, scope, took);
    } else {
        folder.forget_real_root();
        watching.begin(indexer);
    }
}

/// Updates the tokens after the index, which is published before: tokens of many files take seconds.
async fn update_tokens(
    services: &IndexingServices,
    folder: &Folder,
    mut indexer: Indexer,
) -> Result<Indexer, TaskPanic> {
    let updating = run_in_background(services, folder, move |threads| {
        let is_different = indexer.update_tokens(threads);
        (indexer, is_different)
    });
    let (indexer, is_different) = updating.await?;
    if is_different {
        publish_index(services, folder, &indexer);
    }
    Ok(indexer)
}

/// Caches the derived entries if that is worth it.
async fn save(
    services: &IndexingServices,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
) -> Result<Indexer, TaskPanic> {
    let owned = Arc::clone(folder);
    let saving = run_in_background(services, folder, move |_| {
        match indexer.save() {
            Ok(Some(saved)) => {
                tracing::info!(folder = owned.name, files = saved.files, bytes = saved.bytes, "cached");
            }
            Ok(None) => {}
            // Warned once: the next attempt will most likely fail too.
            Err(error) => owned.warn_of_cache_once(&error),
        }
        indexer
    });
    saving.await
}

/// Runs slow work, or work that waits for the disk, on the background threads.
async fn run_in_background<T: Send + 'static>(
    services: &IndexingServices,
    folder: &Folder,
    work: impl FnOnce(&StepThreads) -> T + Send + 'static,
) -> Result<T, TaskPanic> {
    run(&services.background, folder.priority.subscribe(), work).await
}

async fn run<T: Send + 'static>(
    background: &BackgroundPool,
    priority: watch::Receiver<Priority>,
    work: impl FnOnce(&StepThreads) -> T + Send + 'static,
) -> Result<T, TaskPanic> {
    background.run(priority, work).await.ok_or(TaskPanic)
}

/// Reports, once, why a folder cannot be read.
fn report_failure(services: &IndexingServices, folder: &Folder, reason: String) {
    if folder.fail_indexing(reason.clone()) {
        tracing::warn!(folder = folder.name, reason, "cannot be read");
        services.events.send(SessionEvent::FolderUnreadable(reason));
    }
}

#[cfg(all(test, unix))]
mod differential;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panicked_task_returns_an_error() {
        let background = BackgroundPool::start().unwrap();
        let priority = || watch::Sender::new(Priority::LargeFolder).subscribe();
        assert_eq!(run(&background, priority(), |_| 1).await, Ok(1));
        let panicked = run(&background, priority(), |_| -> u8 { panic!("on purpose") }).await;
        assert_eq!(panicked, Err(TaskPanic));
    }
}
