//! Reads a workspace's blocks: each is copied to a place that no other process can reach, and verified on the way.
//!
//! The file itself is never mapped: another process could truncate or overwrite it. The bytes that are verified are the bytes that are
//! written to the copy, so what happens to the file afterwards does not matter. Blocks are independent of each other, and can be loaded
//! on several threads.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use stored::{BlockStore, LoadedBlock, MemoryBlocks, SharedBytes, TextBlock};

use crate::cache_reader::{open_file, open_head, or_miss};
use crate::folder::CachePaths;
use crate::format::{BlockHeader, FormatError, Hash};
use crate::{CacheMiss, DiskBlocks};

/// Bytes that are read, verified and written at once: they stay in the processor's cache.
const CHUNK_BYTES: usize = 1 << 18;

const CHECKSUM: FormatError = FormatError::Corrupt("a block does not have its checksum");

/// The blocks of a workspace as they were when they were opened, unless another process changes the file itself, which is detected.
#[derive(Debug)]
pub struct CacheBlocks {
    file: File,
    path: PathBuf,
    blocks: Vec<BlockPlace>,
}

#[derive(Clone, Copy, Debug)]
struct BlockPlace {
    header: BlockHeader,
    /// Position of the description in the file.
    start: u64,
}

impl CacheBlocks {
    /// Returns the number of blocks.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the lengths of the texts of all blocks in bytes.
    pub fn text_bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.header.texts).sum()
    }

    /// Returns the checksums of the blocks.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = Hash> {
        self.blocks.iter().map(|block| block.header.hash)
    }

    /// Returns the end of the last block in the file, which has a head of this length.
    pub(crate) fn end(&self, head_bytes: u64) -> u64 {
        let end = |block: &BlockPlace| block.header.content_bytes().map(|bytes| block.start + bytes);
        self.blocks.last().and_then(end).unwrap_or(head_bytes)
    }

    /// Copies a block to `store`, or to memory if that fails, for example because the disk is full. Blocks that do not exist are damage.
    pub fn load(&self, number: usize, store: &DiskBlocks) -> Result<LoadedBlock, CacheMiss> {
        let missing = || Ok(Err(FormatError::Corrupt("a block is missing")));
        let loaded = self.blocks.get(number).map_or_else(missing, |block| self.copy(block, store));
        or_miss(loaded, &self.path)
    }

    fn copy(&self, block: &BlockPlace, store: &DiskBlocks) -> io::Result<Result<LoadedBlock, FormatError>> {
        let BlockHeader { description: length, texts, bytes, .. } = block.header;
        let [Ok(length), Ok(text_bytes)] = [length, texts].map(usize::try_from) else {
            return Ok(Err(FormatError::Corrupt("a block has no length")));
        };
        let mut description = vec![0; length];
        read_at(&self.file, &mut description, block.start)?;
        if bytes == 0 {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&description);
            return Ok(block.check(hasher).map(|()| LoadedBlock {
                description,
                bytes: Arc::new([0_u8; 0]),
                texts: Arc::new(""),
            }));
        }
        let content = match self.copy_to_disk(block, &description, text_bytes, store)? {
            Some(content) => content,
            None => self.copy_to_memory(block, &description, text_bytes)?,
        };
        Ok(content.map(|(bytes, texts)| LoadedBlock { description, bytes, texts }))
    }

    /// Returns `None` if `store` fails.
    fn copy_to_disk(
        &self,
        block: &BlockPlace,
        description: &[u8],
        text_bytes: usize,
        store: &DiskBlocks,
    ) -> io::Result<Option<Result<(SharedBytes, TextBlock), FormatError>>> {
        let Ok(mut writer) = store.writer() else { return Ok(None) };
        match self.copy_content(block, description, &mut writer)? {
            Copied::Verified => {}
            Copied::Damaged => return Ok(Some(Err(CHECKSUM))),
            Copied::NotWritten => return Ok(None),
        }
        match writer.finish_with_texts(text_bytes) {
            Ok(content) => Ok(Some(Ok(content))),
            Err(None) => Ok(Some(Err(FormatError::NO_TEXT))),
            Err(Some(_)) => Ok(None),
        }
    }

    fn copy_to_memory(
        &self,
        block: &BlockPlace,
        description: &[u8],
        text_bytes: usize,
    ) -> io::Result<Result<(SharedBytes, TextBlock), FormatError>> {
        let mut writer = MemoryBlocks.create()?;
        match self.copy_content(block, description, &mut writer)? {
            Copied::Verified => {}
            Copied::Damaged | Copied::NotWritten => return Ok(Err(CHECKSUM)),
        }
        let bytes = writer.finish()?;
        let texts = (*bytes).as_ref().get(..text_bytes).and_then(|texts| str::from_utf8(texts).ok());
        let Some(texts) = texts.map(str::to_owned) else { return Ok(Err(FormatError::NO_TEXT)) };
        Ok(Ok((bytes, Arc::new(texts))))
    }

    fn copy_content(
        &self,
        block: &BlockPlace,
        description: &[u8],
        writer: &mut dyn Write,
    ) -> io::Result<Copied> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(description);
        let mut chunk = vec![0; CHUNK_BYTES];
        let (mut at, mut rest) = (block.start + description.len() as u64, block.header.bytes);
        while rest > 0 {
            let length = usize::try_from(rest).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            let chunk = &mut chunk[..length];
            read_at(&self.file, chunk, at)?;
            hasher.update(chunk);
            if writer.write_all(chunk).is_err() {
                return Ok(Copied::NotWritten);
            }
            at += length as u64;
            rest -= length as u64;
        }
        Ok(if block.check(hasher).is_ok() { Copied::Verified } else { Copied::Damaged })
    }
}

/// Result of copying a block.
enum Copied {
    Verified,
    Damaged,
    /// The copy cannot be written.
    NotWritten,
}

impl BlockPlace {
    fn check(&self, content: blake3::Hasher) -> Result<(), FormatError> {
        let is_same = BlockHeader::new(self.header.lengths(), content) == self.header;
        is_same.then_some(()).ok_or(CHECKSUM)
    }
}

pub(crate) fn open(place: &CachePaths, wanted: &str) -> Result<CacheBlocks, CacheMiss> {
    let path = place.blocks_path();
    let (file, head) = open_file(&path, place, wanted)?;
    let (start, end) = (head.to_bytes().len() as u64, head.cache_bytes());
    let blocks = or_miss(read_headers(&file, start, end), &path)?;
    if blocks.last().map_or(start, |(_, next)| *next) != end {
        return or_miss(Ok(Err(FormatError::Corrupt("its last block has no end"))), &path);
    }
    Ok(CacheBlocks { file, path, blocks: blocks.into_iter().map(|(block, _)| block).collect() })
}

/// Opens the blocks before the first one that is not sound.
pub(crate) fn open_begun(place: &CachePaths, wanted: &str) -> Result<CacheBlocks, CacheMiss> {
    let path = place.begun_path();
    let (file, head) = open_head(&path, place, wanted)?;
    let end = or_miss(file.metadata().map(|metadata| Ok(metadata.len())), &path)?;
    let blocks = or_miss(read_headers(&file, head.to_bytes().len() as u64, end), &path)?;
    let blocks = blocks.into_iter().map(|(block, _)| block).collect();
    let mut begun = CacheBlocks { file, path, blocks };
    let is_sound = |block: &BlockPlace| begun.is_sound(block).unwrap_or(false);
    let sound = begun.blocks.iter().position(|block| !is_sound(block)).unwrap_or(begun.blocks.len());
    begun.blocks.truncate(sound);
    Ok(begun)
}

impl CacheBlocks {
    fn is_sound(&self, block: &BlockPlace) -> io::Result<bool> {
        let Ok(length) = usize::try_from(block.header.description) else { return Ok(false) };
        let mut description = vec![0; length];
        read_at(&self.file, &mut description, block.start)?;
        Ok(matches!(self.copy_content(block, &description, &mut io::sink())?, Copied::Verified))
    }
}

/// Returns the blocks between two positions of a file, each with its end; those that are not complete are left out.
fn read_headers(
    file: &File,
    start: u64,
    end: u64,
) -> io::Result<Result<Vec<(BlockPlace, u64)>, FormatError>> {
    let (mut at, mut blocks) = (start, Vec::new());
    while at.saturating_add(BlockHeader::BYTES as u64) <= end {
        let mut bytes = [0; BlockHeader::BYTES];
        read_at(file, &mut bytes, at)?;
        let header = match BlockHeader::from_bytes(&bytes) {
            Ok(header) => header,
            Err(flaw) => return Ok(Err(flaw)),
        };
        let start = at + BlockHeader::BYTES as u64;
        let next = header.content_bytes().and_then(|bytes| start.checked_add(bytes));
        let Some(next) = next.filter(|&next| next <= end) else { break };
        blocks.push((BlockPlace { header, start }, next));
        at = next;
    }
    Ok(Ok(blocks))
}

/// Reads bytes at a position, independent of other reads of the file.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}
