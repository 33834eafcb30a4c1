//! Keeping what is known of a folder up to date behind the running server.
//!
//! ```text
//! open: cache + disk ─► index ──► published ─► tokens, from the cache ─► published, ready
//! told of changes ─► quiet for a moment ─► index and tokens ──► published
//!                                             └─► tokens put together anew, when worn, settled and rested ─► published, cached
//! ```
//!
//! Requests never wait for it; until it is done they know less. All that computes here is [`Background`] work, one after the other. The
//! index and the built-in engine's tokens take in what changed and nothing else; once much of the tokens has changed, all of them are put
//! together anew.

mod tokens;
mod watching;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::Corpus;
use cache::Cache;
use completion::World;
use futures_util::FutureExt;
use indexer::{Indexed, Indexer};
use tokio::sync::watch;
use workspace::{Limits, Progress as Reading, check_folder};

use crate::background::{Background, Urgency};
use crate::background_threads;
use crate::busy_status::{BusyStatus, report};
use crate::folders::{Contents, Folder, Pending};
use crate::progress::{Shown, Step};
use crate::server::Server;
use tokens::{Built, Event, Tokens};
use watching::{Next, Watching};

/// Files change in bursts: a save of all, a switch of branches. The index waits this long after the first one.
const QUIET: Duration = Duration::from_millis(50);

/// A folder with so many files and folders is read in a second or two, however slow the machine, and counted in milliseconds.
const SMALL_ENTRIES: usize = 1_000;

/// Where to look for changes.
enum Look {
    Paths(Vec<PathBuf>),
    /// At what no watcher sees.
    Unwatched,
    Everything,
}

impl Look {
    fn at(pending: Pending) -> Look {
        match pending {
            Pending::Paths(paths) => Look::Paths(paths),
            Pending::Everything => Look::Everything,
            Pending::Nobody => Look::Paths(Vec::new()),
        }
    }
}

/// Something stopped that should not have; the log says where.
#[derive(Debug, PartialEq, Eq)]
struct Defect;

/// Keeps what is known of a folder up to date until it is removed.
pub(crate) fn start(server: &Server, folder: Arc<Folder>) {
    let server = server.clone();
    let removed = folder.removed.clone();
    tokio::spawn(async move {
        size_up(&folder).await;
        let keeping = AssertUnwindSafe(keep_up(&server, &folder)).catch_unwind();
        if removed.run_until_cancelled(keeping).await.is_some() {
            fail(&server, &folder, format!("reading {} stopped by a defect; open it again", folder.name))
                .await;
        }
        folder.leave();
    });
}

/// Finds out whether a folder is read in no time. Nothing is read for this, and nothing waits for it but the folder itself.
async fn size_up(folder: &Folder) {
    let (root, removed) = (folder.root.clone(), folder.removed.clone());
    if removed.is_cancelled() {
        return;
    }
    let counting = tokio::task::spawn_blocking(move || workspace::is_small(&root, SMALL_ENTRIES));
    if counting.await.unwrap_or(false) {
        folder.is_small();
    }
}

/// Goes on until there is a defect.
async fn keep_up(server: &Server, folder: &Arc<Folder>) -> Result<std::convert::Infallible, Defect> {
    let mut watching = Watching::new(server, folder);
    let mut tokens = Tokens::new(server.background.clone());
    let mut settings = folder.settings.subscribe();
    let mut indexer = loop {
        // What was told so far is seen by reading everything.
        folder.take_pending();
        tokens.are_read(reads_tokens(server, folder).await);
        match open(server, folder, &mut tokens).await? {
            Some(indexer) => break indexer,
            None => until_there(server, folder, &mut watching).await?,
        }
    };
    watching.begin(&indexer);
    loop {
        let look_at = tokio::select! {
            () = folder.changed.notified() => {
                tokio::time::sleep(QUIET).await;
                Look::at(folder.take_pending())
            }
            Ok(()) = settings.changed() => {
                tokens.are_read(reads_tokens(server, folder).await);
                continue;
            }
            next = watching.next() => {
                if next == Next::Begin {
                    watching.begin(&indexer);
                }
                if next == Next::Poll { Look::Unwatched } else { Look::Everything }
            }
            event = tokens.next() => {
                match event {
                    Event::Built(built) => finish(server, folder, built, &indexer).await?,
                    Event::Due => {
                        indexer = save(server, folder, indexer).await?;
                        tokens.begin(&indexer, folder);
                    }
                }
                continue;
            }
        };
        let is_different;
        (indexer, is_different) = look(server, folder, indexer, look_at, &mut watching).await?;
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
async fn until_there(server: &Server, folder: &Arc<Folder>, watching: &mut Watching) -> Result<(), Defect> {
    loop {
        watching.wait_for_folder();
        tokio::select! {
            () = folder.changed.notified() => {}
            _ = watching.next() => {}
        }
        let root = folder.root.clone();
        if beside(server, folder, move || check_folder(&root)).await?.is_ok() {
            return Ok(());
        }
    }
}

/// Opens a folder and publishes what it holds: first what is searched, then with the tokens. `None` if it cannot be read.
async fn open(server: &Server, folder: &Arc<Folder>, tokens: &mut Tokens) -> Result<Option<Indexer>, Defect> {
    let start = Instant::now();
    folder.begin();
    let busy = BusyStatus::begin(&server.client, format!("reading {}", folder.name)).await;
    let work = server.works.begin_anew();
    let shown = Shown::begin(server, &work, &format!("Ghostbench reads {}", folder.name), false);
    let opened = index(server, folder, shown.steps.clone()).await;
    if let Ok(Ok(indexer)) = &opened {
        let (indexed, contents) = (indexer.indexed().clone(), folder.reading().contents);
        let found = beside(server, folder, move || with_index(&contents, &indexed)).await?;
        publish_index(server, folder, found);
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "indexed");
        tokens.begin(indexer, folder);
        if let Event::Built(built) = tokens.next().await {
            finish(server, folder, built, indexer).await?;
        }
    }
    shown.end().await;
    tracing::info!(folder = folder.name, took = ?start.elapsed(), "read");
    match opened? {
        Ok(indexer) => {
            busy.end("normal", is_read(&folder.name, &folder.reading().contents.world)).await;
            Ok(Some(save(server, folder, indexer).await?))
        }
        Err(reason) => {
            folder.fail(reason.clone());
            tracing::warn!(folder = folder.name, reason, "cannot be read");
            busy.end("warning", reason).await;
            Ok(None)
        }
    }
}

/// That a folder was read, and how much of it was not.
fn is_read(name: &str, world: &World) -> String {
    match world.tokens().map_or(0, |tokens| tokens.stats().left_out) {
        0 => format!("{name} is read"),
        1 => format!("{name} is read; the built-in engine has no room for 1 file of it"),
        files => format!("{name} is read; the built-in engine has no room for {files} files of it"),
    }
}

async fn index(
    server: &Server,
    folder: &Folder,
    steps: watch::Sender<Step>,
) -> Result<Result<Indexer, String>, Defect> {
    let (root, cache, removed) = (folder.root.clone(), server.setup.cache.clone(), folder.removed.clone());
    let limits = Limits { threads: background_threads(), ..Limits::standard() };
    let opening = beside(server, folder, move || {
        let progress = |reading| match reading {
            Reading::Walking { .. } => {}
            Reading::Reading { read, total } => drop(steps.send_replace(Step { done: read, total })),
        };
        Indexer::open_while(&root, &limits, cache, &progress, &|| !removed.is_cancelled())
    });
    let (indexer, opening) = match opening.await? {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let too_complex = indexer.indexed().index.too_complex().len();
    tracing::info!(
        folder = folder.name,
        reused = opening.reused,
        derived = opening.derived,
        too_complex,
        "opened"
    );
    if let Some(miss) = opening.miss {
        tracing::warn!(folder = folder.name, reason = %miss, "the cache is built anew");
    }
    Ok(Ok(indexer))
}

/// What was known, with what can be searched by now in its place; the tokens follow.
fn with_index(contents: &Contents, indexed: &Indexed) -> Contents {
    let files = Arc::clone(indexed.files.files());
    Contents {
        world: contents.world.with_index(files, indexed.index.clone(), Arc::clone(&indexed.projects)),
        files: Some(indexed.files.clone()),
        code: contents.code.clone(),
    }
}

fn publish_index(server: &Server, folder: &Folder, contents: Contents) {
    server.background.let_go(folder.update(contents));
}

/// Publishes tokens with what can be searched by now, which may be newer, and keeps them for the next start where that pays.
async fn finish(
    server: &Server,
    folder: &Arc<Folder>,
    built: Option<Built>,
    indexer: &Indexer,
) -> Result<(), Defect> {
    let Built { world, code, is_cached } = built.ok_or(Defect)?;
    let files = indexer.indexed().files.clone();
    let is_source = !files.files().is_empty();
    let contents = folder.reading().contents;
    let joined = beside(server, folder, move || contents.world.with_tokens_of(&world)).await?;
    let corpus = joined.tokens().cloned();
    let old = folder.finish(Contents {
        world: joined,
        // Code may still be written where there is none.
        files: is_source.then_some(files),
        code: is_source.then_some(code),
    });
    server.background.let_go(old);
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
) -> Result<(), Defect> {
    let owned = Arc::clone(folder);
    let saving = beside(server, folder, move || match indexer::save_tokens(&cache, &root, &corpus) {
        Ok(bytes) => tracing::info!(folder = owned.name, bytes, "tokens cached"),
        Err(error) => owned.warn_of_cache(&error),
    });
    saving.await
}

/// Takes in what has changed on disk, and hears of what is new there; says whether anything is different.
async fn look(
    server: &Server,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
    look: Look,
    watching: &mut Watching,
) -> Result<(Indexer, bool), Defect> {
    let start = Instant::now();
    // A look at a few paths may see nothing of a folder that is gone.
    let look = if folder.has_failed() { Look::Everything } else { look };
    let contents = folder.reading().contents;
    let moves = indexer.follower().moves();
    let looking = beside(server, folder, move || {
        let refreshed = match &look {
            Look::Paths(paths) => indexer.refresh(paths),
            Look::Unwatched => indexer.poll(),
            Look::Everything => indexer.refresh_all(),
        };
        let found =
            refreshed.map(|is_different| is_different.then(|| with_index(&contents, indexer.indexed())));
        (indexer, look, found)
    });
    let (indexer, look, found) = looking.await?;
    if !matches!(look, Look::Unwatched) {
        tracing::debug!(folder = folder.name, took = ?start.elapsed(), "looked");
    }
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            watching.wait_for_folder();
            fail(server, folder, error.to_string()).await;
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
    } else if indexer.follower().moves() != moves {
        folder.forget_real_root();
        watching.begin(&indexer);
    } else {
        watching.follow(&indexer, &look, start.elapsed());
    }
    Ok((indexer, is_different))
}

/// Keeps what was derived for the next start, where that pays.
async fn save(server: &Server, folder: &Arc<Folder>, mut indexer: Indexer) -> Result<Indexer, Defect> {
    let owned = Arc::clone(folder);
    let saving = beside(server, folder, move || {
        match indexer.save() {
            Ok(Some(saved)) => {
                tracing::info!(folder = owned.name, files = saved.files, bytes = saved.bytes, "cached");
            }
            Ok(None) => {}
            // Told once: a folder without room will not have any the next time.
            Err(error) => owned.warn_of_cache(&error),
        }
        indexer
    });
    saving.await
}

/// Does what takes long, or waits for a disk, where that is no harm.
async fn beside<T: Send + 'static>(
    server: &Server,
    folder: &Folder,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Defect> {
    run(&server.background, folder.urgency.subscribe(), work).await
}

async fn run<T: Send + 'static>(
    background: &Background,
    urgency: watch::Receiver<Urgency>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Defect> {
    background.run(urgency, work).await.ok_or(Defect)
}

/// Tells, once, why a folder cannot be read.
async fn fail(server: &Server, folder: &Folder, reason: String) {
    if folder.fail(reason.clone()) {
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
        let background = Background::start().unwrap();
        let urgency = || watch::Sender::new(Urgency::Large).subscribe();
        assert_eq!(run(&background, urgency(), || 1).await, Ok(1));
        let panicked = run(&background, urgency(), || -> u8 { panic!("as it is told to") }).await;
        assert_eq!(panicked, Err(Defect));
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
            is_read("shop", &World::with_tokens(Arc::clone(&files), Corpus::build_up_to(max_tokens, &files)))
        };
        assert_eq!(read(100, 3), "shop is read");
        assert_eq!(read(1, 1), "shop is read; the built-in engine has no room for 1 file of it");
        assert_eq!(read(1, 3), "shop is read; the built-in engine has no room for 3 files of it");
        assert_eq!(is_read("shop", &World::empty()), "shop is read");
    }
}
