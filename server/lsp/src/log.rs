//! The log file: records the server's actions, without any code of the user.
//!
//! Only events of our own crates are written; those of the protocol library contain whole messages. Panic messages may quote
//! code, so only the location of a panic is written.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing::Level;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// Maximum size of the log file, in bytes, before it is rotated. Together with the previous file it takes twice as much, plus a
/// line.
const MAX_BYTES: u64 = 4 << 20;

/// Crates whose events are written.
const OWN_CRATES: [&str; 10] = [
    "lsp",
    "session",
    "recording",
    "serve",
    "collect",
    "http_server",
    "completion",
    "engines",
    "replay",
    "workspace",
];

/// Log settings.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// The file; several servers may share it.
    pub path: PathBuf,
    /// Least severe level that is written.
    pub level: Level,
}

/// Starts logging. A server that cannot write its log runs without one; code is never written to standard error either.
pub fn start_logging(log: Option<&LogSettings>) {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
        tracing::error!(place, "panic");
    }));
    let opened = log.and_then(|log| Some((RotatingFile::open(&log.path, MAX_BYTES).ok()?, log.level)));
    let Some((file, level)) = opened else { return };
    let lines = fmt::layer().with_writer(Mutex::new(file)).with_ansi(false).with_filter(FilterFn::new(
        move |metadata| {
            let of = metadata.target().split("::").next().unwrap_or_default();
            *metadata.level() <= level && OWN_CRATES.contains(&of)
        },
    ));
    // Fails only if a second server runs in the same process.
    let _ = tracing_subscriber::registry().with(lines).try_init();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), process = std::process::id(), "start");
}

/// A file that is rotated when it exceeds a size.
struct RotatingFile {
    path: PathBuf,
    file: File,
    max_bytes: u64,
}

impl RotatingFile {
    fn open(path: &Path, max_bytes: u64) -> io::Result<RotatingFile> {
        if let Some(folder) = path.parent() {
            private_files::own_folder(folder)?;
        }
        let mut bounded = RotatingFile { path: path.to_owned(), file: append_to(path)?, max_bytes };
        bounded.rotate()?;
        Ok(bounded)
    }

    /// Rotates the file if it is too large. Of several servers with one log, the one that locks the file renames it; the others
    /// find the new one.
    fn rotate(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() <= self.max_bytes {
            return Ok(());
        }
        self.file.lock()?;
        if std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > self.max_bytes) {
            private_files::restrict(&self.path)?;
            std::fs::rename(&self.path, self.path.with_extension("old.log"))?;
        }
        self.file = append_to(&self.path)?;
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Logging continues if the file cannot be rotated.
        let _ = self.rotate();
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    private_files::open(OpenOptions::new().create(true).append(true), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_shared_by_servers_rotates_within_its_size_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lsp.log");
        let mut logs = [100, 100].map(|max_bytes| RotatingFile::open(&path, max_bytes).unwrap());
        for number in 0..100 {
            let line = format!("line {number}\n");
            logs[number % 2].write_all(line.as_bytes()).unwrap();
            for path in [&path, &path.with_extension("old.log")] {
                assert!(
                    std::fs::metadata(path).map_or(0, |metadata| metadata.len()) <= 100 + 2 * 10,
                    "{number}"
                );
            }
        }
        let both = [path.with_extension("old.log"), path].map(|path| std::fs::read_to_string(path).unwrap());
        let numbers: Vec<usize> =
            both.concat().lines().map(|line| line.strip_prefix("line ").unwrap().parse().unwrap()).collect();
        assert!(numbers.is_sorted() && numbers.last() == Some(&99) && numbers.len() > 10, "{numbers:?}");
    }
}
