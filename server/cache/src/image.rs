//! A workspace's image: one piece of bytes that is used where it lies, in a file that is mapped into memory.
//!
//! What stands in it is nobody's business here, nor whether it is whole: its maker checks that, since it has to look at all of it
//! anyway. As with caches, a file is never changed once it has its name; another one takes its place, and who has mapped the
//! former keeps it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use memmap2::Mmap;

use crate::folder::Place;
use crate::format::Head;
use crate::open::{open_file, settle};
use crate::save::save_file;
use crate::{Error, Miss};

/// Images begin at a multiple of so many bytes, as large as any number and any line of a processor's cache.
const ALIGNMENT: usize = 64;

/// An image as it was when it was mapped, whatever has happened to its file since.
#[derive(Debug)]
pub struct Image {
    mapped: Mmap,
    start: usize,
}

impl AsRef<[u8]> for Image {
    fn as_ref(&self) -> &[u8] {
        self.mapped.get(self.start..).unwrap_or_default()
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

/// Maps the image that was last saved.
pub(crate) fn open(place: &Place, wanted: &str) -> Result<Image, Miss> {
    let path = place.image();
    let (file, head) = open_file(&path, place, wanted)?;
    let start = head.to_bytes().len() + padding(&head);
    Ok(Image { mapped: settle(map(&file).map(Ok), &path)?, start })
}

/// Zeros between a head, whose length does not depend on its numbers, and what follows.
fn padding(head: &Head) -> usize {
    let length = head.to_bytes().len();
    length.next_multiple_of(ALIGNMENT) - length
}

/// Maps a file that is ours.
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: what is mapped must not change, nor the file become shorter. We write a file only before it has its name, and later
    // replace or remove the name alone, which leaves what is mapped; the folder is this user's, who alone could do otherwise.
    unsafe { Mmap::map(file) }
}
