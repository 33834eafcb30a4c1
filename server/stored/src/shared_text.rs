//! Immutable texts, either in memory or in place in a block of texts.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::BlockStore;

/// Texts one after the other. The address and content of a block do not change while it is in use.
pub type TextBlock = Arc<dyn AsRef<str> + Send + Sync>;

/// An immutable text; cheap to clone.
#[derive(Clone)]
pub struct SharedText(TextPlace);

#[derive(Clone)]
enum TextPlace {
    Memory(Arc<str>),
    Block { block: TextBlock, range: Range<usize> },
}

impl SharedText {
    /// Returns the text in `range` of a block; `None` if the range is invalid or divides a character.
    pub fn in_place(block: &TextBlock, range: Range<usize>) -> Option<SharedText> {
        (**block).as_ref().get(range.clone())?;
        Some(SharedText(TextPlace::Block { block: Arc::clone(block), range }))
    }

    /// Returns the length in bytes. Reads nothing of a text in a block, as a dereference does: of all texts that would be the whole
    /// workspace.
    pub fn len(&self) -> usize {
        match &self.0 {
            TextPlace::Memory(text) => text.len(),
            TextPlace::Block { range, .. } => range.len(),
        }
    }

    /// Returns whether it has no bytes. Reads nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it is this very text in its place, not only an equal one. Reads nothing.
    pub fn is_same(&self, other: &SharedText) -> bool {
        match (&self.0, &other.0) {
            (TextPlace::Memory(one), TextPlace::Memory(other)) => Arc::ptr_eq(one, other),
            (TextPlace::Block { block, range }, TextPlace::Block { block: other, range: other_range }) => {
                std::ptr::addr_eq(Arc::as_ptr(block), Arc::as_ptr(other)) && range == other_range
            }
            _ => false,
        }
    }

    /// Returns the text in memory.
    pub fn to_arc(&self) -> Arc<str> {
        match &self.0 {
            TextPlace::Memory(text) => Arc::clone(text),
            TextPlace::Block { .. } => Arc::from(&**self),
        }
    }

    /// Returns whether it is in memory, and not in a block.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.0, TextPlace::Memory(_))
    }

    /// Moves texts into one block of `store`; after an error all stay where they are.
    pub fn move_all(store: &dyn BlockStore, mut texts: Vec<&mut SharedText>) -> io::Result<()> {
        if texts.iter().all(|text| text.is_empty()) {
            return Ok(());
        }
        let block = store.write_texts(&mut texts.iter().map(|text| &***text))?;
        let mut end = 0;
        let ranges = texts.iter().map(|text| {
            let start = end;
            end += text.len();
            start..end
        });
        let ranges: Vec<Range<usize>> = ranges.collect();
        let is_whole = texts.iter().zip(&ranges).all(|(text, range)| {
            (*block).as_ref().get(range.clone()).is_some_and(|stored| stored.len() == text.len())
        });
        if !is_whole {
            return Err(io::Error::other("a block is shorter than its content"));
        }
        for (text, range) in texts.iter_mut().zip(ranges) {
            **text = SharedText(TextPlace::Block { block: Arc::clone(&block), range });
        }
        Ok(())
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            TextPlace::Memory(text) => text,
            TextPlace::Block { block, range } => &(**block).as_ref()[range.clone()],
        }
    }
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Default for SharedText {
    fn default() -> SharedText {
        SharedText(TextPlace::Memory(Arc::default()))
    }
}

impl From<Arc<str>> for SharedText {
    fn from(text: Arc<str>) -> SharedText {
        SharedText(TextPlace::Memory(text))
    }
}

impl From<&Arc<str>> for SharedText {
    fn from(text: &Arc<str>) -> SharedText {
        Arc::clone(text).into()
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> SharedText {
        Arc::<str>::from(text).into()
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> SharedText {
        Arc::<str>::from(text).into()
    }
}

impl From<&String> for SharedText {
    fn from(text: &String) -> SharedText {
        text.as_str().into()
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &SharedText) -> bool {
        **self == **other
    }
}

impl Eq for SharedText {}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl Hash for SharedText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlocks;

    /// A block that must not be read.
    struct UnreadableBlock;

    impl AsRef<str> for UnreadableBlock {
        fn as_ref(&self) -> &str {
            panic!("the text is read")
        }
    }

    #[test]
    fn lengths_are_known_and_places_compared_without_reading_a_text() {
        let block: TextBlock = Arc::new(UnreadableBlock);
        let text = |range| SharedText(TextPlace::Block { block: Arc::clone(&block), range });
        let (one, other) = (text(3..10), text(10..17));
        assert_eq!((one.len(), one.is_empty(), text(4..4).is_empty()), (7, false, true));
        assert!(one.is_same(&one.clone()) && !one.is_same(&other) && !one.is_same(&"in memory".into()));
    }

    #[test]
    fn moved_texts_are_equal_and_clones_of_each_are_the_same() {
        let mut texts: Vec<SharedText> = ["ä\n", "", "rest"].map(SharedText::from).into();
        let before = texts.clone();
        SharedText::move_all(&MemoryBlocks, texts.iter_mut().collect()).unwrap();
        assert_eq!(texts, before);
        assert!(texts.iter().all(|text| !text.is_in_memory()));
        assert!(texts[0].is_same(&texts[0].clone()) && !texts[0].is_same(&before[0]));
        assert_eq!(&*texts[2].to_arc(), "rest");
    }
}
