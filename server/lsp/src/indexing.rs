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
use tower_lsp_server::Client;
use workspace::{Limits, Progress as Reading, check_folder};

use crate::background::Background;
use crate::background_threads;
use crate::ext::{DidChangeStatus, DidChangeStatusParams};
use crate::folders::{Contents, Folder, Pending};
use crate::progress::{Shown, Step};
use crate::server::Server;
use tokens::{Built, Event, Tokens};
use watching::{Next, Watching};

/// Files change in bursts: a save of all, a switch of branches. The index waits this long after the first one.
const QUIET: Duration = Duration::from_millis(50);

/// Something stopped that should not have; the log says where.
#[derive(Debug, PartialEq, Eq)]
struct Defect;

/// Keeps what is known of a folder up to date until it is removed.
pub(crate) fn start(server: &Server, folder: Arc<Folder>) {
    let server = server.clone();
    let removed = folder.removed.clone();
    tokio::spawn(async move {
        let keeping = AssertUnwindSafe(keep_up(&server, &folder)).catch_unwind();
        if removed.run_until_cancelled(keeping).await.is_some() {
            fail(&server, &folder, format!("reading {} stopped by a defect; open it again", folder.name))
                .await;
        }
        folder.leave();
    });
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
        let pending = tokio::select! {
            () = folder.changed.notified() => {
                tokio::time::sleep(QUIET).await;
                folder.take_pending()
            }
            Ok(()) = settings.changed() => {
                tokens.are_read(reads_tokens(server, folder).await);
                continue;
            }
            next = watching.next() => {
                if next == Next::Begin {
                    watching.begin(&indexer);
                }
                Pending::Everything
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
        (indexer, is_different) = look(server, folder, indexer, pending, &mut watching).await?;
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
        if beside(&server.background, move || check_folder(&root)).await?.is_ok() {
            return Ok(());
        }
    }
}

/// Opens a folder and publishes what it holds: first what is searched, then with the tokens. `None` if it cannot be read.
async fn open(server: &Server, folder: &Arc<Folder>, tokens: &mut Tokens) -> Result<Option<Indexer>, Defect> {
    let start = Instant::now();
    folder.begin();
    tell(&server.client, true, "normal", format!("reading {}", folder.name)).await;
    let work = server.works.begin_anew();
    let shown = Shown::begin(server, &work, &format!("Ghostbench reads {}", folder.name), false);
    let opened = index(server, folder, shown.steps.clone()).await;
    if let Ok(Ok(indexer)) = &opened {
        let (indexed, contents) = (indexer.indexed().clone(), folder.reading().contents);
        let found = beside(&server.background, move || with_index(&contents, &indexed)).await?;
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
            tell(&server.client, false, "normal", is_read(&folder.name, &folder.reading().contents.world))
                .await;
            Ok(Some(save(server, folder, indexer).await?))
        }
        Err(reason) => {
            fail(server, folder, reason).await;
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
    let (root, cache) = (folder.root.clone(), server.setup.cache.clone());
    let limits = Limits { threads: background_threads(), ..Limits::standard() };
    let opening = beside(&server.background, move || {
        Indexer::open(&root, &limits, cache, &|reading| match reading {
            Reading::Walking { .. } => {}
            Reading::Reading { read, total } => drop(steps.send_replace(Step { done: read, total })),
        })
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
    let joined = beside(&server.background, move || contents.world.with_tokens_of(&world)).await?;
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
    let folder = Arc::clone(folder);
    let saving = beside(&server.background, move || match indexer::save_tokens(&cache, &root, &corpus) {
        Ok(bytes) => tracing::info!(folder = folder.name, bytes, "tokens cached"),
        Err(error) => folder.warn_of_cache(&error),
    });
    saving.await
}

/// Takes in what has changed on disk, and hears of what is new there; says whether anything is different.
async fn look(
    server: &Server,
    folder: &Arc<Folder>,
    mut indexer: Indexer,
    pending: Pending,
    watching: &mut Watching,
) -> Result<(Indexer, bool), Defect> {
    let start = Instant::now();
    // A look at a few paths may see nothing of a folder that is gone.
    let pending = if folder.has_failed() { Pending::Everything } else { pending };
    let contents = folder.reading().contents;
    let looking = beside(&server.background, move || {
        let refreshed = match pending {
            Pending::Paths(paths) => indexer.refresh(&paths),
            Pending::Everything => indexer.refresh_all(),
            Pending::Nobody => Ok(false),
        };
        let found =
            refreshed.map(|is_different| is_different.then(|| with_index(&contents, indexer.indexed())));
        (indexer, found)
    });
    let (indexer, found) = looking.await?;
    tracing::debug!(folder = folder.name, took = ?start.elapsed(), "looked");
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
        tell(&server.client, false, "normal", format!("{} can be read again", folder.name)).await;
        // Whatever was watched may be another folder by now.
        watching.begin(&indexer);
    } else {
        watching.follow(&indexer, start.elapsed());
    }
    Ok((indexer, is_different))
}

/// Keeps what was derived for the next start, where that pays.
async fn save(server: &Server, folder: &Arc<Folder>, mut indexer: Indexer) -> Result<Indexer, Defect> {
    let folder = Arc::clone(folder);
    let saving = beside(&server.background, move || {
        match indexer.save() {
            Ok(Some(saved)) => {
                tracing::info!(folder = folder.name, files = saved.files, bytes = saved.bytes, "cached");
            }
            Ok(None) => {}
            // Told once: a folder without room will not have any the next time.
            Err(error) => folder.warn_of_cache(&error),
        }
        indexer
    });
    saving.await
}

/// Does what takes long, or waits for a disk, where that is no harm.
async fn beside<T: Send + 'static>(
    background: &Background,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Defect> {
    background.run(work).await.ok_or(Defect)
}

/// Tells, once, why a folder cannot be read.
async fn fail(server: &Server, folder: &Folder, reason: String) {
    if folder.fail(reason.clone()) {
        tracing::warn!(folder = folder.name, reason, "cannot be read");
        tell(&server.client, false, "warning", reason).await;
    }
}

async fn tell(client: &Client, busy: bool, kind: &str, message: String) {
    let params = DidChangeStatusParams { busy, kind: kind.to_owned(), message };
    client.send_notification::<DidChangeStatus>(params).await;
}

#[cfg(test)]
mod tests {
    use syntax::{Language, SourceFile};

    use super::*;

    #[tokio::test]
    async fn a_defect_is_told_and_goes_no_further() {
        let background = Background::start().unwrap();
        assert_eq!(beside(&background, || 1).await, Ok(1));
        assert_eq!(beside(&background, || -> u8 { panic!("as it is told to") }).await, Err(Defect));
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
