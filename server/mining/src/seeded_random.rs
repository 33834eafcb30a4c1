//! A seeded random generator whose results are the same in all versions.

use text::SplitMix64;

/// A generator that can also shuffle.
#[derive(Clone)]
pub(crate) struct SeededRandom(SplitMix64);

impl SeededRandom {
    /// Creates an independent generator for each `stream`, so that choices in one file do not affect another.
    pub(crate) fn new(seed: u64, stream: &str) -> SeededRandom {
        SeededRandom(SplitMix64::new(
            stream.bytes().fold(seed, |seed, byte| SplitMix64::new(seed).number() ^ u64::from(byte)),
        ))
    }

    /// Returns a number below `limit`, which is at least 1.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    /// Shuffles by Fisher and Yates.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
