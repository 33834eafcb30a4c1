//! Keeps the index of a folder up to date in the background.
//!
//! ```text
//! open: cache + disk ─► index ──► published ─► corpus, from the cache ─► published, ready
//! change events ─► debounce ─► index and corpus ──► published
//!                                    └─► rebuilt corpus, when worn, debounced and rested ─► published, cached
//! ```
//!
//! Requests never wait for indexing; until it is done they see less. All computation here is [`BackgroundPool`] work, one job after
//! the other. The index and the built-in engine's corpus are updated incrementally; after many changes the corpus is rebuilt.

mod corpus_builder;
mod folder_watcher;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::Corpus;
use cache::Cache;
use completion::WorkspaceIndex;
use futures_util::FutureExt;
use session::Indexer;
use tokio::sync::watch;
use workspace::{LoadProgress, ReadLimits, ScanScope, check_folder};

use crate::background_pool::{BackgroundPool, Priority};
use crate::background_threads;
use crate::busy_status::{BusyStatus, report};
use crate::progress::{ProgressReporter, ProgressStep};
use crate::server::Server;
use crate::workspace_folders::Folder;
use corpus_builder::{BuildEvent, CorpusBuild, CorpusBuilder};
use folder_watcher::{FolderWatcher, WakeReason};

/// Debounce of file changes, counted from the first one: files change in bursts, as on "save all" or a branch switch.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Folders with at most this many entries are small: they are indexed in a second or two on the slowest machine, usually in
/// milliseconds.
const SMALL_FOLDER_ENTRIES: usize = 1_000;

/// A background task panicked; see the log.
#[derive(Debug, PartialEq, Eq)]
struct TaskPanic;

/// Keeps the index of a folder up to date until the folder is removed.
pub(crate) fn start(server: &Server, folder: Arc<Folder>) {
    let server = server.clone();
    let removed = folder.removed.clone();
    tokio::spawn(async move {
        detect_small_folder(&folder).await;
        let keeping = AssertUnwindSafe(keep_up_to_date(&server, &folder)).catch_unwind();
        if removed.run_until_cancelled(keeping).await.is_some() {
            report_failure(
                &server,
                &folder,
                format!("reading {} panicked; close it and open it again", folder.name),
            )
            .await;
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
    server: &Server,
    folder: &Arc<Folder>,
) -> Result<std::convert::Infallible, TaskPanic> {
    let mut watching = FolderWatcher::new(server, folder);
    let mut tokens = CorpusBuilder::new(server.background_pool.clone());
    let mut settings = folder.settings.subscribe();
    let mut indexer = loop {
        // The full scan below covers all changes noted so far.
        folder.take_pending();
        tokens.set_needed(reads_tokens(server, folder).await);
        match open_folder(server, folder, &mut tokens).await? {
            Some(indexer) => break indexer,
            None => wait_until_readable(server, folder, &mut watching).await?,
        }
    };
    watching.begin(&indexer);
    loop {
        let look_at = tokio::select! {
            () = folder.changed.notified() => {
                tokio::time::sleep(DEBOUNCE).await;
                folder.take_pending()
            }
            Ok(()) = settings.changed() => {
                tokens.set_needed(reads_tokens(server, folder).await);
                continue;
            }
            next = watching.next_wake() => {
                if next == WakeReason::Restart {
                    watching.begin(&indexer);
                }
                if next == WakeReason::Poll { ScanScope::Unwatched } else { ScanScope::Everything }
            }
            event = tokens.next_event() => {
                match event {
                    BuildEvent::Built(built) => {
                        indexer = publish_tokens(server, folder, built, indexer).await?;
                    }
                    BuildEvent::Due => {
                        indexer = save(server, folder, indexer).await?;
                        tokens.begin(&indexer, folder);
                    }
                }
                continue;
            }
        };
        let is_different;
        (indexer, is_different) = refresh(server, folder, indexer, look_at, &mut watching).await?;
        if is_different {
            tokens.note_change();
        }
    }
}

/// Whether any engine of a folder reads its tokens.
async fn reads_tokens(server: &Server, folder: &Folder) -> bool {
    server.settings_in(Some(folder)).await.is_ok_and(|settings| settings.reads_tokens())
}

/// Waits until an unreadable folder can be read again; checks nothing else.
async fn wait_until_readable(
    server: &Server,
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
        if run_in_background(server, folder, move || check_folder(&root)).await?.is_ok() {
            return Ok(());
        }
    }
}

/// Opens a folder and publishes its contents: first the index, then the corpus. `None` if the folder cannot be read.
async fn open_folder(
    server: &Server,
    folder: &Arc<Folder>,
    tokens: &mut CorpusBuilder,
) -> Result<Option<Indexer>, TaskPanic> {
    let start = Instant::now();
    folder.begin_indexing();
    let busy = BusyStatus::begin(&server.client, format!("reading {}", folder.name)).await;
    let work = server.progress_tasks.begin_server_initiated();
    let shown = ProgressReporter::begin(server, &work, &format!("Ghostbench reads {}", folder.name), false);
    let mut opened = open_indexer(server, folder, shown.steps.clone()).await;
    if let Ok(Ok(indexer)) = opened {
        publish_index(server, folder, &indexer);
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "indexed");
        tokens.begin(&indexer, folder);
        opened = match tokens.next_event().await {
            BuildEvent::Built(built) => publish_tokens(server, folder, built, indexer).await.map(Ok),
            BuildEvent::Due => Ok(Ok(indexer)),
        };
    }
    shown.end().await;
    tracing::info!(folder = folder.name, took = ?start.elapsed(), "read");
    match opened? {
        Ok(indexer) => {
            busy.end("normal", ready_message(&folder.name, &folder.state().index)).await;
            Ok(Some(save(server, folder, indexer).await?))
        }
        Err(reason) => {
            folder.fail_indexing(reason.clone());
            tracing::warn!(folder = folder.name, reason, "cannot be read");
            busy.end("warning", reason).await;
            Ok(None)
        }
    }
}

/// The message after indexing, with the number of files that were excluded.
fn ready_message(name: &str, world: &WorkspaceIndex) -> String {
    match world.tokens().map_or(0, |tokens| tokens.stats().excluded_files) {
        0 => format!("{name} is read"),
        1 => format!("{name} is read; 1 file exceeds the token limit of the built-in engine"),
        files => format!("{name} is read; {files} files exceed the token limit of the built-in engine"),
    }
}

async fn open_indexer(
    server: &Server,
    folder: &Folder,
    steps: watch::Sender<ProgressStep>,
) -> Result<Result<Indexer, String>, TaskPanic> {
    let (root, cache, removed) = (folder.root.clone(), server.setup.cache.clone(), folder.removed.clone());
    let limits = ReadLimits { threads: background_threads(), ..ReadLimits::standard() };
    let opening = run_in_background(server, folder, move || {
        let progress = |progress| {
            if let LoadProgress::Reading { read, total } = progress {
                steps.send_replace(ProgressStep { done: read, total });
            }
        };
        Indexer::open_while(&root, &limits, cache, &progress, &|| !removed.is_cancelled())
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
        too_complex,
        "opened"
    );
    if let Some(miss) = opening.miss {
        tracing::warn!(folder = folder.name, reason = %miss, "the cache is rebuilt");
    }
    Ok(Ok(indexer))
}

fn publish_index(server: &Server, folder: &Folder, indexer: &Indexer) {
    server.background_pool.drop_in_background(folder.update_index(indexer.current().clone()));
}

/// Publishes a corpus with the current index, which may be newer, and caches the corpus if that is worth it.
async fn publish_tokens(
    server: &Server,
    folder: &Arc<Folder>,
    built: Option<CorpusBuild>,
    mut indexer: Indexer,
) -> Result<Indexer, TaskPanic> {
    let CorpusBuild { index: built, code_version, is_cached } = built.ok_or(TaskPanic)?;
    let indexer = run_in_background(server, folder, move || {
        indexer.adopt_tokens_of(&built);
        indexer
    })
    .await?;
    let index = indexer.current().clone();
    let corpus = index.tokens().cloned();
    // Code may still be written in a folder without source files.
    let code_version = (!index.files().is_empty()).then_some(code_version);
    server.background_pool.drop_in_background(folder.finish_indexing(index, code_version));
    if let Some((corpus, cache)) = corpus.zip(indexer.cache().cloned())
        && !is_cached
    {
        save_tokens(server, folder, indexer.tracker().root().to_owned(), corpus, cache).await?;
    }
    Ok(indexer)
}

/// Caches the corpus. The corpus is published before, so that the previously cached one is no longer in use: some systems cannot
/// replace a file in use.
async fn save_tokens(
    server: &Server,
    folder: &Arc<Folder>,
    root: PathBuf,
    corpus: Arc<Corpus>,
    cache: Cache,
) -> Result<(), TaskPanic> {
    let owned = Arc::clone(folder);
    let saving =
        run_in_background(server, folder, move || match session::save_corpus(&cache, &root, &corpus) {
            Ok(bytes) => tracing::info!(folder = owned.name, bytes, "tokens cached"),
            Err(error) => owned.warn_of_cache_once(&error),
        });
    saving.await
}

/// Applies the changes on disk, and watches new folders. Returns whether anything differs.
async fn refresh(
    server: &Server,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
    look: ScanScope,
    watching: &mut FolderWatcher,
) -> Result<(Indexer, bool), TaskPanic> {
    let start = Instant::now();
    // Checking a few paths may miss that the folder is gone.
    let look = if folder.has_failed() { ScanScope::Everything } else { look };
    let moves = indexer.tracker().root_changes();
    let scan = run_in_background(server, folder, move || {
        let refreshed = indexer.refresh(&look);
        (indexer, look, refreshed)
    });
    let (indexer, look, refreshed) = scan.await?;
    if !matches!(look, ScanScope::Unwatched) {
        tracing::debug!(folder = folder.name, took = ?start.elapsed(), "looked");
    }
    let is_different = match refreshed {
        Ok(is_different) => is_different,
        Err(error) => {
            watching.wait_for_folder();
            report_failure(server, folder, error.to_string()).await;
            return Ok((indexer, false));
        }
    };
    if is_different {
        publish_index(server, folder, &indexer);
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "changes applied");
    }
    if folder.recover() {
        report(&server.client, false, "normal", format!("{} can be read again", folder.name)).await;
        // The watched paths may belong to another folder now.
        watching.begin(&indexer);
    } else if indexer.tracker().root_changes() != moves {
        folder.forget_real_root();
        watching.begin(&indexer);
    } else {
        watching.follow_refresh(&indexer, &look, start.elapsed());
    }
    Ok((indexer, is_different))
}

/// Caches the derived entries if that is worth it.
async fn save(server: &Server, folder: &Arc<Folder>, mut indexer: Indexer) -> Result<Indexer, TaskPanic> {
    let owned = Arc::clone(folder);
    let saving = run_in_background(server, folder, move || {
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
    server: &Server,
    folder: &Folder,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TaskPanic> {
    run(&server.background_pool, folder.priority.subscribe(), work).await
}

async fn run<T: Send + 'static>(
    background: &BackgroundPool,
    urgency: watch::Receiver<Priority>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TaskPanic> {
    background.run(urgency, work).await.ok_or(TaskPanic)
}

/// Reports, once, why a folder cannot be read.
async fn report_failure(server: &Server, folder: &Folder, reason: String) {
    if folder.fail_indexing(reason.clone()) {
        tracing::warn!(folder = folder.name, reason, "cannot be read");
        report(&server.client, false, "warning", reason).await;
    }
}

#[cfg(all(test, unix))]
mod differential;

#[cfg(test)]
mod tests {
    use index::Index;
    use syntax::{Language, SourceFile};

    use super::*;

    #[tokio::test]
    async fn a_defect_is_told_and_goes_no_further() {
        let background = BackgroundPool::start().unwrap();
        let urgency = || watch::Sender::new(Priority::LargeFolder).subscribe();
        assert_eq!(run(&background, urgency(), || 1).await, Ok(1));
        let panicked = run(&background, urgency(), || -> u8 { panic!("on purpose") }).await;
        assert_eq!(panicked, Err(TaskPanic));
    }

    #[test]
    fn files_that_were_left_out_are_told() {
        let file = |name: &str| SourceFile {
            path: name.into(),
            language: Language::Python,
            text: "total = total + 1\n".into(),
        };
        let files: Arc<[SourceFile]> = ["a.py", "b.py", "c.py"].map(file).into();
        let read = |max_tokens: usize, count: usize| {
            let files: Arc<[SourceFile]> = files[..count].into();
            ready_message(
                "shop",
                &WorkspaceIndex::empty()
                    .with_index(Arc::clone(&files), Index::build(&files), Arc::default())
                    .with_corpus(Corpus::build_up_to(max_tokens, &files)),
            )
        };
        assert_eq!(read(100, 3), "shop is read");
        assert_eq!(read(1, 1), "shop is read; 1 file exceeds the token limit of the built-in engine");
        assert_eq!(read(1, 3), "shop is read; 3 files exceed the token limit of the built-in engine");
        assert_eq!(ready_message("shop", &WorkspaceIndex::empty()), "shop is read");
    }
}
