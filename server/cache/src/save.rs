//! Writes a workspace's cache completely under a temporary name, then renames it.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use private_files::PartialFile;

use crate::folder::{self, CachePaths};
use crate::format::{Header, SegmentHeader, push_entry};
use crate::{CacheError, Entry};

/// Minimum size of a run in bytes before it is written. Disk and checksum favour long runs, parallel readers many short ones.
pub(crate) const SEGMENT_BYTES: usize = 1 << 20;

/// Saves `entries`. Returns the number of files and bytes.
pub(crate) fn save<'a>(
    folder: &Path,
    place: &CachePaths,
    format: &str,
    entries: impl IntoIterator<Item = Entry<'a>>,
    limit: u64,
) -> Result<(u64, u64), CacheError> {
    let head =
        save_file(folder, &place.path, limit, |file| write(file, Header::of(place, format), entries, limit))?;
    Ok((head.files, head.cache_bytes()))
}

/// Saves the output of `write` as the file at `path`, unless it is larger than `limit` bytes.
pub(crate) fn save_file(
    folder: &Path,
    path: &Path,
    limit: u64,
    write: impl FnOnce(&File) -> io::Result<Header>,
) -> Result<Header, CacheError> {
    let failed = |error| CacheError::of(error, folder);
    folder::prepare_folder(folder).map_err(failed)?;
    let partial = create_locked(path).map_err(failed)?;
    let head = write(partial.file()).map_err(failed)?;
    if head.cache_bytes() > limit {
        return Err(CacheError::TooLarge { limit });
    }
    partial.persist(path).map_err(|error| match path.is_dir() {
        true => CacheError::Occupied { path: path.to_owned() },
        false => failed(error),
    })?;
    Ok(head)
}

/// Writes a cache and returns its head. Stops as soon as the cache exceeds `limit`.
fn write<'a>(
    mut file: &File,
    mut head: Header,
    entries: impl IntoIterator<Item = Entry<'a>>,
    limit: u64,
) -> io::Result<Header> {
    // The length of the data behind the head is known only afterwards.
    file.write_all(&head.to_bytes())?;
    let mut run = Vec::new();
    for entry in entries {
        push_entry(&mut run, &entry);
        head.files += 1;
        if run.len() >= SEGMENT_BYTES {
            head.bytes += write_segment(file, &mut run)?;
            if head.cache_bytes() > limit {
                return Ok(head);
            }
        }
    }
    head.bytes += write_segment(file, &mut run)?;
    file.rewind()?;
    file.write_all(&head.to_bytes())?;
    Ok(head)
}

/// Writes and clears a run unless it is empty. Returns its size on disk in bytes.
pub(crate) fn write_segment(mut file: &File, run: &mut Vec<u8>) -> io::Result<u64> {
    if run.is_empty() {
        return Ok(0);
    }
    file.write_all(&SegmentHeader::of(run).to_bytes())?;
    file.write_all(run)?;
    let bytes = SegmentHeader::BYTES + run.len();
    run.clear();
    Ok(bytes as u64)
}

/// Creates a file for `path` that other processes do not remove, because it is locked.
pub(crate) fn create_locked(path: &Path) -> io::Result<PartialFile> {
    loop {
        let partial = PartialFile::create(path)?;
        // On file systems without locks no process treats the file as abandoned either.
        drop(partial.file().lock());
        // Another process may have removed the file before it was locked.
        if partial.path().exists() {
            return Ok(partial);
        }
    }
}
