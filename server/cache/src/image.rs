//! A workspace's image: one block of bytes that is used in place, without decoding.
//!
//! It is read, not mapped: if another process truncates a mapped file, every process that reads the mapping ends (SIGBUS). The
//! caller verifies the image, which reads all of it, so mapping would save neither time nor memory worth that risk. Like a cache, a
//! file never changes once it has its name; a new one replaces it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::cache_reader::{open_file, or_miss};
use crate::folder::CachePaths;
use crate::format::{FormatError, Header};
use crate::save::save_file;
use crate::{CacheError, CacheMiss};

/// Alignment of images in bytes: at least that of any number and any cache line.
const ALIGNMENT: usize = 64;

/// An image as it was when it was read, independent of later changes of its file.
#[derive(Debug)]
pub struct CacheImage {
    /// Padding before the image aligns it.
    bytes: Vec<u8>,
    start: usize,
}

impl AsRef<[u8]> for CacheImage {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

/// Saves the concatenation of `pieces`. Returns the file size in bytes.
pub(crate) fn save(
    folder: &Path,
    place: &CachePaths,
    format: &str,
    pieces: &[Cow<'_, [u8]>],
    limit: u64,
) -> Result<u64, CacheError> {
    let mut head = Header::of(place, format);
    let padding = padding(&head);
    head.bytes = (padding + pieces.iter().map(|piece| piece.len()).sum::<usize>()) as u64;
    let bytes = head.cache_bytes();
    if bytes > limit {
        return Err(CacheError::TooLarge { limit });
    }
    save_file(folder, &place.image_path(), limit, |mut file| {
        file.write_all(&head.to_bytes())?;
        file.write_all(&[0; ALIGNMENT][..padding])?;
        pieces.iter().try_for_each(|piece| file.write_all(piece))?;
        Ok(head)
    })?;
    Ok(bytes)
}

/// Reads the image that was saved last.
pub(crate) fn open(place: &CachePaths, wanted: &str) -> Result<CacheImage, CacheMiss> {
    let path = place.image_path();
    let (mut file, head) = open_file(&path, place, wanted)?;
    or_miss(read(&mut file, &head), &path)
}

/// Reads the data behind the head of a file whose length was checked just before.
fn read(file: &mut File, head: &Header) -> io::Result<Result<CacheImage, FormatError>> {
    let before = head.to_bytes().len() + padding(head);
    let Some(length) = usize::try_from(head.cache_bytes()).ok().and_then(|all| all.checked_sub(before))
    else {
        return Ok(Err(FormatError::Corrupt("it has no length")));
    };
    let mut bytes = vec![0; ALIGNMENT + length];
    let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    bytes.truncate(start + length);
    file.seek(SeekFrom::Start(before as u64))?;
    file.read_exact(&mut bytes[start..])?;
    Ok(Ok(CacheImage { bytes, start }))
}

/// Zeros between the head and the data. The length of a head does not depend on its numbers.
fn padding(head: &Header) -> usize {
    let length = head.to_bytes().len();
    length.next_multiple_of(ALIGNMENT) - length
}
