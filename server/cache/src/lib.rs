//! Stores data derived from workspaces on disk. Losing a cache costs only time.
//!
//! A [`Cache`] is a folder with up to four files per workspace. The cache file holds, for each file of the workspace, its text, its
//! stamp on disk, and opaque bytes of the caller; it is read and written as a whole. A workspace that is too large for memory has a file of
//! blocks instead, each with its own checksum: a process copies them ([`CacheBlocks`]) and uses the copies in place. A second file of the same form holds what only
//! [mining](Cache::for_mining) needs. While a large workspace is read for the first time, a [`CacheWriter`] writes its cache under
//! another name, and a killed process loses little. The last file is the workspace's [`CacheImage`]: bytes about the workspace as a whole, which
//! are read in one piece and used in place.
//!
//! ```text
//! save:  entries ─► temporary file ─► flush to disk ─► rename over the workspace's file ─► evict the least recently used
//! open:  workspace's file ─► checksums, versions ─► CacheReader, or a CacheMiss with the reason
//! ```
//!
//! A file never changes once it has its name. A process that is killed, or another that saves at the same moment, leaves either
//! the former cache or the new one, and a reader keeps the file that it opened. Rewriting everything costs a fraction of a second,
//! while a journal would have to be replayed, compacted and protected against two writers; [`is_worth_saving`] decides when to save.
//!
//! This crate never reads the workspaces, and no content of a cache makes it fail.

mod begun;
mod block_reader;
mod block_writer;
mod cache_reader;
mod disk_blocks;
mod error;
mod folder;
mod format;
mod image;
mod save;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use begun::CacheWriter;
pub use block_reader::CacheBlocks;
pub use block_writer::BlocksWriter;
pub use cache_reader::{CacheReader, CacheSegment};
pub use disk_blocks::DiskBlocks;
pub use error::{CacheError, CacheMiss};
use folder::CachePaths;
pub use image::CacheImage;

/// One file of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: &'a str,
    /// State of the file on disk, in the caller's encoding; may be empty.
    pub stamp: &'a [u8],
    /// Hash of the text, computed by the caller.
    pub hash: [u8; 32],
    /// The whole text.
    pub text: &'a str,
    /// Data that the caller derived from the text.
    pub payload: Cow<'a, [u8]>,
}

/// The caches of all workspaces.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Maximum size of all files together, in bytes.
    limit: u64,
    /// Extension of the cache file.
    extension: &'static str,
}

/// Summary of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveSummary {
    /// Number of files of the workspace.
    pub files: u64,
    /// Size of its cache in bytes.
    pub bytes: u64,
    /// Other workspaces whose caches were removed to stay within the limit.
    pub evicted: usize,
}

/// Summary of one workspace's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheInfo {
    /// Workspace root, possibly converted lossily; `None` if the cache cannot be read.
    pub root: Option<String>,
    /// Number of files of the workspace.
    pub files: u64,
    /// Size on disk in bytes.
    pub bytes: u64,
    /// Time of the last open or save.
    pub last_used: SystemTime,
}

/// Summary of a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearSummary {
    /// Number of workspaces whose caches were removed.
    pub workspaces: usize,
    /// Total size of the removed files in bytes.
    pub bytes: u64,
}

impl Cache {
    /// Default limit in bytes: two workspaces of thirty million lines, or fifty of a million.
    pub const DEFAULT_LIMIT: u64 = 8 << 30;

    /// Uses the caches in `folder`, which need not exist yet, with at most `limit` bytes in all. Does not access the disk.
    pub fn new(folder: &Path, limit: u64) -> Cache {
        Cache { folder: folder.to_owned(), limit, extension: folder::CACHE_EXTENSION }
    }

    /// Returns the second cache of the same workspaces, in the same folder and within the same limit.
    pub fn for_mining(&self) -> Cache {
        Cache { extension: folder::HOLES_EXTENSION, ..self.clone() }
    }

    fn paths(&self, root: &Path) -> CachePaths {
        folder::cache_paths(&self.folder, root, self.extension)
    }

    /// Opens the cache that was last saved for the workspace at `root` with the same `format`. [`CacheReader`] reads it while iterating:
    /// 100 MB in a tenth of a second.
    pub fn open(&self, root: &Path, format: &str) -> Result<CacheReader, CacheMiss> {
        cache_reader::open(&self.paths(root), format)
    }

    /// Begins to write the cache of the workspace at `root` bit by bit, or continues where a killed process stopped. Fails if another
    /// process is writing it.
    pub fn begin(&self, root: &Path, format: &str) -> Result<CacheWriter, CacheError> {
        CacheWriter::begin(&self.folder, self.paths(root), format, self.limit)
    }

    /// Opens what was written with [`Cache::begin`] and not finished. Its last part may be damaged.
    pub fn open_begun(&self, root: &Path, format: &str) -> Result<CacheReader, CacheMiss> {
        cache_reader::open_begun(&self.paths(root), format)
    }

    /// Saves `entries` as the cache of the workspace at `root`. `format` names the encoding of the payloads, with its version;
    /// opening with another format is a miss. Entries are consumed one by one, so their payloads need not exist all at once.
    ///
    /// On an error the cache is unchanged.
    pub fn save<'a>(
        &self,
        root: &Path,
        format: &str,
        entries: impl IntoIterator<Item = Entry<'a>>,
    ) -> Result<SaveSummary, CacheError> {
        let place = self.paths(root);
        let (files, bytes) = save::save(&self.folder, &place, format, entries, self.limit)?;
        // They hold nothing that this cache does not.
        for path in [place.begun_path(), place.blocks_path()] {
            let _ = std::fs::remove_file(path);
        }
        let evicted = folder::evict(&self.folder, &place, self.limit);
        Ok(SaveSummary { files, bytes, evicted })
    }

    /// Returns whether blocks were saved with this `format` for the workspace at `root`. Reads only the head of the file.
    pub fn has_blocks(&self, root: &Path, format: &str) -> bool {
        let place = self.paths(root);
        cache_reader::open_file(&place.blocks_path(), &place, format).is_ok()
    }

    /// Opens the blocks that were last saved for the workspace at `root` with the same `format`. Reads only their headers.
    pub fn open_blocks(&self, root: &Path, format: &str) -> Result<CacheBlocks, CacheMiss> {
        block_reader::open(&self.paths(root), format)
    }

    /// Opens the sound part of blocks that were begun with [`Cache::begin_blocks`] and not finished.
    pub fn open_begun_blocks(&self, root: &Path, format: &str) -> Result<CacheBlocks, CacheMiss> {
        block_reader::open_begun(&self.paths(root), format)
    }

    /// Begins to write the blocks of the workspace at `root` bit by bit. Continues those of a killed process if they are `begun`, and
    /// begins again otherwise. Fails if another process is writing them.
    pub fn begin_blocks(
        &self,
        root: &Path,
        format: &str,
        begun: Option<&CacheBlocks>,
    ) -> Result<BlocksWriter, CacheError> {
        BlocksWriter::begin(&self.folder, self.paths(root), format, begun, self.limit)
    }

    /// Returns a writer of the blocks of the workspace at `root`, which replace the former ones when they are finished.
    pub fn rewrite_blocks(&self, root: &Path, format: &str) -> Result<BlocksWriter, CacheError> {
        BlocksWriter::rewrite(&self.folder, self.paths(root), format, self.limit)
    }

    /// Reads the image that was last saved with the same `format` for the workspace at `root`. Checks only its length.
    pub fn open_image(&self, root: &Path, format: &str) -> Result<CacheImage, CacheMiss> {
        image::open(&self.paths(root), format)
    }

    /// Saves the concatenation of `pieces` as the image of the workspace at `root`. Returns its size on disk in bytes.
    ///
    /// On an error the image is unchanged.
    pub fn save_image(&self, root: &Path, format: &str, pieces: &[Cow<'_, [u8]>]) -> Result<u64, CacheError> {
        let place = self.paths(root);
        let bytes = image::save(&self.folder, &place, format, pieces, self.limit)?;
        folder::evict(&self.folder, &place, self.limit);
        Ok(bytes)
    }

    /// Returns a store for data of this process that does not fit in memory, on the same disk. It is empty at first and leaves
    /// nothing behind.
    pub fn blocks(&self) -> DiskBlocks {
        DiskBlocks::new(&self.folder)
    }

    /// Lists all caches, the most recently used first. Reads only their heads.
    pub fn list(&self) -> Result<Vec<CacheInfo>, CacheError> {
        folder::list(&self.folder)
    }

    /// Removes all caches and nothing else.
    pub fn clear(&self) -> Result<ClearSummary, CacheError> {
        folder::clear(&self.folder)
    }
}

/// Returns whether saving is worthwhile when `changed` of `total` bytes of text differ from the cache.
///
/// Files that are missing from the cache are read and derived again when the workspace is next opened. With a twentieth of a
/// million lines that takes a quarter of a second, about as long as saving all of them; with less, writing 100 MB is not worth it.
pub fn is_worth_saving(changed: u64, total: u64) -> bool {
    changed > 0 && changed.saturating_mul(20) >= total
}
