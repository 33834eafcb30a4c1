//! Files of runs and suites: written atomically, or appended line by line.
//!
//! Writers lock a separate file that is never read, because a lock on Windows also blocks readers.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cases::{ParseError, parse_line};
use rayon::prelude::*;
use serde::de::DeserializeOwned;

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

    /// Removes an incomplete last line, which a killed process leaves.
    pub(crate) fn remove_incomplete_line(&self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let mut end = file.metadata()?.len();
        let mut piece = vec![0; PIECE_BYTES];
        while end > 0 {
            let start = end.saturating_sub(PIECE_BYTES as u64);
            let piece = &mut piece[..usize::try_from(end - start).unwrap_or(PIECE_BYTES)];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(piece)?;
            if let Some(last) = piece.iter().rposition(|&byte| byte == b'\n') {
                end = start + last as u64 + 1;
                break;
            }
            end = start;
        }
        if end == self.len()? { Ok(()) } else { self.truncate(end) }
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

/// Bytes of files that are read at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Whether two files have the same bytes.
pub(crate) fn have_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut one, mut other] = [one, other].map(|file| BufReader::with_capacity(PIECE_BYTES, file));
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

/// Bytes of lines that are parsed at a time, by all cores: the text of a whole file may need as much memory as its rows.
const BATCH_BYTES: usize = 8 << 20;

/// The lines of a file, some at a time.
pub(crate) struct LineBatches {
    reader: BufReader<File>,
    /// Lines read so far.
    number: usize,
}

/// A line that is not blank, with its number from 1.
pub(crate) struct NumberedLine {
    pub(crate) number: usize,
    /// With its line end; only the last line of a file may lack it.
    pub(crate) text: String,
}

impl LineBatches {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<LineBatches> {
        Ok(LineBatches { reader: BufReader::with_capacity(PIECE_BYTES, File::open(path)?), number: 0 })
    }

    /// Returns the next lines; none at the end of the file. A last line without a line end may end inside a character, which is replaced.
    pub(crate) fn next_batch(&mut self) -> io::Result<Vec<NumberedLine>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES {
            let mut line = Vec::new();
            bytes += self.reader.read_until(b'\n', &mut line)?;
            if line.is_empty() {
                break;
            }
            self.number += 1;
            let text = match String::from_utf8(line) {
                Ok(text) => text,
                Err(error) if !error.as_bytes().ends_with(b"\n") => {
                    String::from_utf8_lossy(error.as_bytes()).into_owned()
                }
                Err(_) => return Err(io::Error::other(format!("line {} is not valid UTF-8", self.number))),
            };
            if !text.trim().is_empty() {
                batch.push(NumberedLine { number: self.number, text });
            }
        }
        Ok(batch)
    }
}

/// Reads the rows of a file to which whole lines are appended, without an incomplete last line; none if the file is missing.
pub(crate) fn read_rows<T: DeserializeOwned + Send>(path: &Path) -> Result<Vec<T>, ReplayError> {
    let mut lines = match LineBatches::open(path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(read_error(path))?,
    };
    let mut rows = Vec::new();
    loop {
        let batch = lines.next_batch().map_err(read_error(path))?;
        if batch.is_empty() {
            return Ok(rows);
        }
        let whole = batch.par_iter().filter(|line| line.text.ends_with('\n'));
        let parsed: Vec<Result<T, ParseError>> =
            whole.map(|line| parse_line(&line.text, line.number)).collect();
        for row in parsed {
            rows.push(row.map_err(parse_error(path))?);
        }
    }
}

pub(crate) fn read_text(path: &Path) -> Result<String, ReplayError> {
    fs::read_to_string(path).map_err(read_error(path))
}

/// Writes a file atomically. Symbolic links are kept; special files such as terminals and pipes are written directly.
pub(crate) fn write_atomically(path: &Path, text: &str) -> Result<(), ReplayError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_replaceable = fs::metadata(&target).map_or(true, |metadata| metadata.is_file());
    let write = if is_replaceable { private_files::write_atomically } else { private_files::write };
    write(&target, text.as_bytes()).map_err(write_error(path))
}

pub(crate) fn read_error(path: &Path) -> impl FnOnce(io::Error) -> ReplayError {
    let path = path.to_owned();
    |reason| ReplayError::Read { path, reason }
}

pub(crate) fn write_error(path: &Path) -> impl FnOnce(io::Error) -> ReplayError {
    let path = path.to_owned();
    |reason| ReplayError::Write { path, reason }
}

pub(crate) fn parse_error(path: &Path) -> impl FnOnce(ParseError) -> ReplayError {
    let path = path.to_owned();
    |problem| ReplayError::Parse { path, problem }
}
