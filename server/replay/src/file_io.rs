//! Files of runs and suites: written atomically, or appended line by line.
//!
//! Writers lock a separate file that is never read, because a lock on Windows also blocks readers.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cases::ParseError;

use crate::ReplayError;

/// State of a file at one moment; equal stamps mean the same content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp(Option<(u64, SystemTime)>);

impl FileStamp {
    /// Returns the stamp of the file at `path`, which may be missing.
    pub(crate) fn of(path: &Path) -> FileStamp {
        // On file systems without modification times, only the size is compared.
        let time = |metadata: &Metadata| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        FileStamp(fs::metadata(path).ok().map(|metadata| (metadata.len(), time(&metadata))))
    }
}

/// A file to which whole lines are appended.
pub(crate) struct AppendFile {
    path: PathBuf,
    file: File,
}

impl AppendFile {
    /// Opens a file for appending; creates it if missing.
    pub(crate) fn open(path: &Path) -> io::Result<AppendFile> {
        let file = private_files::open(OpenOptions::new().create(true).append(true), path)?;
        Ok(AppendFile { path: path.to_owned(), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Truncates the file to its first `bytes`.
    pub(crate) fn truncate(&self, bytes: u64) -> io::Result<()> {
        // Windows cannot truncate a file through a handle opened for appending.
        OpenOptions::new().write(true).open(&self.path)?.set_len(bytes)
    }

    /// Appends whole lines; they are in the file when this returns. On failure, none of them remains.
    pub(crate) fn append(&mut self, lines: &str) -> io::Result<()> {
        let before = self.len()?;
        self.file.write_all(lines.as_bytes()).inspect_err(|_| {
            // Best effort: the original error is reported, and readers tolerate an incomplete line.
            let _ = self.truncate(before);
        })
    }

    /// Returns when the lines would survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Locks the file at `path` until the returned handle is dropped; `None` if it is already locked.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = private_files::open(OpenOptions::new().create(true).truncate(false).write(true), path)?;
    // On file systems without locks, users must avoid concurrent writers.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    Ok((!is_taken).then_some(file))
}

/// Bytes of files that are compared at a time.
const COMPARED_BYTES: usize = 64 * 1024;

/// Whether two files have the same bytes.
pub(crate) fn have_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut one, mut other] = [one, other].map(|file| BufReader::with_capacity(COMPARED_BYTES, file));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let count = left.len().min(right.len());
        if count == 0 {
            // Both end here, unless one was changed meanwhile.
            return Ok(left.len() == right.len());
        }
        if left[..count] != right[..count] {
            return Ok(false);
        }
        one.consume(count);
        other.consume(count);
    }
}

/// Reads the file; returns no bytes if it is missing.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReplayError> {
    match fs::read(path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(|reason| ReplayError::Read { path: path.to_owned(), reason }),
    }
}

/// Reads the file without an incomplete last line, which may end inside a character.
pub(crate) fn read_whole_lines(path: &Path) -> Result<String, ReplayError> {
    let mut bytes = read_bytes(path)?;
    bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
    String::from_utf8(bytes)
        .map_err(|_| ReplayError::Read { path: path.to_owned(), reason: io::Error::other("not valid UTF-8") })
}

pub(crate) fn read_text(path: &Path) -> Result<String, ReplayError> {
    fs::read_to_string(path).map_err(|reason| ReplayError::Read { path: path.to_owned(), reason })
}

/// Writes a file atomically. Symbolic links are kept; special files such as terminals and pipes are written directly.
pub(crate) fn write_atomically(path: &Path, text: &str) -> Result<(), ReplayError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_replaceable = fs::metadata(&target).map_or(true, |metadata| metadata.is_file());
    let write = if is_replaceable { private_files::write_atomically } else { private_files::write };
    write(&target, text.as_bytes()).map_err(write_error(path))
}

pub(crate) fn write_error(path: &Path) -> impl FnOnce(io::Error) -> ReplayError {
    let path = path.to_owned();
    |reason| ReplayError::Write { path, reason }
}

pub(crate) fn parse_error(path: &Path) -> impl FnOnce(ParseError) -> ReplayError {
    let path = path.to_owned();
    |problem| ReplayError::Parse { path, problem }
}
