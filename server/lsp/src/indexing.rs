//! Reading a folder behind the running server: once at the start, with progress, and again when its files changed.
//!
//! Requests never wait for it; until it is done they know less. It leaves one core to them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use completion::World;
use replay::Code;
use tokio::sync::watch;
use tower_lsp_server::Client;
use workspace::{Error, Limits, Progress as Reading};

use crate::background_threads;
use crate::ext::{DidChangeStatus, DidChangeStatusParams};
use crate::folders::{Contents, Folder, State};
use crate::progress::{Shown, Step};
use crate::server::Server;

/// Files change in bursts: a save of all, a switch of branches. Reading waits at least this long after the first one.
const BURST: Duration = Duration::from_millis(500);
/// Where files change all the time, reading takes at most a sixth of it: it rests this many times as long as it took.
const REST: u32 = 5;

/// Keeps what is known of a folder up to date until it is removed.
pub(crate) fn start(server: &Server, folder: Arc<Folder>) {
    let server = server.clone();
    let removed = folder.removed.clone();
    tokio::spawn(async move { removed.run_until_cancelled(keep_up(server, folder)).await });
}

async fn keep_up(server: Server, folder: Arc<Folder>) {
    tell(&server.client, true, "normal", format!("reading {}", folder.name)).await;
    let work = server.works.begin_anew();
    let shown = Shown::begin(&server, &work, &format!("Ghostbench reads {}", folder.name), false);
    let mut took = read_again(&folder, Some(shown.steps.clone())).await;
    shown.end().await;
    match folder.reading().state {
        State::Failed(reason) => tell(&server.client, false, "warning", reason).await,
        _ => tell(&server.client, false, "normal", format!("{} is read", folder.name)).await,
    }
    loop {
        folder.changed.notified().await;
        tokio::time::sleep(BURST.max(took * REST)).await;
        took = read_again(&folder, None).await;
    }
}

/// Reads a folder, and says how long it took.
async fn read_again(folder: &Arc<Folder>, progress: Option<watch::Sender<Step>>) -> Duration {
    let start = Instant::now();
    let reading = Arc::clone(folder);
    let task = tokio::task::spawn_blocking(move || {
        let read = read(&reading.root, &reading.contents(), progress);
        if let Some(read) = read.transpose() {
            reading.publish(read);
        }
    });
    if task.await.is_err() {
        folder.publish(Err(format!("reading {} stopped by a defect", folder.name)));
    }
    let took = start.elapsed();
    tracing::info!(folder = folder.name, ?took, state = ?folder.reading().state, "read");
    took
}

/// What is on disk now; `None` if it is what was `known`.
fn read(
    root: &Path,
    known: &Contents,
    progress: Option<watch::Sender<Step>>,
) -> Result<Option<Contents>, String> {
    let threads = background_threads();
    let tell = |done, total| {
        if let Some(progress) = &progress {
            progress.send_replace(Step { done, total });
        }
    };
    let limits = Limits { threads, ..Limits::standard() };
    let read = workspace::load(root, &limits, &|reading| match reading {
        Reading::Walking { .. } => {}
        Reading::Reading { read, total } => tell(read, total),
    });
    let files = match read {
        Ok(files) => files,
        // Code may still be written here.
        Err(Error::NoSource { .. }) => return Ok(Some(Contents::default())),
        Err(error) => return Err(error.to_string()),
    };
    if known.files.as_ref().is_some_and(|known| known.tree_hash() == files.tree_hash()) {
        return Ok(None);
    }
    let world = World::new(Arc::clone(files.files()));
    let code = Code::new(&files, workspace::git_state(root).as_ref());
    Ok(Some(Contents { code: Some(code), world, files: Some(files) }))
}

async fn tell(client: &Client, busy: bool, kind: &str, message: String) {
    let params = DidChangeStatusParams { busy, kind: kind.to_owned(), message };
    client.send_notification::<DidChangeStatus>(params).await;
}
