//! Keeping what is known of a folder up to date behind the running server.
//!
//! ```text
//! open: cache + disk ─► index ──► published ─► tokens ─► published, ready
//! told of changes ─► quiet for a moment ─► index ──► published ─► tokens, when rested ─► published
//! ```
//!
//! Requests never wait for it; until it is done they know less. It leaves one core to them. The index takes in what changed and
//! nothing else; the built-in engine's tokens are put together anew, which takes about a second for a million lines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use completion::World;
use indexer::{Indexed, Indexer};
use replay::Code;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tower_lsp_server::Client;
use workspace::watch::{Told, Watcher};
use workspace::{Limits, Progress as Reading};

use crate::background_threads;
use crate::ext::{DidChangeStatus, DidChangeStatusParams};
use crate::folders::{Contents, Folder, Pending};
use crate::progress::{Shown, Step};
use crate::server::Server;

/// Files change in bursts: a save of all, a switch of branches. The index waits this long after the first one.
const QUIET: Duration = Duration::from_millis(50);
/// Where files change all the time, putting the tokens together takes at most a sixth of it: it rests this many times as long.
const REST: u32 = 5;
/// Where nobody tells of changes, everything is looked at so often; it takes a second for a million lines at worst.
const POLLING: Duration = Duration::from_secs(30);

/// Keeps what is known of a folder up to date until it is removed.
pub(crate) fn start(server: &Server, folder: Arc<Folder>) {
    let server = server.clone();
    let removed = folder.removed.clone();
    tokio::spawn(async move { removed.run_until_cancelled(keep_up(server, folder)).await });
}

async fn keep_up(server: Server, folder: Arc<Folder>) {
    let mut indexer = loop {
        if let Some(indexer) = open(&server, &folder).await {
            break indexer;
        }
        folder.changed.notified().await;
    };
    let mut watcher = watch_files(&server, &folder, &indexer);
    let mut tokens = Tokens::default();
    loop {
        tokio::select! {
            () = folder.changed.notified() => {
                tokio::time::sleep(QUIET).await;
                let pending = folder.take_pending();
                let Some((refreshed, is_different)) = refresh(&folder, indexer, pending).await else { return };
                indexer = refreshed;
                if let Some(watcher) = &mut watcher
                    && let Err(error) = watcher.follow(indexer.follower())
                {
                    tracing::warn!(folder = folder.name, %error, "not all folders are watched");
                }
                if is_different {
                    tokens.are_stale = true;
                }
            }
            event = tokens.next() => match event {
                Event::Built(built) => publish_tokens(&folder, built, &indexer),
                Event::Due => {
                    tokens.begin(indexer.indexed());
                    indexer = save(&folder, indexer).await;
                }
            }
        }
    }
}

/// Opens a folder and publishes what it holds: first what is searched, then with the tokens. `None` if that failed.
async fn open(server: &Server, folder: &Arc<Folder>) -> Option<Indexer> {
    let start = Instant::now();
    tell(&server.client, true, "normal", format!("reading {}", folder.name)).await;
    let work = server.works.begin_anew();
    let shown = Shown::begin(server, &work, &format!("Ghostbench reads {}", folder.name), false);
    let opened = index(server, folder, shown.steps.clone()).await;
    let opened = match opened {
        Ok(indexer) => {
            publish_index(folder, indexer.indexed());
            tracing::info!(folder = folder.name, took = ?start.elapsed(), "indexed");
            Ok(with_tokens(folder, indexer).await)
        }
        Err(reason) => Err(reason),
    };
    shown.end().await;
    tracing::info!(folder = folder.name, took = ?start.elapsed(), state = ?folder.reading().state, "read");
    match opened {
        Ok(indexer) => {
            tell(&server.client, false, "normal", format!("{} is read", folder.name)).await;
            Some(save(folder, indexer).await)
        }
        Err(reason) => {
            folder.fail(reason.clone());
            tell(&server.client, false, "warning", reason).await;
            None
        }
    }
}

async fn index(server: &Server, folder: &Folder, steps: watch::Sender<Step>) -> Result<Indexer, String> {
    let (root, cache) = (folder.root.clone(), server.setup.cache.clone());
    let limits = Limits { threads: background_threads(), ..Limits::standard() };
    let opening = spawn_blocking(move || {
        Indexer::open(&root, &limits, cache, &|reading| match reading {
            Reading::Walking { .. } => {}
            Reading::Reading { read, total } => drop(steps.send_replace(Step { done: read, total })),
        })
    });
    let opened = opening.await.map_err(|_| format!("reading {} stopped by a defect", folder.name))?;
    let (indexer, opening) = opened.map_err(|error| error.to_string())?;
    tracing::info!(folder = folder.name, reused = opening.reused, derived = opening.derived, "opened");
    if let Some(miss) = opening.miss {
        tracing::warn!(folder = folder.name, reason = %miss, "the cache is built anew");
    }
    Ok(indexer)
}

/// Publishes what can be searched; the tokens stay as they are.
fn publish_index(folder: &Folder, indexed: &Indexed) {
    folder.update(|contents| Contents {
        world: contents.world.with_index(
            Arc::clone(indexed.files.files()),
            indexed.index.clone(),
            Arc::clone(&indexed.projects),
        ),
        files: Some(indexed.files.clone()),
        code: contents.code.clone(),
    });
}

/// Puts the tokens together for the first time.
async fn with_tokens(folder: &Arc<Folder>, indexer: Indexer) -> Indexer {
    let mut tokens = Tokens::default();
    tokens.begin(indexer.indexed());
    if let Event::Built(built) = tokens.next().await {
        publish_tokens(folder, built, &indexer);
    }
    indexer
}

/// Publishes tokens with what can be searched by now, which may be newer.
fn publish_tokens(folder: &Folder, built: Option<Built>, indexer: &Indexer) {
    let Some(Built { world, code }) = built else {
        return folder.fail(format!("reading {} stopped by a defect", folder.name));
    };
    let files = indexer.indexed().files.clone();
    let is_source = !files.files().is_empty();
    folder.finish(|contents| Contents {
        world: contents.world.with_tokens_of(&world),
        // Code may still be written where there is none.
        files: is_source.then_some(files),
        code: is_source.then_some(code),
    });
}

/// Takes in what has changed on disk; says whether anything is different. `None` after a defect, which is told.
async fn refresh(folder: &Arc<Folder>, mut indexer: Indexer, pending: Pending) -> Option<(Indexer, bool)> {
    let start = Instant::now();
    let refreshing = spawn_blocking(move || {
        let refreshed = match pending {
            Pending::Paths(paths) => indexer.refresh(&paths),
            Pending::Everything => indexer.refresh_all(),
        };
        (indexer, refreshed)
    });
    let Ok((indexer, refreshed)) = refreshing.await else {
        folder.fail(format!("reading {} stopped by a defect; open it again", folder.name));
        return None;
    };
    let is_different = match refreshed {
        Ok(is_different) => is_different,
        Err(error) => {
            tracing::warn!(folder = folder.name, %error, "cannot be read");
            folder.fail(error.to_string());
            false
        }
    };
    if is_different {
        publish_index(folder, indexer.indexed());
        tracing::info!(folder = folder.name, took = ?start.elapsed(), "changes taken in");
    }
    Some((indexer, is_different))
}

/// Keeps what was derived for the next start, where that pays.
async fn save(folder: &Arc<Folder>, mut indexer: Indexer) -> Indexer {
    let name = folder.name.clone();
    let folder = Arc::clone(folder);
    let saving = spawn_blocking(move || {
        match indexer.save() {
            Ok(Some(saved)) => {
                tracing::info!(folder = name, files = saved.files, bytes = saved.bytes, "cached")
            }
            Ok(None) => {}
            // Told once: a folder without room will not have any the next time.
            Err(error) => folder.warn_of_cache(&error),
        }
        indexer
    });
    match saving.await {
        Ok(indexer) => indexer,
        Err(defect) => std::panic::resume_unwind(defect.into_panic()),
    }
}

/// Where the client does not watch files, we do.
fn watch_files(server: &Server, folder: &Arc<Folder>, indexer: &Indexer) -> Option<Watcher> {
    if server.agreed().is_some_and(|agreed| agreed.client_has.file_watching) {
        return None;
    }
    let told = |folder: Arc<Folder>| {
        move |told| match told {
            Told::Paths(paths) => folder.note(paths),
            Told::Everything => folder.note_everything(),
        }
    };
    let watcher = Watcher::start(indexer.follower(), told(Arc::clone(folder)));
    Some(watcher.unwrap_or_else(|error| {
        server.warn(format!("{}: {error}; looking for changes every {} s", folder.name, POLLING.as_secs()));
        Watcher::polling(POLLING, told(Arc::clone(folder)))
    }))
}

/// The tokens of a folder, with what tells its code from other code.
struct Built {
    world: World,
    code: Code,
}

/// Putting tokens together beside everything else, one time after the other.
#[derive(Default)]
struct Tokens {
    /// Whether files have changed since they were put together.
    are_stale: bool,
    building: Option<JoinHandle<Built>>,
    begun: Option<Instant>,
    /// When they may be put together next.
    next: Option<Instant>,
}

impl Tokens {
    fn begin(&mut self, indexed: &Indexed) {
        let files = indexed.files.clone();
        self.are_stale = false;
        self.begun = Some(Instant::now());
        self.building = Some(spawn_blocking(move || Built {
            world: World::new(Arc::clone(files.files())),
            code: Code::new(&files, workspace::git_state(files.root()).as_ref()),
        }));
    }

    /// Waits until they are put together, or may and must be put together anew; for ever where neither will be.
    async fn next(&mut self) -> Event {
        if let Some(building) = &mut self.building {
            let built = building.await.ok();
            self.building = None;
            let took = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
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

/// What happens to tokens.
enum Event {
    /// They are put together; `None` after a defect.
    Built(Option<Built>),
    /// They are to be put together anew.
    Due,
}

async fn tell(client: &Client, busy: bool, kind: &str, message: String) {
    let params = DidChangeStatusParams { busy, kind: kind.to_owned(), message };
    client.send_notification::<DidChangeStatus>(params).await;
}
