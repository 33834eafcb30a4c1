//! The index that clangd keeps of a project (`.cache/clangd/index/*.idx`): which function a name in the code refers to.
//!
//! A file is a RIFF container of the type `CdIx`. Its chunk `meta` has the version, `stri` a table of strings, and `refs` the references,
//! grouped by the id of their symbol, each with its kind and place. Other chunks are not read: their form changes more often. Files are
//! not trusted: every length is checked, and damaged files are refused as a whole.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::ZlibDecoder;
use thiserror::Error;

use super::compile_commands::relative;

/// The version that is read: that of clangd 14, with whose files this is tested.
const VERSION: u32 = 17;

/// Limit of a file in bytes. A file has one source file; the largest of LLVM's have about 1 MB.
pub const MAX_INDEX_BYTES: u64 = 64 << 20;

/// Limit of the table of strings of a file in bytes, unpacked.
const MAX_STRING_BYTES: u64 = 256 << 20;

/// Limit of the references of all files. A reference takes about 40 bytes; LLVM has 10 million.
const MAX_REFERENCES: usize = 20_000_000;

/// Bits of a reference's kind.
const DEFINITION: u8 = 2;
const REFERENCE: u8 = 4;

/// A file of the index cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClangdIndexError {
    /// It has another type.
    #[error("not an index of clangd")]
    OtherFormat,
    /// It is of another version.
    #[error("version {0} of the index is not supported, only {VERSION}")]
    Version(u32),
    /// Its parts contradict each other.
    #[error("damaged")]
    Damaged,
    /// It is too large.
    #[error("too large")]
    TooLarge,
}

use ClangdIndexError::{Damaged, OtherFormat, TooLarge, Version};

/// A place in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// Number of the path.
    path: u32,
    /// 0-based line.
    line: u32,
    /// 0-based column in UTF-16 units.
    column: u32,
}

/// What the index knows about a name in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexedTarget<'i> {
    /// The name is not in the index.
    Unknown,
    /// It refers to something without a definition in the repository, or with several.
    Outside,
    /// It refers to the definition whose name is on the 0-based line of this file.
    Definition(&'i str, usize),
}

/// The references of a project's own files.
#[derive(Clone, Debug, Default)]
pub struct ClangdIndex {
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Symbol by place.
    references: HashMap<Place, u64>,
    /// Definition by symbol; `None` if there are several.
    definitions: HashMap<u64, Option<Place>>,
}

impl ClangdIndex {
    /// Adds a file of the index of the repository at `root`, an absolute path.
    ///
    /// # Errors
    ///
    /// The file is not an index of a supported version, or is damaged or too large. What was read before the damage is kept.
    pub fn add(&mut self, bytes: &[u8], root: &str) -> Result<(), ClangdIndexError> {
        let chunks = Chunks::parse(bytes)?;
        let strings = unpacked(chunks.strings)?;
        let mut files = FileTable { uris: texts(&strings), numbers: HashMap::new(), root };
        let mut data = Bytes(chunks.references);
        while !data.0.is_empty() {
            let symbol = data.id()?;
            for _ in 0..data.number()? {
                let kind = data.byte()?;
                let path = files.number(data.number()?, self)?;
                let (line, column) = (data.number()?, data.number()?);
                let _end = (data.number()?, data.number()?);
                let _container = data.id()?;
                if let Some(path) = path {
                    self.add_reference(kind, symbol, Place { path, line, column })?;
                }
            }
        }
        Ok(())
    }

    fn add_reference(&mut self, kind: u8, symbol: u64, place: Place) -> Result<(), ClangdIndexError> {
        if kind & REFERENCE != 0 {
            self.references.insert(place, symbol);
        }
        if kind & DEFINITION != 0 {
            let known = self.definitions.entry(symbol).or_insert(Some(place));
            // Files of the index repeat what they share.
            if *known != Some(place) {
                *known = None;
            }
        }
        match self.len() + self.definitions.len() > MAX_REFERENCES {
            true => Err(TooLarge),
            false => Ok(()),
        }
    }

    /// Returns the number of references in the repository.
    pub fn len(&self) -> usize {
        self.references.len()
    }

    /// Whether the index has no reference in the repository.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// Returns what the name refers to that begins at a 0-based line and column (UTF-16 units) of a file.
    pub fn target(&self, path: &str, line: usize, column: usize) -> IndexedTarget<'_> {
        let place = || {
            let (line, column) = (u32::try_from(line).ok()?, u32::try_from(column).ok()?);
            Some(Place { path: *self.numbers.get(path)?, line, column })
        };
        let Some(symbol) = place().and_then(|place| self.references.get(&place)) else {
            return IndexedTarget::Unknown;
        };
        match self.definitions.get(symbol).copied().flatten() {
            None => IndexedTarget::Outside,
            Some(place) => {
                let path = self.paths.get(place.path as usize).map_or("", String::as_str);
                IndexedTarget::Definition(path, place.line as usize)
            }
        }
    }

    fn number_of(&mut self, path: String) -> Result<u32, ClangdIndexError> {
        let next = u32::try_from(self.paths.len()).map_err(|_| TooLarge)?;
        Ok(*self.numbers.entry(path).or_insert_with_key(|path| {
            self.paths.push(path.clone());
            next
        }))
    }
}

/// The chunks of a file that are read.
struct Chunks<'b> {
    strings: &'b [u8],
    references: &'b [u8],
}

impl<'b> Chunks<'b> {
    fn parse(bytes: &'b [u8]) -> Result<Chunks<'b>, ClangdIndexError> {
        if bytes.len() as u64 > MAX_INDEX_BYTES {
            return Err(TooLarge);
        }
        let mut data = Bytes(bytes);
        let has_type = data.take(4) == Ok(b"RIFF") && data.take(4).is_ok() && data.take(4) == Ok(b"CdIx");
        if !has_type {
            return Err(OtherFormat);
        }
        let mut found: HashMap<&[u8], &[u8]> = HashMap::new();
        while !data.0.is_empty() {
            let id = data.take(4)?;
            let length = data.word()? as usize;
            let chunk = data.take(length)?;
            // Chunks begin at even bytes.
            if length % 2 == 1 && !data.0.is_empty() {
                data.byte()?;
            }
            found.entry(id).or_insert(chunk);
        }
        let version = Bytes(found.get(&b"meta"[..]).ok_or(Damaged)?).word()?;
        if version != VERSION {
            return Err(Version(version));
        }
        Ok(Chunks {
            strings: found.get(&b"stri"[..]).ok_or(Damaged)?,
            references: found.get(&b"refs"[..]).copied().unwrap_or_default(),
        })
    }
}

/// Returns the table of strings, which may be packed.
fn unpacked(chunk: &[u8]) -> Result<Vec<u8>, ClangdIndexError> {
    let mut data = Bytes(chunk);
    let length = u64::from(data.word()?);
    if length == 0 {
        return Ok(data.0.to_vec());
    }
    if length > MAX_STRING_BYTES {
        return Err(TooLarge);
    }
    let mut text = Vec::new();
    ZlibDecoder::new(data.0).take(length + 1).read_to_end(&mut text).map_err(|_| Damaged)?;
    if text.len() as u64 == length { Ok(text) } else { Err(Damaged) }
}

/// Returns the strings of a table, each of which ends with a zero.
fn texts(table: &[u8]) -> Vec<&[u8]> {
    let mut texts: Vec<&[u8]> = table.split(|&byte| byte == 0).collect();
    texts.pop();
    texts
}

/// The files of an index by the numbers of their URIs.
struct FileTable<'t> {
    uris: Vec<&'t [u8]>,
    /// Numbers of paths in the whole index; `None` outside of the repository.
    numbers: HashMap<u32, Option<u32>>,
    root: &'t str,
}

impl FileTable<'_> {
    fn number(&mut self, uri: u32, index: &mut ClangdIndex) -> Result<Option<u32>, ClangdIndexError> {
        if let Some(known) = self.numbers.get(&uri) {
            return Ok(*known);
        }
        let text = self.uris.get(uri as usize).ok_or(Damaged)?;
        let inside = path_of_uri(text).and_then(|path| relative(&path, self.root));
        let number = inside.map(|path| index.number_of(path)).transpose()?;
        self.numbers.insert(uri, number);
        Ok(number)
    }
}

/// Returns the path of a `file:` URI.
fn path_of_uri(uri: &[u8]) -> Option<String> {
    let mut rest = uri.strip_prefix(b"file://")?;
    let mut path = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        path.push(byte);
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            path.pop();
            path.push(u8::from_str_radix(digits, 16).ok()?);
            rest = rest.get(2..)?;
        }
    }
    String::from_utf8(path).ok()
}

/// Bytes that are not yet read.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8], ClangdIndexError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, ClangdIndexError> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// Reads a number of four bytes, the lowest first.
    fn word(&mut self) -> Result<u32, ClangdIndexError> {
        let bytes = self.take(4)?.try_into().map_err(|_| Damaged)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a number of seven bits a byte, the lowest first; the top bit says that another byte follows.
    fn number(&mut self) -> Result<u32, ClangdIndexError> {
        let mut number: u32 = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    fn id(&mut self) -> Result<u64, ClangdIndexError> {
        let bytes = self.take(8)?.try_into().map_err(|_| Damaged)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    /// A reference of a made file: symbol, kind, number of the URI, line and column.
    pub(crate) type MadeReference = (u64, u8, u32, u32, u32);

    fn number(mut number: u32, out: &mut Vec<u8>) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    fn chunk(id: &[u8], data: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(id);
        out.extend_from_slice(&(data.len() as u32).to_le_bytes());
        out.extend_from_slice(data);
        out.extend(std::iter::repeat_n(0, data.len() % 2));
    }

    /// Makes a file of the index.
    pub(crate) fn made_index(version: u32, uris: &[&str], references: &[MadeReference]) -> Vec<u8> {
        let table: Vec<u8> = uris.iter().flat_map(|uri| uri.bytes().chain([0])).collect();
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&table).expect("memory");
        let strings =
            [(table.len() as u32).to_le_bytes().to_vec(), packer.finish().expect("memory")].concat();
        let mut rows = Vec::new();
        for (symbol, kind, uri, line, column) in references {
            rows.extend_from_slice(&symbol.to_le_bytes());
            rows.extend_from_slice(&[1, *kind]);
            for value in [*uri, *line, *column, *line, *column + 1] {
                number(value, &mut rows);
            }
            rows.extend_from_slice(&[0; 8]);
        }
        let mut body = b"CdIx".to_vec();
        chunk(b"meta", &version.to_le_bytes(), &mut body);
        chunk(b"odd ", &[1, 2, 3], &mut body);
        chunk(b"stri", &strings, &mut body);
        chunk(b"refs", &rows, &mut body);
        [b"RIFF", &(body.len() as u32).to_le_bytes()[..], &body].concat()
    }

    const URIS: [&str; 3] =
        ["file:///w/a%20repo/src/a.c", "file:///w/a%20repo/b.h", "file:///usr/include/c.h"];

    const ROWS: [MadeReference; 7] = [
        (1, 4, 0, 3, 300),
        (1, 2, 1, 70_000, 5),
        (2, 4, 0, 4, 0),
        (2, 2, 2, 1, 1),
        (3, 12, 0, 5, 0),
        (3, 2, 0, 6, 0),
        (3, 2, 1, 6, 0),
    ];

    #[test]
    fn names_have_the_place_of_their_definition() {
        let mut index = ClangdIndex::default();
        let file = made_index(17, &URIS, &ROWS);
        index.add(&file, "/w/a repo").expect("an index");
        index.add(&file, "/w/a repo").expect("the same once more");
        assert_eq!(index.len(), 3);
        assert_eq!(index.target("src/a.c", 3, 300), IndexedTarget::Definition("b.h", 70_000));
        assert_eq!(index.target("src/a.c", 4, 0), IndexedTarget::Outside, "defined elsewhere");
        assert_eq!(index.target("src/a.c", 5, 0), IndexedTarget::Outside, "two definitions");
        for (path, line) in [("src/a.c", 9), ("src/b.c", 3), ("b.h", 70_000)] {
            assert_eq!(index.target(path, line, 5), IndexedTarget::Unknown, "{path}:{line}");
        }
        let mut elsewhere = ClangdIndex::default();
        elsewhere.add(&file, "/w/other").expect("an index");
        assert!(elsewhere.is_empty());
    }

    #[test]
    fn other_versions_and_files_are_refused() {
        let add = |bytes: &[u8]| ClangdIndex::default().add(bytes, "/w");
        assert_eq!(add(&made_index(16, &URIS, &ROWS)), Err(Version(16)));
        assert_eq!(Version(99).to_string(), "version 99 of the index is not supported, only 17");
        for other in [&b""[..], b"RIFF", b"RIFF\0\0\0\0WAVE", b"{}"] {
            assert_eq!(add(other), Err(OtherFormat));
        }
    }

    #[test]
    fn damaged_files_are_errors() {
        let whole = made_index(17, &URIS, &ROWS);
        let is_whole = |length: &usize| ClangdIndex::default().add(&whole[..*length], "/w/a repo").is_ok();
        let references = whole.windows(4).position(|id| id == b"refs").expect("the chunk is there");
        // A file may have no references, and its last byte only makes its length even.
        let expected = [references, whole.len() - 1, whole.len()];
        assert_eq!((12..=whole.len()).filter(is_whole).collect::<Vec<_>>(), expected);
        for place in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[place] = value;
                // Whatever is read, it ends.
                let _ = ClangdIndex::default().add(&changed, "/w/a repo");
            }
        }
        let bomb = [&0xffff_fff0_u32.to_le_bytes()[..], &[0; 8]].concat();
        assert_eq!(unpacked(&bomb), Err(TooLarge));
    }
}
