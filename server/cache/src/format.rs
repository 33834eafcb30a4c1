//! The file format of caches. Pure: converts between bytes and values, and never trusts the bytes.
//!
//! ```text
//! cache: head, runs of about a megabyte
//! blocks: head, blocks
//! image: head, zeros up to a multiple of 64 bytes, the caller's bytes
//! head:  magic, version, length of the head, key of the root, files, length of the rest, format, root, checksum
//! run:   length of its entries, their checksum, entries
//! entry: hash, lengths of the following fields, path, stamp, text, payload
//! block: lengths of the description, of the texts, and of texts and arrays, checksum of all, description, texts, arrays
//! ```
//!
//! Numbers are little-endian. A checksum is a blake3 hash; the checksum of the head covers the head before it. Each run has its own
//! checksum, so that a cache can be read and verified in pieces, on several threads, and is never in memory twice. The content of
//! an image is validated by the caller, which knows its format.

use std::borrow::Cow;

use crate::Entry;
use crate::folder::CachePaths;

/// First bytes of every head, independent of the version.
const MAGIC: [u8; 8] = *b"GBCACHE\n";

/// Format version. Increment it with every change of this module.
pub(crate) const VERSION: u32 = 1;

/// Length of the head's start in bytes, up to and including the head's length.
pub(crate) const HEADER_START_BYTES: usize = 16;

/// Maximum length of a head in bytes. A valid head holds little more than a path.
pub(crate) const MAX_HEADER_BYTES: usize = 1 << 20;

/// A blake3 hash.
pub(crate) type Hash = [u8; 32];

/// Header of a cache file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Hash of the root's path.
    pub(crate) key: Hash,
    pub(crate) files: u64,
    /// Length of the data behind the head.
    pub(crate) bytes: u64,
    pub(crate) format: String,
    /// Path of the root, for display.
    pub(crate) root: String,
}

/// Reason why bytes cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatError {
    /// They belong to another kind of file.
    Foreign,
    /// They have this other version of the format.
    Version(u32),
    /// They are corrupt.
    Corrupt(&'static str),
}

const TRUNCATED: FormatError = FormatError::Corrupt("it ends too early");

impl FormatError {
    pub(crate) const NO_TEXT: FormatError = FormatError::Corrupt("its text is not UTF-8");
}

impl Header {
    /// Creates the head of a file without content.
    pub(crate) fn of(place: &CachePaths, format: &str) -> Header {
        Header { key: place.key, files: 0, bytes: 0, format: format.to_owned(), root: place.root.clone() }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut rest = Vec::new();
        rest.extend(self.key);
        rest.extend(self.files.to_le_bytes());
        rest.extend(self.bytes.to_le_bytes());
        for text in [&self.format, &self.root] {
            rest.extend((text.len() as u64).to_le_bytes());
            rest.extend(text.as_bytes());
        }
        let length = HEADER_START_BYTES + rest.len() + size_of::<Hash>();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(rest);
        let hash: Hash = blake3::hash(&bytes).into();
        bytes.extend(hash);
        bytes
    }

    /// Returns the length of the whole cache in bytes.
    pub(crate) fn cache_bytes(&self) -> u64 {
        self.bytes.saturating_add(self.to_bytes().len() as u64)
    }

    /// Returns the length of the head that begins with `start`, in bytes.
    pub(crate) fn length(start: &[u8; HEADER_START_BYTES]) -> Result<usize, FormatError> {
        let mut start = ByteReader(start);
        if start.take(MAGIC.len())? != MAGIC {
            return Err(FormatError::Foreign);
        }
        let version = u32::from_le_bytes(start.array()?);
        if version != VERSION {
            return Err(FormatError::Version(version));
        }
        let length = u32::from_le_bytes(start.array()?) as usize;
        if (HEADER_START_BYTES..=MAX_HEADER_BYTES).contains(&length) {
            Ok(length)
        } else {
            Err(FormatError::Corrupt("its head has no length"))
        }
    }

    /// Decodes a head of the length given by its start.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Header, FormatError> {
        let (bytes, hash) = bytes.split_last_chunk().ok_or(TRUNCATED)?;
        if *hash != Hash::from(blake3::hash(bytes)) {
            return Err(FormatError::Corrupt("its head does not have its checksum"));
        }
        let mut bytes = ByteReader(bytes.get(HEADER_START_BYTES..).ok_or(TRUNCATED)?);
        Ok(Header {
            key: bytes.array()?,
            files: bytes.number()?,
            bytes: bytes.number()?,
            format: bytes.text()?.to_owned(),
            root: bytes.text()?.to_owned(),
        })
    }
}

/// Appends an entry to a run.
pub(crate) fn push_entry(run: &mut Vec<u8>, entry: &Entry<'_>) {
    run.extend(entry.hash);
    let parts = [entry.path.as_bytes(), entry.stamp, entry.text.as_bytes(), &entry.payload];
    for part in parts {
        run.extend((part.len() as u64).to_le_bytes());
    }
    for part in parts {
        run.extend_from_slice(part);
    }
}

/// Header of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// Length of the entries in bytes.
    pub(crate) bytes: u64,
    hash: Hash,
}

impl SegmentHeader {
    /// Length of the header on disk, in bytes.
    pub(crate) const BYTES: usize = size_of::<u64>() + size_of::<Hash>();

    pub(crate) fn of(entries: &[u8]) -> SegmentHeader {
        SegmentHeader { bytes: entries.len() as u64, hash: blake3::hash(entries).into() }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [&self.bytes.to_le_bytes()[..], &self.hash].concat()
    }

    pub(crate) fn from_bytes(bytes: &[u8; SegmentHeader::BYTES]) -> Result<SegmentHeader, FormatError> {
        let mut bytes = ByteReader(bytes);
        Ok(SegmentHeader { bytes: bytes.number()?, hash: bytes.array()? })
    }
}

/// Header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    /// Length of the description in bytes.
    pub(crate) description: u64,
    /// Length of the texts in bytes.
    pub(crate) texts: u64,
    /// Length of texts and arrays in bytes.
    pub(crate) bytes: u64,
    pub(crate) hash: Hash,
}

impl BlockHeader {
    /// Length of the header on disk, in bytes.
    pub(crate) const BYTES: usize = 3 * size_of::<u64>() + size_of::<Hash>();

    /// Creates the header of a block whose description, texts and arrays are hashed.
    pub(crate) fn new(lengths: [u64; 3], mut content: blake3::Hasher) -> BlockHeader {
        for length in lengths {
            content.update(&length.to_le_bytes());
        }
        let [description, texts, bytes] = lengths;
        BlockHeader { description, texts, bytes, hash: content.finalize().into() }
    }

    pub(crate) fn lengths(&self) -> [u64; 3] {
        [self.description, self.texts, self.bytes]
    }

    /// Returns the length of the part after the header; `None` if it is invalid.
    pub(crate) fn content_bytes(&self) -> Option<u64> {
        (self.texts <= self.bytes).then(|| self.description.checked_add(self.bytes)).flatten()
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.lengths().iter().flat_map(|length| length.to_le_bytes()).collect();
        bytes.extend(self.hash);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; BlockHeader::BYTES]) -> Result<BlockHeader, FormatError> {
        let mut bytes = ByteReader(bytes);
        Ok(BlockHeader {
            description: bytes.number()?,
            texts: bytes.number()?,
            bytes: bytes.number()?,
            hash: bytes.array()?,
        })
    }
}

/// Decodes the entries of a run.
pub(crate) fn entries(start: SegmentHeader, entries: &[u8]) -> Result<Vec<Entry<'_>>, FormatError> {
    if SegmentHeader::of(entries) != start {
        return Err(FormatError::Corrupt("a part of it does not have its checksum"));
    }
    let mut bytes = ByteReader(entries);
    let mut entries = Vec::new();
    while !bytes.0.is_empty() {
        let hash = bytes.array()?;
        let [path, stamp, text, payload] =
            [bytes.length()?, bytes.length()?, bytes.length()?, bytes.length()?];
        entries.push(Entry {
            hash,
            path: utf8(bytes.take(path)?)?,
            stamp: bytes.take(stamp)?,
            text: utf8(bytes.take(text)?)?,
            payload: Cow::Borrowed(bytes.take(payload)?),
        });
    }
    Ok(entries)
}

fn utf8(bytes: &[u8]) -> Result<&str, FormatError> {
    str::from_utf8(bytes).map_err(|_| FormatError::NO_TEXT)
}

/// Bytes that are consumed from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], FormatError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u64, FormatError> {
        self.array().map(u64::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, FormatError> {
        usize::try_from(self.number()?).map_err(|_| TRUNCATED)
    }

    fn text(&mut self) -> Result<&'a str, FormatError> {
        let length = self.length()?;
        utf8(self.take(length)?)
    }
}
