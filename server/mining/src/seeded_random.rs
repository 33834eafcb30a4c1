//! A seeded source of choices whose results never change between versions of anything.

use text::SplitMix64;

/// A generator with choices of lists.
pub(crate) struct SeededRandom(SplitMix64);

impl SeededRandom {
    /// A source of its own for each `stream`, so that a choice in one file never moves a choice in another.
    pub(crate) fn new(seed: u64, stream: &str) -> SeededRandom {
        let mixed = |seed, byte| SplitMix64::new(seed).number() ^ u64::from(byte);
        SeededRandom(SplitMix64::new(stream.bytes().fold(seed, mixed)))
    }

    /// A number below `limit`, which is at least 1.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    /// Fisher and Yates.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
