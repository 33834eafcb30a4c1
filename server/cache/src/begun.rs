//! A cache that is written while its content is derived, so that a killed process loses little work.
//!
//! ```text
//! begin ─► the workspace's begun file, or the sound part of an earlier process's ─► add, in runs
//!     └─► finish: flush to disk ─► rename over the workspace's cache
//! ```
//!
//! Unlike a cache, a begun file may end anywhere. Each run has its own checksum, so everything before the first unsound run counts.
//! Its writer holds a lock; a second writer does without.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::cache_reader::{CacheReader, open_begun};
use crate::folder::{self, CachePaths};
use crate::format::{Header, push_entry};
use crate::save::{SEGMENT_BYTES, write_segment};
use crate::{CacheError, CacheMiss, Entry, SaveSummary};

/// Writes a cache bit by bit. Dropping it keeps the entries written so far for a later process.
#[derive(Debug)]
pub struct CacheWriter {
    folder: PathBuf,
    place: CachePaths,
    file: File,
    head: Header,
    /// Entries that are not written yet.
    run: Vec<u8>,
    limit: u64,
}

impl CacheWriter {
    /// Continues the begun cache of a workspace, or begins one.
    pub(crate) fn begin(
        folder: &Path,
        place: CachePaths,
        format: &str,
        limit: u64,
    ) -> Result<CacheWriter, CacheError> {
        let failed = |error| CacheError::of(error, folder);
        folder::prepare_folder(folder).map_err(failed)?;
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = private_files::open(&options, &place.begun_path()).map_err(failed)?;
        file.try_lock().map_err(|error| failed(error.into()))?;
        let head = match sound_part(&place, format) {
            Ok(head) => head,
            Err(_) => Header::of(&place, format),
        };
        if head.bytes == 0 {
            file.set_len(0).map_err(failed)?;
            file.write_all(&head.to_bytes()).map_err(failed)?;
        }
        // Anything after the sound part is overwritten.
        file.set_len(head.cache_bytes()).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(CacheWriter { folder: folder.to_owned(), place, file, head, run: Vec::new(), limit })
    }

    /// Appends entries. They survive the end of the process. An entry replaces an earlier one of the same path.
    pub fn add<'a>(&mut self, entries: impl IntoIterator<Item = Entry<'a>>) -> Result<(), CacheError> {
        for entry in entries {
            push_entry(&mut self.run, &entry);
            self.head.files += 1;
            if self.run.len() >= SEGMENT_BYTES {
                self.write_run()?;
            }
        }
        self.write_run()
    }

    fn write_run(&mut self) -> Result<(), CacheError> {
        let written = write_segment(&self.file, &mut self.run);
        self.head.bytes += written.map_err(|error| CacheError::of(error, &self.folder))?;
        if self.head.cache_bytes() > self.limit {
            // A later process would fail as well.
            let _ = fs::remove_file(self.place.begun_path());
            return Err(CacheError::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    /// Makes everything added so far the cache of the workspace.
    pub fn finish(mut self) -> Result<SaveSummary, CacheError> {
        let renamed = self.complete();
        renamed.map_err(|error| CacheError::of(error, &self.folder))?;
        // They hold nothing that this cache does not.
        let _ = fs::remove_file(self.place.blocks_path());
        let evicted = folder::evict(&self.folder, &self.place, self.limit);
        Ok(SaveSummary { files: self.head.files, bytes: self.head.cache_bytes(), evicted })
    }

    fn complete(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(&self.head.to_bytes())?;
        self.file.sync_all()?;
        fs::rename(self.place.begun_path(), &self.place.path)
    }
}

/// Returns the head of a begun cache with the length of its sound part.
fn sound_part(place: &CachePaths, format: &str) -> Result<Header, CacheMiss> {
    let mut reader: CacheReader = open_begun(place, format)?;
    let mut head = Header::of(place, format);
    loop {
        let unread = reader.bytes();
        let Some(Ok(segment)) = reader.next() else { return Ok(head) };
        let Ok(entries) = segment.entries() else { return Ok(head) };
        head.files += entries.len() as u64;
        head.bytes += unread - reader.bytes();
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::Cache;

    const FORMAT: &str = "test 1";

    fn entry(path: &str) -> Entry<'_> {
        Entry { path, stamp: b"s", hash: [7; 32], text: "text", payload: Cow::Borrowed(b"derived") }
    }

    fn paths(reader: Result<CacheReader, CacheMiss>) -> Vec<String> {
        let segments = reader.into_iter().flatten().map_while(Result::ok);
        let paths = segments.flat_map(|segment| {
            let entries = segment.entries().unwrap_or_default();
            entries.iter().map(|entry| entry.path.to_owned()).collect::<Vec<_>>()
        });
        paths.collect()
    }

    #[test]
    fn what_a_killed_process_wrote_is_continued() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, root) = (Cache::new(folder.path(), 1 << 20), Path::new("/project"));
        let mut first = cache.begin(root, FORMAT).unwrap();
        first.add([entry("a"), entry("b")]).unwrap();
        first.add([entry("c")]).unwrap();
        assert!(cache.begin(root, FORMAT).is_err(), "another process writes it");
        drop(first);
        let begun = cache.paths(root).begun_path();
        // The process was killed in the middle of a run.
        let length = fs::metadata(&begun).unwrap().len();
        fs::File::options().write(true).open(&begun).unwrap().set_len(length - 1).unwrap();
        assert!(cache.open(root, FORMAT).is_err(), "it is no complete cache");
        assert_eq!(paths(cache.open_begun(root, FORMAT)), ["a", "b"]);
        let mut second = cache.begin(root, FORMAT).unwrap();
        second.add([entry("d")]).unwrap();
        let summary = second.finish().unwrap();
        assert_eq!(summary.files, 3);
        assert_eq!(paths(cache.open(root, FORMAT)), ["a", "b", "d"]);
        assert!(matches!(cache.open_begun(root, FORMAT), Err(CacheMiss::Absent)));
    }

    #[test]
    fn begun_files_of_other_versions_and_damaged_ones_are_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, root) = (Cache::new(folder.path(), 1 << 20), Path::new("/project"));
        cache.begin(root, "test 0").unwrap().add([entry("old")]).unwrap();
        assert!(cache.open_begun(root, FORMAT).is_err());
        cache.begin(root, FORMAT).unwrap().add([entry("new")]).unwrap();
        assert_eq!(paths(cache.open_begun(root, FORMAT)), ["new"]);
        fs::write(cache.paths(root).begun_path(), b"garbage").unwrap();
        cache.begin(root, FORMAT).unwrap().finish().unwrap();
        assert_eq!(paths(cache.open(root, FORMAT)), [""; 0]);
    }

    #[test]
    fn saving_everything_replaces_a_begun_file_and_a_limit_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, root) = (Cache::new(folder.path(), 1 << 20), Path::new("/project"));
        cache.begin(root, FORMAT).unwrap().add([entry("a")]).unwrap();
        cache.save(root, FORMAT, [entry("a"), entry("b")]).unwrap();
        assert!(matches!(cache.open_begun(root, FORMAT), Err(CacheMiss::Absent)));
        let small = Cache::new(folder.path(), 100);
        let added = small.begin(root, FORMAT).unwrap().add([entry("a")]);
        assert!(matches!(added, Err(CacheError::TooLarge { limit: 100 })));
        assert!(matches!(small.open_begun(root, FORMAT), Err(CacheMiss::Absent)));
    }
}
