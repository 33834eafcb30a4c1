//! Keeping what is known of a folder up to date behind the running server.
//!
//! ```text
//! open: cache + disk ─► index ──► published ─► tokens, from the cache ─► published, ready
//! told of changes ─► quiet for a moment ─► index and tokens ──► published
//!                                             └─► tokens put together anew, when worn, settled and rested ─► published, cached
//! ```
//!
//! Requests never wait for it; until it is done they know less. All that computes here is [`BackgroundPool`] work, one after the other. The
//! index and the built-in engine's tokens take in what changed and nothing else; once much of the tokens has changed, all of them are put
//! together anew.

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
use indexer::{IndexedFolder, Indexer};
use tokio::sync::watch;
use workspace::{LoadProgress as Reading, ReadLimits, check_folder};

use crate::background_pool::{BackgroundPool, Priority};
use crate::background_threads;
use crate::busy_status::{BusyStatus, report};
use crate::progress::{ProgressReporter, ProgressStep};
use crate::server::Server;
use crate::workspace_folders::{Folder, FolderContents, PendingChanges};
use corpus_builder::{BuildEvent, CorpusBuild, CorpusBuilder};
use folder_watcher::{FolderWatcher, WakeReason};

/// Files change in bursts: a save of all, a switch of branches. The index waits this long after the first one.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// A folder with so many files and folders is read in a second or two, however slow the machine, and counted in milliseconds.
const SMALL_FOLDER_ENTRIES: usize = 1_000;

/// Where to look for changes.
enum RefreshScope {
    Paths(Vec<PathBuf>),
    /// At what no watcher sees.
    Unwatched,
    Everything,
}

impl RefreshScope {
    fn from_pending(pending: PendingChanges) -> RefreshScope {
        match pending {
            PendingChanges::Paths(paths) => RefreshScope::Paths(paths),
            PendingChanges::Everything => RefreshScope::Everything,
            PendingChanges::Closed => RefreshScope::Paths(Vec::new()),
        }
    }
}

/// Something stopped that should not have; the log says where.
#[derive(Debug, PartialEq, Eq)]
struct TaskPanic;

/// Keeps what is known of a folder up to date until it is removed.
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
                format!("reading {} stopped by a defect; open it again", folder.name),
            )
            .await;
        }
        folder.stop_tracking();
    });
}

/// Finds out whether a folder is read in no time. Nothing is read for this, and nothing waits for it but the folder itself.
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

/// Goes on until there is a defect.
async fn keep_up_to_date(
    server: &Server,
    folder: &Arc<Folder>,
) -> Result<std::convert::Infallible, TaskPanic> {
    let mut watching = FolderWatcher::new(server, folder);
    let mut tokens = CorpusBuilder::new(server.background_pool.clone());
    let mut settings = folder.settings.subscribe();
    let mut indexer = loop {
        // What was told so far is seen by reading everything.
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
                RefreshScope::from_pending(folder.take_pending())
            }
            Ok(()) = settings.changed() => {
                tokens.set_needed(reads_tokens(server, folder).await);
                continue;
            }
            next = watching.next_wake() => {
                if next == WakeReason::Restart {
                    watching.begin(&indexer);
                }
                if next == WakeReason::Poll { RefreshScope::Unwatched } else { RefreshScope::Everything }
            }
            event = tokens.next_event() => {
                match event {
                    BuildEvent::Built(built) => publish_tokens(server, folder, built, &indexer).await?,
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

/// Waits for a folder that could not be read, looking for nothing but whether it can be.
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

/// Opens a folder and publishes what it holds: first what is searched, then with the tokens. `None` if it cannot be read.
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
    let opened = open_indexer(server, folder, shown.steps.clone()).await;
    if let Ok(Ok(indexer)) = &opened {
        let (indexed, contents) = (indexer.current().clone(), folder.state().contents);
        let found = run_in_background(server, folder, move || with_index(&contents, &indexed)).await?;
        publish_index(server, folder, found);
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "indexed");
        tokens.begin(indexer, folder);
        if let BuildEvent::Built(built) = tokens.next_event().await {
            publish_tokens(server, folder, built, indexer).await?;
        }
    }
    shown.end().await;
    tracing::info!(folder = folder.name, took = ?start.elapsed(), "read");
    match opened? {
        Ok(indexer) => {
            busy.end("normal", ready_message(&folder.name, &folder.state().contents.index)).await;
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

/// That a folder was read, and how much of it was not.
fn ready_message(name: &str, world: &WorkspaceIndex) -> String {
    match world.tokens().map_or(0, |tokens| tokens.stats().excluded_files) {
        0 => format!("{name} is read"),
        1 => format!("{name} is read; the built-in engine has no room for 1 file of it"),
        files => format!("{name} is read; the built-in engine has no room for {files} files of it"),
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
        let progress = |reading| match reading {
            Reading::Walking { .. } => {}
            Reading::Reading { read, total } => drop(steps.send_replace(ProgressStep { done: read, total })),
        };
        Indexer::open_while(&root, &limits, cache, &progress, &|| !removed.is_cancelled())
    });
    let (indexer, opening) = match opening.await? {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let too_complex = indexer.current().index.too_complex().len();
    tracing::info!(
        folder = folder.name,
        reused = opening.reused,
        derived = opening.rebuilt,
        too_complex,
        "opened"
    );
    if let Some(miss) = opening.miss {
        tracing::warn!(folder = folder.name, reason = %miss, "the cache is built anew");
    }
    Ok(Ok(indexer))
}

/// What was known, with what can be searched by now in its place; the tokens follow.
fn with_index(contents: &FolderContents, indexed: &IndexedFolder) -> FolderContents {
    let files = Arc::clone(indexed.files.files());
    FolderContents {
        index: contents.index.with_index(files, indexed.index.clone(), Arc::clone(&indexed.projects)),
        files: Some(indexed.files.clone()),
        code_version: contents.code_version.clone(),
    }
}

fn publish_index(server: &Server, folder: &Folder, contents: FolderContents) {
    server.background_pool.drop_in_background(folder.update_contents(contents));
}

/// Publishes tokens with what can be searched by now, which may be newer, and keeps them for the next start where that pays.
async fn publish_tokens(
    server: &Server,
    folder: &Arc<Folder>,
    built: Option<CorpusBuild>,
    indexer: &Indexer,
) -> Result<(), TaskPanic> {
    let CorpusBuild { index: world, code_version: code, is_cached } = built.ok_or(TaskPanic)?;
    let files = indexer.current().files.clone();
    let is_source = !files.files().is_empty();
    let contents = folder.state().contents;
    let joined = run_in_background(server, folder, move || contents.index.with_tokens_of(&world)).await?;
    let corpus = joined.tokens().cloned();
    let old = folder.finish_indexing(FolderContents {
        index: joined,
        // Code may still be written where there is none.
        files: is_source.then_some(files),
        code_version: is_source.then_some(code),
    });
    server.background_pool.drop_in_background(old);
    match corpus.zip(indexer.cache().cloned()) {
        Some((corpus, cache)) if !is_cached => {
            save_tokens(server, folder, indexer.follower().root().to_owned(), corpus, cache).await
        }
        _ => Ok(()),
    }
}

/// Keeps tokens for the next start. By now they are published, so that nobody has those that were cached before: where a file that is in
/// use cannot be replaced, that matters.
async fn save_tokens(
    server: &Server,
    folder: &Arc<Folder>,
    root: PathBuf,
    corpus: Arc<Corpus>,
    cache: Cache,
) -> Result<(), TaskPanic> {
    let owned = Arc::clone(folder);
    let saving =
        run_in_background(server, folder, move || match indexer::save_corpus(&cache, &root, &corpus) {
            Ok(bytes) => tracing::info!(folder = owned.name, bytes, "tokens cached"),
            Err(error) => owned.warn_of_cache_once(&error),
        });
    saving.await
}

/// Takes in what has changed on disk, and hears of what is new there; says whether anything is different.
async fn refresh(
    server: &Server,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
    look: RefreshScope,
    watching: &mut FolderWatcher,
) -> Result<(Indexer, bool), TaskPanic> {
    let start = Instant::now();
    // A look at a few paths may see nothing of a folder that is gone.
    let look = if folder.has_failed() { RefreshScope::Everything } else { look };
    let contents = folder.state().contents;
    let moves = indexer.follower().root_changes();
    let looking = run_in_background(server, folder, move || {
        let refreshed = match &look {
            RefreshScope::Paths(paths) => indexer.refresh(paths),
            RefreshScope::Unwatched => indexer.poll(),
            RefreshScope::Everything => indexer.refresh_all(),
        };
        let found =
            refreshed.map(|is_different| is_different.then(|| with_index(&contents, indexer.current())));
        (indexer, look, found)
    });
    let (indexer, look, found) = looking.await?;
    if !matches!(look, RefreshScope::Unwatched) {
        tracing::debug!(folder = folder.name, took = ?start.elapsed(), "looked");
    }
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            watching.wait_for_folder();
            report_failure(server, folder, error.to_string()).await;
            return Ok((indexer, false));
        }
    };
    let is_different = found.is_some();
    if let Some(found) = found {
        publish_index(server, folder, found);
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "changes taken in");
    }
    if folder.recover() {
        report(&server.client, false, "normal", format!("{} can be read again", folder.name)).await;
        // Whatever was watched may be another folder by now.
        watching.begin(&indexer);
    } else if indexer.follower().root_changes() != moves {
        folder.forget_real_root();
        watching.begin(&indexer);
    } else {
        watching.follow_refresh(&indexer, &look, start.elapsed());
    }
    Ok((indexer, is_different))
}

/// Keeps what was derived for the next start, where that pays.
async fn save(server: &Server, folder: &Arc<Folder>, mut indexer: Indexer) -> Result<Indexer, TaskPanic> {
    let owned = Arc::clone(folder);
    let saving = run_in_background(server, folder, move || {
        match indexer.save() {
            Ok(Some(saved)) => {
                tracing::info!(folder = owned.name, files = saved.files, bytes = saved.bytes, "cached");
            }
            Ok(None) => {}
            // Told once: a folder without room will not have any the next time.
            Err(error) => owned.warn_of_cache_once(&error),
        }
        indexer
    });
    saving.await
}

/// Does what takes long, or waits for a disk, where that is no harm.
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

/// Tells, once, why a folder cannot be read.
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
    use syntax::{Language, SourceFile};

    use super::*;

    #[tokio::test]
    async fn a_defect_is_told_and_goes_no_further() {
        let background = BackgroundPool::start().unwrap();
        let urgency = || watch::Sender::new(Priority::LargeFolder).subscribe();
        assert_eq!(run(&background, urgency(), || 1).await, Ok(1));
        let panicked = run(&background, urgency(), || -> u8 { panic!("as it is told to") }).await;
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
                &WorkspaceIndex::with_tokens(Arc::clone(&files), Corpus::build_up_to(max_tokens, &files)),
            )
        };
        assert_eq!(read(100, 3), "shop is read");
        assert_eq!(read(1, 1), "shop is read; the built-in engine has no room for 1 file of it");
        assert_eq!(read(1, 3), "shop is read; the built-in engine has no room for 3 files of it");
        assert_eq!(ready_message("shop", &WorkspaceIndex::empty()), "shop is read");
    }
}
