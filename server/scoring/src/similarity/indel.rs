//! Insert-and-delete similarity, in the order of operations of python-Levenshtein.

use rapidfuzz::distance::indel;

/// Returns `1 - d / m` for distance `d` and length `m`: that of both texts in characters, or more if ends were cut off, which
/// count as deleted. The last bits of `(m - d) / m` and `2 * lcs / m` sometimes differ, and the last bit can decide how a
/// percentage is rounded.
pub(super) fn ratio(a: &str, b: &str, length: usize) -> f64 {
    let cut_off = length - a.chars().count() - b.chars().count();
    let distance = indel::distance(a.chars(), b.chars()) + cut_off;
    1.0 - distance as f64 / length as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Length of the longest common subsequence by the textbook algorithm.
    fn lcs(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] =
                    if x == y { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn ratio_equals_textbook_lcs(a in "[ab\né😀]{1,80}", b in "[abc\n😀]{1,80}") {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let length = x.len() + y.len();
            let distance = length - 2 * lcs(&x, &y);
            prop_assert_eq!(ratio(&a, &b, length), 1.0 - distance as f64 / length as f64);
        }
    }
}
