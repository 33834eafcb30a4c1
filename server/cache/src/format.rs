//! The file format of caches. Pure: converts between bytes and values, and never trusts the bytes.
//!
//! ```text
//! cache: head, runs of about a megabyte
//! image: head, zeros up to a multiple of 64 bytes, the caller's bytes
//! head:  magic, version, length of the head, key of the root, files, length of the rest, format, root, checksum
//! run:   length of its entries, their checksum, entries
//! entry: hash, lengths of the following fields, path, stamp, text, payload
//! ```
//!
//! Numbers are little-endian. A checksum is a blake3 hash; the checksum of the head covers the head before it. Each run has its own
//! checksum, so that a cache can be read and verified in pieces, on several threads, and is never in memory twice. The content of
//! an image is validated by the caller, which knows its format.

use std::borrow::Cow;

use crate::Entry;
use crate::folder::Place;

/// First bytes of every head, independent of the version.
const MAGIC: [u8; 8] = *b"GBCACHE\n";

/// Format version. Increment it with every change of this module.
pub(crate) const VERSION: u32 = 1;

/// Length of the head's start in bytes, up to and including the head's length.
pub(crate) const HEAD_START: usize = 16;

/// Maximum length of a head in bytes. A valid head holds little more than a path.
pub(crate) const HEAD_LIMIT: usize = 1 << 20;

/// A blake3 hash.
pub(crate) type Hash = [u8; 32];

/// Header of a cache file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
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
pub(crate) enum Flaw {
    /// They belong to another kind of file.
    Foreign,
    /// They have this other version of the format.
    Version(u32),
    /// They are corrupt.
    Damage(&'static str),
}

const SHORT: Flaw = Flaw::Damage("it ends too early");

impl Head {
    /// Creates the head of a file without content.
    pub(crate) fn of(place: &Place, format: &str) -> Head {
        Head { key: place.key, files: 0, bytes: 0, format: format.to_owned(), root: place.root.clone() }
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
        let length = HEAD_START + rest.len() + size_of::<Hash>();
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
    pub(crate) fn length(start: &[u8; HEAD_START]) -> Result<usize, Flaw> {
        let mut start = Bytes(start);
        if start.take(MAGIC.len())? != MAGIC {
            return Err(Flaw::Foreign);
        }
        let version = u32::from_le_bytes(start.array()?);
        if version != VERSION {
            return Err(Flaw::Version(version));
        }
        let length = u32::from_le_bytes(start.array()?) as usize;
        if (HEAD_START..=HEAD_LIMIT).contains(&length) {
            Ok(length)
        } else {
            Err(Flaw::Damage("its head has no length"))
        }
    }

    /// Decodes a head of the length given by its start.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Head, Flaw> {
        let (bytes, hash) = bytes.split_last_chunk().ok_or(SHORT)?;
        if *hash != Hash::from(blake3::hash(bytes)) {
            return Err(Flaw::Damage("its head does not have its checksum"));
        }
        let mut bytes = Bytes(bytes.get(HEAD_START..).ok_or(SHORT)?);
        Ok(Head {
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
pub(crate) struct RunStart {
    /// Length of the entries in bytes.
    pub(crate) bytes: u64,
    hash: Hash,
}

impl RunStart {
    /// Length of the header on disk, in bytes.
    pub(crate) const BYTES: usize = size_of::<u64>() + size_of::<Hash>();

    pub(crate) fn of(entries: &[u8]) -> RunStart {
        RunStart { bytes: entries.len() as u64, hash: blake3::hash(entries).into() }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [&self.bytes.to_le_bytes()[..], &self.hash].concat()
    }

    pub(crate) fn from_bytes(bytes: &[u8; RunStart::BYTES]) -> Result<RunStart, Flaw> {
        let mut bytes = Bytes(bytes);
        Ok(RunStart { bytes: bytes.number()?, hash: bytes.array()? })
    }
}

/// Decodes the entries of a run.
pub(crate) fn entries(start: RunStart, entries: &[u8]) -> Result<Vec<Entry<'_>>, Flaw> {
    if RunStart::of(entries) != start {
        return Err(Flaw::Damage("a part of it does not have its checksum"));
    }
    let mut bytes = Bytes(entries);
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

fn utf8(bytes: &[u8]) -> Result<&str, Flaw> {
    str::from_utf8(bytes).map_err(|_| Flaw::Damage("its text is not UTF-8"))
}

/// Bytes that are consumed from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Flaw> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u64, Flaw> {
        self.array().map(u64::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, Flaw> {
        usize::try_from(self.number()?).map_err(|_| SHORT)
    }

    fn text(&mut self) -> Result<&'a str, Flaw> {
        let length = self.length()?;
        utf8(self.take(length)?)
    }
}
