//! Writes a workspace's blocks: all at once, or bit by bit while their content is derived.
//!
//! ```text
//! begin ─► the workspace's begun file, perhaps with the sound blocks of an earlier process ─┐
//! rewrite ─► temporary file ────────────────────────────────────────────────────────────────┴─► add ─► finish: rename
//! ```
//!
//! The contents are not flushed to the disk before the file has its name: that takes half a minute for a large workspace, and each block
//! has a checksum, so blocks that a power failure tears are detected.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use private_files::PartialFile;
use stored::SavedBlock;

use crate::block_reader::{CacheBlocks, open_begun};
use crate::folder::{self, CachePaths};
use crate::format::{BlockHeader, Header};
use crate::save::create_locked;
use crate::{CacheError, SaveSummary};

/// Bytes that are written at once.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes blocks. Dropping it keeps those of a begun file for a later process.
#[derive(Debug)]
pub struct BlocksWriter {
    folder: PathBuf,
    place: CachePaths,
    file: TargetFile,
    head: Header,
    /// Number of blocks so far.
    blocks: u32,
    limit: u64,
}

#[derive(Debug)]
enum TargetFile {
    Begun(File),
    Partial(PartialFile),
}

impl TargetFile {
    fn file(&self) -> &File {
        match self {
            TargetFile::Begun(file) => file,
            TargetFile::Partial(file) => file.file(),
        }
    }
}

impl BlocksWriter {
    pub(crate) fn begin(
        folder: &Path,
        place: CachePaths,
        format: &str,
        begun: Option<&CacheBlocks>,
        limit: u64,
    ) -> Result<BlocksWriter, CacheError> {
        let failed = |error| CacheError::of(error, folder);
        folder::prepare_folder(folder).map_err(failed)?;
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let file = private_files::open(&options, &place.begun_path()).map_err(failed)?;
        file.try_lock().map_err(|error| failed(error.into()))?;
        let mut head = Header::of(&place, format);
        let head_bytes = head.to_bytes().len() as u64;
        // Another process may have continued it before it was locked.
        let kept = begun.filter(|begun| {
            let found = open_begun(&place, format);
            found.is_ok_and(|found| found.hashes().eq(begun.hashes()))
        });
        let end = kept.map_or(0, |begun| begun.end(head_bytes));
        // Anything after the sound part is overwritten.
        file.set_len(end).map_err(failed)?;
        head.bytes = end.saturating_sub(head_bytes);
        let blocks = kept.map_or(0, |begun| begun.count() as u32);
        let file = TargetFile::Begun(file);
        BlocksWriter { folder: folder.to_owned(), place, file, head, blocks, limit }.with_head()
    }

    pub(crate) fn rewrite(
        folder: &Path,
        place: CachePaths,
        format: &str,
        limit: u64,
    ) -> Result<BlocksWriter, CacheError> {
        let failed = |error| CacheError::of(error, folder);
        folder::prepare_folder(folder).map_err(failed)?;
        let file = TargetFile::Partial(create_locked(&place.blocks_path()).map_err(failed)?);
        let head = Header::of(&place, format);
        BlocksWriter { folder: folder.to_owned(), place, file, head, blocks: 0, limit }.with_head()
    }

    fn with_head(self) -> Result<BlocksWriter, CacheError> {
        self.write_head().map_err(|error| CacheError::of(error, &self.folder))?;
        Ok(self)
    }

    /// Returns the number of blocks so far.
    pub fn count(&self) -> u32 {
        self.blocks
    }

    /// Appends a block, which survives the end of the process, and returns its number.
    pub fn add(&mut self, block: &SavedBlock) -> Result<u32, CacheError> {
        let written = self.write_block(block);
        self.head.bytes += written.map_err(|error| CacheError::of(error, &self.folder))?;
        if self.head.cache_bytes() > self.limit {
            if matches!(self.file, TargetFile::Begun(_)) {
                // A later process would fail as well.
                let _ = fs::remove_file(self.place.begun_path());
            }
            return Err(CacheError::TooLarge { limit: self.limit });
        }
        self.blocks += 1;
        Ok(self.blocks - 1)
    }

    /// Returns the length of the block with its header.
    fn write_block(&self, block: &SavedBlock) -> io::Result<u64> {
        let (mut file, start) = (self.file.file(), self.head.cache_bytes());
        file.seek(SeekFrom::Start(start + BlockHeader::BYTES as u64))?;
        let mut writer = HashingWriter::of(file);
        writer.write_all(&block.description)?;
        let description = writer.bytes;
        block.write(&mut writer)?;
        writer.flush()?;
        let lengths = [description, block.text_bytes() as u64, writer.bytes - description];
        let HashingWriter { hasher, bytes, .. } = writer;
        file.seek(SeekFrom::Start(start))?;
        file.write_all(&BlockHeader::new(lengths, hasher).to_bytes())?;
        Ok(BlockHeader::BYTES as u64 + bytes)
    }

    /// Makes the blocks those of the workspace, which has this number of files. They replace its cache of entries.
    pub fn finish(mut self, files: usize) -> Result<SaveSummary, CacheError> {
        self.head.files = files as u64;
        let (folder, place, head, limit) =
            (self.folder.clone(), self.place.clone(), self.head.clone(), self.limit);
        self.write_head().and_then(|()| self.rename()).map_err(|error| CacheError::of(error, &folder))?;
        for path in [&place.path, &place.begun_path()] {
            // It holds nothing that the blocks do not.
            let _ = fs::remove_file(path);
        }
        let evicted = folder::evict(&folder, &place, limit);
        Ok(SaveSummary { files: head.files, bytes: head.cache_bytes(), evicted })
    }

    fn write_head(&self) -> io::Result<()> {
        let mut file = self.file.file();
        file.rewind()?;
        file.write_all(&self.head.to_bytes())
    }

    fn rename(self) -> io::Result<()> {
        match self.file {
            TargetFile::Begun(_) => fs::rename(self.place.begun_path(), self.place.blocks_path()),
            TargetFile::Partial(file) => file.persist(&self.place.blocks_path()),
        }
    }
}

/// Hashes and counts what it writes.
struct HashingWriter<'a> {
    file: BufWriter<&'a File>,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<'a> HashingWriter<'a> {
    fn of(file: &'a File) -> HashingWriter<'a> {
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        HashingWriter { file, hasher: blake3::Hasher::new(), bytes: 0 }
    }
}

impl Write for HashingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
