//! Moves arrays to a store, in large blocks.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use crate::{PodArray, SharedBytes, TextBlock};

/// Alignment of arrays in a block, in bytes: that of the largest numbers.
pub(crate) const ALIGNMENT: usize = size_of::<u64>();

/// A place for blocks of immutable bytes. A block is released with the last reference to it.
pub trait BlockStore: fmt::Debug + Send + Sync {
    /// Starts a block.
    fn create(&self) -> io::Result<Box<dyn BlockWriter>>;

    /// Writes a block of texts, one after the other.
    fn write_texts(&self, texts: &mut dyn Iterator<Item = &str>) -> io::Result<TextBlock>;

    /// Returns the memory of everything that was read so far to the system, if the store finds that memory is short; later accesses read it
    /// again. For the end of a pass over data that is not needed soon.
    fn release_pages(&self) {}
}

/// Writes a block, which can be read when it is complete.
pub trait BlockWriter: Write {
    /// Completes the block, which must not be empty.
    fn finish(self: Box<Self>) -> io::Result<SharedBytes>;
}

/// An array that can move into a block.
pub trait StoredArray {
    /// Returns its bytes; `None` if they are in a block.
    fn owned_bytes(&self) -> Option<&[u8]>;

    /// Returns its bytes, which it shares if they are in a block.
    fn to_bytes(&self) -> PodArray<u8>;

    /// Replaces it by the array in `range` of a block, which has the same bytes. Returns whether the range is valid and aligned.
    fn use_in_place(&mut self, block: &SharedBytes, range: Range<usize>) -> bool;
}

impl<T: Pod> StoredArray for PodArray<T> {
    fn owned_bytes(&self) -> Option<&[u8]> {
        match self {
            PodArray::Owned(numbers) => Some(bytemuck::cast_slice(numbers)),
            PodArray::Mapped { .. } => None,
        }
    }

    fn to_bytes(&self) -> PodArray<u8> {
        match self {
            PodArray::Owned(numbers) => bytemuck::cast_slice(numbers).to_vec().into(),
            PodArray::Mapped { bytes, range } => {
                PodArray::Mapped { bytes: Arc::clone(bytes), range: range.clone() }
            }
        }
    }

    fn use_in_place(&mut self, block: &SharedBytes, range: Range<usize>) -> bool {
        let array = PodArray::in_place(block, range);
        let is_valid = array.is_some();
        array.into_iter().for_each(|array| *self = array);
        is_valid
    }
}

/// Data whose large parts are arrays.
pub trait StoredData {
    /// Calls `visit` with each array, always in the same order.
    fn arrays(&mut self, visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>) -> io::Result<()>;
}

/// Moves the arrays of `data` that are in memory into one block of `store`. After an error some or all of them are still in memory;
/// the data is valid in any case.
pub fn move_to_store<D: StoredData>(store: &dyn BlockStore, data: &mut [D]) -> io::Result<()> {
    let mut writer = BlockLayout { writer: BufWriter::new(store.create()?), length: 0, ranges: Vec::new() };
    for part in &mut *data {
        part.arrays(&mut |array| array.owned_bytes().map_or(Ok(()), |bytes| writer.push(bytes)))?;
    }
    let BlockLayout { writer, length, ranges } = writer;
    if length == 0 {
        return Ok(());
    }
    let block = writer.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    let mut ranges = ranges.into_iter();
    for part in data {
        part.arrays(&mut |array| {
            let range = array.owned_bytes().and_then(|_| ranges.next());
            match range.is_none_or(|range| array.use_in_place(&block, range)) {
                true => Ok(()),
                false => Err(io::Error::other("a block is shorter than its content")),
            }
        })?;
    }
    Ok(())
}

/// A block that is being written.
struct BlockLayout {
    writer: BufWriter<Box<dyn BlockWriter>>,
    length: usize,
    /// Ranges of the arrays so far, in their order.
    ranges: Vec<Range<usize>>,
}

impl BlockLayout {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let start = self.length.next_multiple_of(ALIGNMENT);
        self.writer.write_all(&[0; ALIGNMENT][..start - self.length])?;
        self.writer.write_all(bytes)?;
        self.length = start + bytes.len();
        self.ranges.push(start..self.length);
        Ok(())
    }
}

/// A store in memory, for tests: blocks are vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryBlocks;

/// A vector of numbers aligns its bytes.
struct MemoryBlock {
    numbers: Vec<u64>,
    length: usize,
}

impl AsRef<[u8]> for MemoryBlock {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.numbers)[..self.length]
    }
}

struct MemoryWriter(Vec<u8>);

impl Write for MemoryWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BlockWriter for MemoryWriter {
    fn finish(self: Box<Self>) -> io::Result<SharedBytes> {
        Ok(memory_block(&self.0))
    }
}

/// Returns bytes in memory, aligned as in a block.
pub(crate) fn memory_block(bytes: &[u8]) -> SharedBytes {
    let mut numbers = vec![0_u64; bytes.len().div_ceil(ALIGNMENT)];
    bytemuck::cast_slice_mut(&mut numbers)[..bytes.len()].copy_from_slice(bytes);
    Arc::new(MemoryBlock { numbers, length: bytes.len() })
}

impl BlockStore for MemoryBlocks {
    fn create(&self) -> io::Result<Box<dyn BlockWriter>> {
        Ok(Box::new(MemoryWriter(Vec::new())))
    }

    fn write_texts(&self, texts: &mut dyn Iterator<Item = &str>) -> io::Result<TextBlock> {
        Ok(Arc::new(texts.collect::<String>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Pair(PodArray<u8>, PodArray<u64>);

    impl StoredData for Pair {
        fn arrays(
            &mut self,
            visit: &mut dyn FnMut(&mut dyn StoredArray) -> io::Result<()>,
        ) -> io::Result<()> {
            visit(&mut self.0)?;
            visit(&mut self.1)
        }
    }

    fn pairs() -> Vec<Pair> {
        let pair = |bytes: &[u8], numbers: &[u64]| Pair(bytes.to_vec().into(), numbers.to_vec().into());
        vec![pair(b"abc", &[1, u64::MAX]), pair(b"", &[]), pair(b"d", &[3])]
    }

    #[test]
    fn stored_arrays_are_equal_and_no_longer_in_memory() {
        let mut stored = pairs();
        // The second time there is nothing left to store.
        for _ in 0..2 {
            move_to_store(&MemoryBlocks, &mut stored).unwrap();
            assert_eq!(stored, pairs());
            assert!(stored.iter().all(|Pair(bytes, numbers)| {
                bytes.owned_bytes().is_none() && numbers.owned_bytes().is_none()
            }));
        }
    }

    /// Blocks that lose their last byte.
    #[derive(Debug)]
    struct ShortBlocks;

    struct ShortWriter(Box<dyn BlockWriter>, Vec<u8>);

    impl Write for ShortWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl BlockWriter for ShortWriter {
        fn finish(mut self: Box<Self>) -> io::Result<SharedBytes> {
            self.1.pop();
            self.0.write_all(&self.1)?;
            self.0.finish()
        }
    }

    impl BlockStore for ShortBlocks {
        fn create(&self) -> io::Result<Box<dyn BlockWriter>> {
            Ok(Box::new(ShortWriter(MemoryBlocks.create()?, Vec::new())))
        }

        fn write_texts(&self, _: &mut dyn Iterator<Item = &str>) -> io::Result<TextBlock> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn data_stays_valid_if_a_block_is_too_short() {
        let mut stored = pairs();
        assert!(move_to_store(&ShortBlocks, &mut stored).is_err());
        assert_eq!(stored, pairs());
    }
}
