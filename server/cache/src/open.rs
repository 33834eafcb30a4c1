//! Opens and validates a workspace's cache.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::folder::Place;
use crate::format::{self, Flaw, HEAD_START, Head, RunStart};
use crate::{Entry, Miss};

/// A workspace's cache as it was when it was opened, independent of later changes of its file. Iterating reads its parts; each
/// part's [`entries`](Run::entries) can be decoded on another thread. After an error there are no more parts; the parts before it
/// stay valid.
#[derive(Debug)]
pub struct Opened {
    file: File,
    path: PathBuf,
    files: u64,
    /// Number of bytes not read yet.
    rest: u64,
}

/// Part of a cache, about a megabyte.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    start: RunStart,
    bytes: Vec<u8>,
}

impl Opened {
    /// Returns the number of workspace files in this part.
    pub fn files(&self) -> u64 {
        self.files
    }

    fn read_run(&mut self) -> io::Result<Result<Run, Flaw>> {
        let mut start = [0; RunStart::BYTES];
        self.file.read_exact(&mut start)?;
        let start = match RunStart::from_bytes(&start) {
            Ok(start) => start,
            Err(flaw) => return Ok(Err(flaw)),
        };
        let behind = self.rest.checked_sub(RunStart::BYTES as u64);
        let Some(rest) = behind.and_then(|behind| behind.checked_sub(start.bytes)) else {
            return Ok(Err(Flaw::Damage("a part of it has no length")));
        };
        let mut bytes = vec![0; usize::try_from(start.bytes).unwrap_or(0)];
        self.file.read_exact(&mut bytes)?;
        self.rest = rest;
        Ok(Ok(Run { path: self.path.clone(), start, bytes }))
    }
}

impl Iterator for Opened {
    type Item = Result<Run, Miss>;

    fn next(&mut self) -> Option<Result<Run, Miss>> {
        if self.rest == 0 {
            return None;
        }
        let run = settle(self.read_run(), &self.path);
        if run.is_err() {
            self.rest = 0;
        }
        Some(run)
    }
}

impl Run {
    /// Verifies the checksum and returns the files in this part, in the order in which they were saved.
    pub fn entries(&self) -> Result<Vec<Entry<'_>>, Miss> {
        settle(Ok(format::entries(self.start, &self.bytes)), &self.path)
    }
}

pub(crate) fn open(place: &Place, wanted: &str) -> Result<Opened, Miss> {
    let (file, head) = open_file(&place.path, place, wanted)?;
    Ok(Opened { file, path: place.path.clone(), files: head.files, rest: head.bytes })
}

/// Opens a cache file of a workspace and marks it as used.
pub(crate) fn open_file(path: &Path, place: &Place, wanted: &str) -> Result<(File, Head), Miss> {
    let mut file = settle(File::open(path).map(Ok), path)?;
    let head = settle(read_head(&mut file), path)?;
    if head.key != place.key {
        return Err(Miss::Foreign { path: path.to_owned() });
    }
    if head.format != wanted {
        return Err(Miss::Outdated { path: path.to_owned(), found: head.format, wanted: wanted.to_owned() });
    }
    settle(check_length(&file, &head), path)?;
    note_use(path);
    Ok((file, head))
}

/// Reads only the head of a cache.
pub(crate) fn read_head(file: &mut File) -> io::Result<Result<Head, Flaw>> {
    let mut start = [0; HEAD_START];
    file.read_exact(&mut start)?;
    let length = match Head::length(&start) {
        Ok(length) => length,
        Err(flaw) => return Ok(Err(flaw)),
    };
    let mut bytes = start.to_vec();
    bytes.resize(length, 0);
    file.read_exact(&mut bytes[HEAD_START..])?;
    Ok(Head::from_bytes(&bytes))
}

fn check_length(file: &File, head: &Head) -> io::Result<Result<(), Flaw>> {
    let is_whole = head.cache_bytes() == file.metadata()?.len();
    Ok(if is_whole { Ok(()) } else { Err(Flaw::Damage("it does not have its length")) })
}

/// Converts the result of reading the file at `path` into the public error type.
pub(crate) fn settle<T>(read: io::Result<Result<T, Flaw>>, path: &Path) -> Result<T, Miss> {
    let path = || path.to_owned();
    match read {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Flaw::Foreign)) => Err(Miss::Foreign { path: path() }),
        Ok(Err(Flaw::Version(version))) => {
            let [found, wanted] = [version, format::VERSION].map(|version| format!("version {version}"));
            Err(Miss::Outdated { path: path(), found, wanted })
        }
        Ok(Err(Flaw::Damage(damage))) => Err(Miss::Corrupt { path: path(), damage }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Miss::Absent),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(Miss::Corrupt { path: path(), damage: "it ends too early" })
        }
        Err(reason) => Err(Miss::Unreadable { path: path(), reason }),
    }
}

/// Updates the time of last use, which decides on eviction. If that fails, the time of saving is used.
fn note_use(path: &Path) {
    let file = File::options().write(true).open(path);
    drop(file.and_then(|file| file.set_modified(SystemTime::now())));
}
