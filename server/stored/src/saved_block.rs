//! Blocks of data that a later process uses in place: texts, then arrays.
//!
//! ```text
//! texts, one after the other · arrays, each aligned to eight bytes
//! ```
//!
//! A block does not say what it holds: its description is opaque here, and belongs to the code that saves and loads the data. This is the
//! only module that knows where in a block things are.

use std::io::{self, Write};
use std::ops::Range;

use crate::block_store::ALIGNMENT;
use crate::{PodArray, SharedBytes, SharedText, StoredData, TextBlock};

/// A block to save. It shares its data with its source.
#[derive(Default)]
pub struct SavedBlock {
    /// The description of the content, for [`LoadedBlock`].
    pub description: Vec<u8>,
    texts: Vec<SharedText>,
    arrays: Vec<PodArray<u8>>,
}

impl SavedBlock {
    /// Creates a block without texts and arrays.
    pub fn new(description: Vec<u8>) -> SavedBlock {
        SavedBlock { description, ..SavedBlock::default() }
    }

    /// Appends a text.
    pub fn push_text(&mut self, text: &SharedText) {
        self.texts.push(text.clone());
    }

    /// Appends the arrays of `data` in their order. Returns the length of each in bytes.
    pub fn push_arrays<D: StoredData>(&mut self, data: &mut D) -> Vec<u64> {
        let before = self.arrays.len();
        let arrays = &mut self.arrays;
        data.arrays(&mut |array| {
            arrays.push(array.to_bytes());
            Ok(())
        })
        .expect("the visitor returns no errors");
        self.arrays[before..].iter().map(|array| array.len() as u64).collect()
    }

    /// Returns the length of all texts in bytes.
    pub fn text_bytes(&self) -> usize {
        self.texts.iter().map(|text| text.len()).sum()
    }

    /// Writes texts and arrays.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        for text in &self.texts {
            writer.write_all(text.as_bytes())?;
        }
        let mut at = self.text_bytes();
        for array in &self.arrays {
            let start = at.next_multiple_of(ALIGNMENT);
            writer.write_all(&[0; ALIGNMENT][..start - at])?;
            writer.write_all(array)?;
            at = start + array.len();
        }
        Ok(())
    }
}

/// A block as it was saved, which this process alone can reach.
#[derive(Clone)]
pub struct LoadedBlock {
    /// The description of the content.
    pub description: Vec<u8>,
    /// Texts and arrays.
    pub bytes: SharedBytes,
    /// The texts.
    pub texts: TextBlock,
}

impl LoadedBlock {
    /// Returns the block in memory, for tests.
    pub fn in_memory(saved: &SavedBlock) -> LoadedBlock {
        let mut bytes = Vec::new();
        saved.write(&mut bytes).expect("writing to memory never fails");
        let texts: String = saved.texts.iter().map(|text| &**text).collect();
        let bytes = crate::block_store::memory_block(&bytes);
        LoadedBlock { description: saved.description.clone(), bytes, texts: std::sync::Arc::new(texts) }
    }
}

/// Takes texts and arrays out of a block, in the order in which they were pushed.
pub struct BlockCursor<'a> {
    block: &'a LoadedBlock,
    text: usize,
    array: usize,
}

impl<'a> BlockCursor<'a> {
    /// Begins at the first text and the first array.
    pub fn new(block: &'a LoadedBlock) -> BlockCursor<'a> {
        BlockCursor { block, text: 0, array: (*block.texts).as_ref().len() }
    }

    /// Returns the next text, which has this number of bytes; `None` if the block has no such text.
    pub fn text(&mut self, bytes: u64) -> Option<SharedText> {
        let range = next_range(self.text, bytes)?;
        self.text = range.end;
        SharedText::in_place(&self.block.texts, range)
    }

    /// Replaces the arrays of `data` by the next ones, which have these lengths in bytes. `None` if the block has no such arrays, or if there
    /// is not one length for each array.
    pub fn arrays<D: StoredData>(&mut self, data: &mut D, lengths: &[u64]) -> Option<()> {
        let mut lengths = lengths.iter();
        let mut is_valid = true;
        let visited = data.arrays(&mut |array| {
            let range = lengths.next().and_then(|&bytes| self.next_array(bytes));
            is_valid &= range.is_some_and(|range| array.use_in_place(&self.block.bytes, range));
            Ok(())
        });
        (visited.is_ok() && is_valid && lengths.next().is_none()).then_some(())
    }

    /// Returns the range of the next array, which has this number of bytes.
    fn next_array(&mut self, bytes: u64) -> Option<Range<usize>> {
        let range = next_range(self.array.checked_next_multiple_of(ALIGNMENT)?, bytes)?;
        self.array = range.end;
        Some(range)
    }
}

fn next_range(start: usize, bytes: u64) -> Option<Range<usize>> {
    Some(start..start.checked_add(usize::try_from(bytes).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoredArray;

    #[derive(Debug, Default, PartialEq)]
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

    fn pair() -> Pair {
        Pair(vec![1, 2, 3].into(), vec![7, u64::MAX].into())
    }

    #[test]
    fn texts_and_arrays_of_a_saved_block_are_used_in_place() {
        let mut saved = SavedBlock::new(vec![5]);
        let lengths: Vec<Vec<u64>> = ["ä", "", "rest"]
            .iter()
            .map(|text| {
                saved.push_text(&SharedText::from(*text));
                saved.push_arrays(&mut pair())
            })
            .collect();
        let loaded = LoadedBlock::in_memory(&saved);
        assert_eq!(loaded.description, [5]);
        let mut cursor = BlockCursor::new(&loaded);
        for (text, lengths) in ["ä", "", "rest"].iter().zip(&lengths) {
            let found = cursor.text(text.len() as u64).unwrap();
            assert!(found == *text && !found.is_in_memory());
            let mut data = Pair::default();
            cursor.arrays(&mut data, lengths).unwrap();
            assert_eq!(data, pair());
        }
        assert!(cursor.arrays(&mut Pair::default(), &[3, 16]).is_none(), "there are no more");
    }

    #[test]
    fn lengths_that_do_not_fit_are_rejected() {
        let mut saved = SavedBlock::default();
        saved.push_text(&SharedText::from("ä"));
        saved.push_arrays(&mut pair());
        let loaded = LoadedBlock::in_memory(&saved);
        let cursor = || BlockCursor::new(&loaded);
        assert!(cursor().text(1).is_none(), "it ends within a character");
        assert!(cursor().text(3).is_none() && cursor().text(u64::MAX).is_none());
        for lengths in [&[3][..], &[3, 16, 0], &[3, 15], &[3, 24], &[3, u64::MAX]] {
            assert!(cursor().arrays(&mut Pair::default(), lengths).is_none(), "{lengths:?}");
        }
    }
}
