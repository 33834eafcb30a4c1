//! The paired permutation test by file: engines that are equal could have swapped their answers to all cases of any file.
//!
//! Swapping them in a file flips the sign of its difference. The test counts the flips whose sum is at least as far from 0 as the
//! observed one. Files in which the engines are equal do not matter. It needs no assumption about the correlation of cases of one
//! file, and few files only limit how small its result can be.

use text::SplitMix64;

/// Most files of which all flips are counted: the two halves have 4,096 sums each.
const MOST_ENUMERATED: usize = 24;
/// Files whose sums of all flips are computed once, so that a resample adds one number for all of them.
const BLOCK: usize = 8;
/// Sums that differ by this share of the largest one are equal: the order of additions may change the last digits.
const PRECISION: f64 = 1e-9;

/// Result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SignFlip {
    /// Chance of sums at least as far from 0 between equal engines.
    pub(crate) p: f64,
    /// Number of random flips; `None` if all were counted.
    pub(crate) resamples: Option<usize>,
}

/// Tests the differences by file. With many files, `resamples` random flips decide, which `seed` determines; the observed one
/// counts as another, so that the result is never 0 and never claims too often.
pub(crate) fn sign_flip(differences: &[f64], resamples: usize, seed: u64) -> SignFlip {
    let sizes: Vec<f64> =
        differences.iter().map(|difference| difference.abs()).filter(|&size| size > 0.0).collect();
    let observed = differences.iter().sum::<f64>().abs();
    let limit = observed - PRECISION * sizes.iter().sum::<f64>();
    if sizes.len() <= MOST_ENUMERATED {
        return SignFlip { p: enumerated(&sizes, limit), resamples: None };
    }
    let hits = random_hits(&sizes, limit, resamples, seed);
    SignFlip { p: (hits + 1) as f64 / (resamples + 1) as f64, resamples: Some(resamples) }
}

/// Returns the number of informative files from which on the test can give `p` at all.
pub(crate) fn files_needed(p: f64) -> usize {
    (1.0 - p.log2()).ceil().max(1.0) as usize
}

/// Returns the share of all flips whose sum is `limit` or farther from 0: pairs of a sum of either half.
fn enumerated(sizes: &[f64], limit: f64) -> f64 {
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let (left, mut right) = (all_sums(left), all_sums(right));
    right.sort_unstable_by(f64::total_cmp);
    let far = |sum: &f64| {
        let above = right.len() - right.partition_point(|other| sum + other < limit);
        let below = right.partition_point(|other| sum + other <= -limit);
        // Without a limit above 0, both count the sums around 0.
        (above + below).min(right.len())
    };
    left.iter().map(far).sum::<usize>() as f64 / (left.len() * right.len()) as f64
}

/// Returns the sums of all flips; bit `i` of an index flips size `i`.
fn all_sums(sizes: &[f64]) -> Vec<f64> {
    let mut sums = vec![sizes.iter().sum::<f64>()];
    for size in sizes {
        sums.extend_from_within(..);
        let half = sums.len() / 2;
        sums[half..].iter_mut().for_each(|sum| *sum -= 2.0 * size);
    }
    sums
}

/// Counts the random flips whose sum is `limit` or farther from 0.
fn random_hits(sizes: &[f64], limit: f64, resamples: usize, seed: u64) -> usize {
    let mut rng = SplitMix64::new(seed);
    let mut sums = vec![0.0; resamples];
    for block in sizes.chunks(BLOCK) {
        let of_block = all_sums(block);
        let mask = of_block.len() - 1;
        for sums in sums.chunks_mut(size_of::<u64>()) {
            let flips = rng.number().to_le_bytes();
            for (sum, flips) in sums.iter_mut().zip(flips) {
                *sum += of_block[usize::from(flips) & mask];
            }
        }
    }
    sums.into_iter().filter(|sum| sum.abs() >= limit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(differences: &[f64]) -> f64 {
        sign_flip(differences, 0, 1).p
    }

    #[test]
    fn all_flips_of_few_files_are_counted() {
        assert_eq!(exact(&[1.0, 2.0, 3.0]), 2.0 / 8.0);
        assert_eq!(exact(&[1.0, 2.0, -3.0]), 1.0);
        assert_eq!(exact(&[1.0, 2.0, 3.0, -1.0]), 6.0 / 16.0);
        assert_eq!(exact(&[]), 1.0);
        assert_eq!(exact(&[0.0, 0.0, -2.0, 0.0]), 1.0);
    }

    #[test]
    fn random_flips_agree_with_all_flips() {
        let few: Vec<f64> = (0..24).map(|file| (file % 5) as f64 - 1.6).collect();
        let hits =
            random_hits(&few.iter().map(|size| size.abs()).collect::<Vec<_>>(), 9.6 - 1e-9, 100_000, 3);
        let share = hits as f64 / 1e5;
        let all = enumerated(&few.iter().map(|size| size.abs()).collect::<Vec<_>>(), 9.6 - 1e-9);
        assert!((share - all).abs() < 5.0 * (all / 1e5).sqrt(), "{share} instead of {all}");
    }

    #[test]
    fn the_seed_decides_and_files_without_difference_do_not() {
        let many: Vec<f64> = (0..60).map(|file| f64::from(file % 7) - 2.5).collect();
        let result = sign_flip(&many, 999, 5);
        assert_eq!(result.resamples, Some(999));
        assert_eq!(result, sign_flip(&many, 999, 5));
        let padded: Vec<f64> = many.iter().flat_map(|&difference| [0.0, difference]).collect();
        assert_eq!(result, sign_flip(&padded, 999, 5));
    }

    #[test]
    fn fewest_files_for_a_result() {
        assert_eq!(files_needed(0.05), 6);
        assert_eq!(files_needed(0.05 / 21.0), 10);
        assert!(exact(&[1.0; 5]) > 0.05 && exact(&[1.0; 6]) < 0.05);
    }
}
