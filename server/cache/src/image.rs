//! A workspace's image: one piece of bytes that is used where it lies in memory.
//!
//! It is read, not mapped: a mapped file that another process truncates ends every process that looks at it (SIGBUS). Its maker checks
//! whether it is whole, which takes a look at all of it, so mapping would save neither time nor memory worth that. As with caches, a
//! file is never changed once it has its name; another one takes its place.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::folder::Place;
use crate::format::{Flaw, Head};
use crate::open::{open_file, settle};
use crate::save::save_file;
use crate::{Error, Miss};

/// Images begin at a multiple of so many bytes, as large as any number and any line of a processor's cache.
const ALIGNMENT: usize = 64;

/// An image as it was when it was read, whatever has happened to its file since.
#[derive(Debug)]
pub struct Image {
    /// With unused bytes before the image, so that it is aligned.
    bytes: Vec<u8>,
    start: usize,
}

impl AsRef<[u8]> for Image {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

/// Saves `pieces`, one after the other, and tells how many bytes the file has.
pub(crate) fn save(
    folder: &Path,
    place: &Place,
    format: &str,
    pieces: &[Cow<'_, [u8]>],
    limit: u64,
) -> Result<u64, Error> {
    let mut head = Head::of(place, format);
    let padding = padding(&head);
    head.bytes = (padding + pieces.iter().map(|piece| piece.len()).sum::<usize>()) as u64;
    let bytes = head.cache_bytes();
    if bytes > limit {
        return Err(Error::TooLarge { limit });
    }
    save_file(folder, place, &place.image(), limit, |mut file| {
        file.write_all(&head.to_bytes())?;
        file.write_all(&[0; ALIGNMENT][..padding])?;
        pieces.iter().try_for_each(|piece| file.write_all(piece))?;
        file.sync_all()?;
        Ok(head)
    })?;
    Ok(bytes)
}

/// Reads the image that was last saved.
pub(crate) fn open(place: &Place, wanted: &str) -> Result<Image, Miss> {
    let path = place.image();
    let (mut file, head) = open_file(&path, place, wanted)?;
    settle(read(&mut file, &head), &path)
}

/// Reads what follows the head of a file that had its length a moment ago.
fn read(file: &mut File, head: &Head) -> io::Result<Result<Image, Flaw>> {
    let before = head.to_bytes().len() + padding(head);
    let Some(length) = usize::try_from(head.cache_bytes()).ok().and_then(|all| all.checked_sub(before))
    else {
        return Ok(Err(Flaw::Damage("it has no length")));
    };
    let mut bytes = vec![0; ALIGNMENT + length];
    let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    bytes.truncate(start + length);
    file.seek(SeekFrom::Start(before as u64))?;
    file.read_exact(&mut bytes[start..])?;
    Ok(Ok(Image { bytes, start }))
}

/// Zeros between a head, whose length does not depend on its numbers, and what follows.
fn padding(head: &Head) -> usize {
    let length = head.to_bytes().len();
    length.next_multiple_of(ALIGNMENT) - length
}
