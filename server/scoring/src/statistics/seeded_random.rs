//! Seeded random numbers for resampling: the same seed gives the same interval on every machine.

use text::SplitMix64;

/// A generator of random positions.
pub(super) struct SeededRandom(SplitMix64);

impl SeededRandom {
    pub(super) fn new(seed: u64) -> SeededRandom {
        SeededRandom(SplitMix64::new(seed))
    }

    /// Returns a number below `end`, which must not be 0. The bias is below `end / 2^64`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.0.number()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_uniform() {
        let mut rng = SeededRandom::new(7);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6)] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
