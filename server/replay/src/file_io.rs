//! Files as runs and suites need them: whole or not there at all, or growing by whole lines.
//!
//! Who writes holds the lock of a file that nobody reads, because a lock on Windows keeps readers out too.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cases::ParseError;

use crate::ReplayError;

/// The state of a file at one moment: two that are equal stand for the same contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp(Option<(u64, SystemTime)>);

impl FileStamp {
    /// Of the file at `path`, which need not be there.
    pub(crate) fn of(path: &Path) -> FileStamp {
        // File systems without times exist; there the size has to do.
        let time = |metadata: &Metadata| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        FileStamp(fs::metadata(path).ok().map(|metadata| (metadata.len(), time(&metadata))))
    }
}

/// A file that grows by whole lines.
pub(crate) struct AppendFile {
    path: PathBuf,
    file: File,
}

impl AppendFile {
    /// Opens a file for appending; makes it if there is none.
    pub(crate) fn open(path: &Path) -> io::Result<AppendFile> {
        let file = private_files::open(OpenOptions::new().create(true).append(true), path)?;
        Ok(AppendFile { path: path.to_owned(), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Keeps the first `bytes` of the file and cuts off the rest.
    pub(crate) fn truncate(&self, bytes: u64) -> io::Result<()> {
        // Windows cuts no file by a handle that is open for appending.
        OpenOptions::new().write(true).open(&self.path)?.set_len(bytes)
    }

    /// Adds whole lines; they are in the file when this returns. When it fails, nothing of them stays.
    pub(crate) fn append(&mut self, lines: &str) -> io::Result<()> {
        let before = self.len()?;
        self.file.write_all(lines.as_bytes()).inspect_err(|_| {
            // Best effort: the error that is reported is the one that matters, and readers cope with half a line.
            let _ = self.truncate(before);
        })
    }

    /// Returns when the lines would outlast a loss of power.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Takes the lock of the file at `path` until the returned handle is dropped; `None` if somebody else has it.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = private_files::open(OpenOptions::new().create(true).truncate(false).write(true), path)?;
    // File systems without locks exist; two writers on one of them are the user's own doing.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    Ok((!is_taken).then_some(file))
}

/// The file's bytes; none where there is no file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReplayError> {
    match fs::read(path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|reason| ReplayError::Read { path: path.to_owned(), reason }),
    }
}

/// The file without a torn last line, which may end inside a character.
pub(crate) fn read_whole_lines(path: &Path) -> Result<String, ReplayError> {
    let mut bytes = read_bytes(path)?;
    bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
    let utf8 = |_| ReplayError::Read { path: path.to_owned(), reason: io::Error::other("not valid UTF-8") };
    String::from_utf8(bytes).map_err(utf8)
}

pub(crate) fn read_text(path: &Path) -> Result<String, ReplayError> {
    fs::read_to_string(path).map_err(|reason| ReplayError::Read { path: path.to_owned(), reason })
}

/// Writes a file whole, or leaves it as it was. A link stays a link, and what is no file (a terminal, a pipe) is written to.
pub(crate) fn write_atomically(path: &Path, text: &str) -> Result<(), ReplayError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_replaceable = fs::metadata(&target).map_or(true, |metadata| metadata.is_file());
    let written =
        if is_replaceable { replace(&target, text) } else { private_files::write(&target, text.as_bytes()) };
    written.map_err(write_error(path))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".partial");
    let written = private_files::write(Path::new(&temporary), text.as_bytes());
    written.and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        // Best effort: the error that is reported is the one that matters.
        let _ = fs::remove_file(&temporary);
    })
}

pub(crate) fn write_error(path: &Path) -> impl FnOnce(io::Error) -> ReplayError {
    let path = path.to_owned();
    |reason| ReplayError::Write { path, reason }
}

pub(crate) fn parse_error(path: &Path) -> impl FnOnce(ParseError) -> ReplayError {
    let path = path.to_owned();
    |problem| ReplayError::Parse { path, problem }
}
