//! Arrays of numbers, either owned or borrowed from shared bytes.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

/// Shared immutable bytes, such as a cache file in memory. Their address does not change while they are in use.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Immutable array of numbers. Each access to an array in place looks up its bytes, so a loop should borrow the slice once.
#[derive(Clone)]
pub enum PodArray<T> {
    /// In memory.
    Owned(Vec<T>),
    /// In place in shared bytes.
    Mapped {
        /// The bytes.
        bytes: SharedBytes,
        /// Range of the numbers in them; valid and aligned.
        range: Range<usize>,
    },
}

impl<T: Pod> PodArray<T> {
    /// Borrows the numbers in `range` of `bytes`. Returns `None` if the range is invalid or not aligned.
    pub fn in_place(bytes: &SharedBytes, range: Range<usize>) -> Option<PodArray<T>> {
        let part = (**bytes).as_ref().get(range.clone())?;
        bytemuck::try_cast_slice::<u8, T>(part).ok()?;
        Some(PodArray::Mapped { bytes: Arc::clone(bytes), range })
    }
}

impl<T: Pod> Deref for PodArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            PodArray::Owned(numbers) => numbers,
            PodArray::Mapped { bytes, range } => bytemuck::cast_slice(&(**bytes).as_ref()[range.clone()]),
        }
    }
}

impl<T> Default for PodArray<T> {
    fn default() -> PodArray<T> {
        PodArray::Owned(Vec::new())
    }
}

impl<T: Pod + PartialEq> PartialEq for PodArray<T> {
    fn eq(&self, other: &PodArray<T>) -> bool {
        **self == **other
    }
}

impl<T: Pod + Eq> Eq for PodArray<T> {}

impl<T> From<Vec<T>> for PodArray<T> {
    fn from(numbers: Vec<T>) -> PodArray<T> {
        PodArray::Owned(numbers)
    }
}

impl<T> FromIterator<T> for PodArray<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> PodArray<T> {
        let mut numbers: Vec<T> = numbers.into_iter().collect();
        numbers.shrink_to_fit();
        PodArray::Owned(numbers)
    }
}

impl<T> fmt::Debug for PodArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PodArray::Owned(_) => "own array",
            PodArray::Mapped { .. } => "array in place",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_bounds_or_misaligned_ranges_are_rejected() {
        let numbers: Vec<u32> = vec![1, 2, 3];
        let bytes: SharedBytes = Arc::new(Aligned(numbers));
        let array =
            |range: Range<usize>| PodArray::<u32>::in_place(&bytes, range).map(|array| array.to_vec());
        assert_eq!(array(4..12), Some(vec![2, 3]));
        assert_eq!(array(4..4), Some(vec![]));
        assert_eq!([array(4..16), array(4..10), array(2..6)], [None, None, None]);
    }

    struct Aligned(Vec<u32>);

    impl AsRef<[u8]> for Aligned {
        fn as_ref(&self) -> &[u8] {
            bytemuck::cast_slice(&self.0)
        }
    }
}
