//! The log file: what the server did, without a line of anybody's code.
//!
//! Only our own events are written; the protocol library's hold whole messages. Messages of panics may quote the text they stumbled
//! over, so of a panic only the place is written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing::{Level, Metadata};
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// A log that has grown to this size, bytes, is put aside for a new one when a server starts.
const MAX_BYTES: u64 = 4 << 20;

/// Crates whose events are written.
const OURS: [&str; 5] = ["lsp", "completion", "engines", "replay", "workspace"];

/// Where to log, and how much.
#[derive(Clone, Debug)]
pub struct Log {
    /// The file; several servers may share it.
    pub path: PathBuf,
    /// The least important events that are written.
    pub level: Level,
}

/// Begins to log. A server that cannot write its log serves without one, and never writes code to standard error either.
pub(crate) fn start(log: Option<&Log>) {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
        tracing::error!(place, "a defect: panic");
    }));
    let Some((file, level)) = log.and_then(|log| Some((open(&log.path).ok()?, log.level))) else { return };
    let is_ours = move |metadata: &Metadata<'_>| {
        let of = metadata.target().split("::").next().unwrap_or_default();
        *metadata.level() <= level && OURS.contains(&of)
    };
    let lines =
        fmt::layer().with_writer(Mutex::new(file)).with_ansi(false).with_filter(FilterFn::new(is_ours));
    // Only a second server in one process could be here before.
    let _ = tracing_subscriber::registry().with(lines).try_init();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), process = std::process::id(), "start");
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private_files::own_folder(folder)?;
    }
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > MAX_BYTES) {
        private_files::restrict(path)?;
        fs::rename(path, path.with_extension("old.log"))?;
    }
    private_files::open(OpenOptions::new().create(true).append(true), path)
}
