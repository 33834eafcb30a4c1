//! Opens and validates a workspace's cache.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::folder::CachePaths;
use crate::format::{self, FormatError, HEADER_START_BYTES, Header, SegmentHeader};
use crate::{CacheMiss, Entry};

/// A workspace's cache as it was when it was opened, independent of later changes of its file. Iterating reads its parts; each
/// part's [`entries`](CacheSegment::entries) can be decoded on another thread. After an error there are no more parts; the parts before it
/// stay valid.
#[derive(Debug)]
pub struct CacheReader {
    file: File,
    path: PathBuf,
    files: u64,
    /// Number of bytes not read yet.
    rest: u64,
}

/// Part of a cache, about a megabyte.
#[derive(Debug)]
pub struct CacheSegment {
    path: PathBuf,
    start: SegmentHeader,
    bytes: Vec<u8>,
}

impl CacheReader {
    /// Returns the number of workspace files in this part.
    pub fn files(&self) -> u64 {
        self.files
    }

    /// Returns the number of bytes that are not read yet.
    pub fn bytes(&self) -> u64 {
        self.rest
    }

    fn read_segment(&mut self) -> io::Result<Result<CacheSegment, FormatError>> {
        let mut start = [0; SegmentHeader::BYTES];
        self.file.read_exact(&mut start)?;
        let start = match SegmentHeader::from_bytes(&start) {
            Ok(start) => start,
            Err(flaw) => return Ok(Err(flaw)),
        };
        let behind = self.rest.checked_sub(SegmentHeader::BYTES as u64);
        let Some(rest) = behind.and_then(|behind| behind.checked_sub(start.bytes)) else {
            return Ok(Err(FormatError::Corrupt("a part of it has no length")));
        };
        let mut bytes = vec![0; usize::try_from(start.bytes).unwrap_or(0)];
        self.file.read_exact(&mut bytes)?;
        self.rest = rest;
        Ok(Ok(CacheSegment { path: self.path.clone(), start, bytes }))
    }
}

impl Iterator for CacheReader {
    type Item = Result<CacheSegment, CacheMiss>;

    fn next(&mut self) -> Option<Result<CacheSegment, CacheMiss>> {
        if self.rest == 0 {
            return None;
        }
        let run = or_miss(self.read_segment(), &self.path);
        if run.is_err() {
            self.rest = 0;
        }
        Some(run)
    }
}

impl CacheSegment {
    /// Verifies the checksum and returns the files in this part, in the order in which they were saved.
    pub fn entries(&self) -> Result<Vec<Entry<'_>>, CacheMiss> {
        or_miss(Ok(format::entries(self.start, &self.bytes)), &self.path)
    }
}

pub(crate) fn open(place: &CachePaths, wanted: &str) -> Result<CacheReader, CacheMiss> {
    let (file, head) = open_file(&place.path, place, wanted)?;
    Ok(CacheReader { file, path: place.path.clone(), files: head.files, rest: head.bytes })
}

/// Opens a cache that is not complete: nothing is known of its length.
pub(crate) fn open_begun(place: &CachePaths, wanted: &str) -> Result<CacheReader, CacheMiss> {
    let path = place.begun_path();
    let (file, head) = open_head(&path, place, wanted)?;
    let length = or_miss(file.metadata().map(|metadata| Ok(metadata.len())), &path)?;
    let rest = length.saturating_sub(head.to_bytes().len() as u64);
    Ok(CacheReader { file, path, files: head.files, rest })
}

/// Opens a cache file of a workspace and marks it as used.
pub(crate) fn open_file(path: &Path, place: &CachePaths, wanted: &str) -> Result<(File, Header), CacheMiss> {
    let (file, head) = open_head(path, place, wanted)?;
    or_miss(check_length(&file, &head), path)?;
    touch_file(path);
    Ok((file, head))
}

/// Opens a file of a workspace and checks its head.
pub(crate) fn open_head(path: &Path, place: &CachePaths, wanted: &str) -> Result<(File, Header), CacheMiss> {
    let mut file = or_miss(File::open(path).map(Ok), path)?;
    let head = or_miss(read_head(&mut file), path)?;
    if head.key != place.key {
        return Err(CacheMiss::Foreign { path: path.to_owned() });
    }
    if head.format != wanted {
        return Err(CacheMiss::Outdated {
            path: path.to_owned(),
            found: head.format,
            wanted: wanted.to_owned(),
        });
    }
    Ok((file, head))
}

/// Reads only the head of a cache.
pub(crate) fn read_head(file: &mut File) -> io::Result<Result<Header, FormatError>> {
    let mut start = [0; HEADER_START_BYTES];
    file.read_exact(&mut start)?;
    let length = match Header::length(&start) {
        Ok(length) => length,
        Err(flaw) => return Ok(Err(flaw)),
    };
    let mut bytes = start.to_vec();
    bytes.resize(length, 0);
    file.read_exact(&mut bytes[HEADER_START_BYTES..])?;
    Ok(Header::from_bytes(&bytes))
}

fn check_length(file: &File, head: &Header) -> io::Result<Result<(), FormatError>> {
    let is_whole = head.cache_bytes() == file.metadata()?.len();
    Ok(if is_whole { Ok(()) } else { Err(FormatError::Corrupt("it does not have its length")) })
}

/// Converts the result of reading the file at `path` into the public error type.
pub(crate) fn or_miss<T>(read: io::Result<Result<T, FormatError>>, path: &Path) -> Result<T, CacheMiss> {
    let path = || path.to_owned();
    match read {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(FormatError::Foreign)) => Err(CacheMiss::Foreign { path: path() }),
        Ok(Err(FormatError::Version(version))) => {
            let [found, wanted] = [version, format::VERSION].map(|version| format!("version {version}"));
            Err(CacheMiss::Outdated { path: path(), found, wanted })
        }
        Ok(Err(FormatError::Corrupt(damage))) => Err(CacheMiss::Corrupt { path: path(), damage }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(CacheMiss::Absent),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(CacheMiss::Corrupt { path: path(), damage: "it ends too early" })
        }
        Err(reason) => Err(CacheMiss::Unreadable { path: path(), reason }),
    }
}

/// Updates the time of last use, which decides on eviction. If that fails, the time of saving is used.
fn touch_file(path: &Path) {
    let file = File::options().write(true).open(path);
    drop(file.and_then(|file| file.set_modified(SystemTime::now())));
}
