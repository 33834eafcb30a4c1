//! The share of the truth before the first wrong character: the part that can be accepted without a correction.

use crate::Counts;

/// Counts the characters of `truth` that `answer` starts with, of all; `None` for an empty truth.
pub(super) fn counts(answer: &str, truth: &str) -> Option<Counts> {
    let length = truth.chars().count();
    let correct = answer.chars().zip(truth.chars()).take_while(|(a, b)| a == b).count();
    (length > 0).then_some(Counts { num: correct as f64, den: length as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, truth: &str, expected: Option<(f64, f64)>) {
        assert_eq!(counts(answer, truth), expected.map(|(num, den)| Counts { num, den }));
    }

    #[test]
    fn prefix_length_counts_unicode_scalar_values() {
        check("", "", None);
        check("a", "", None);
        check("", "ab", Some((0.0, 2.0)));
        check("abc", "ab", Some((2.0, 2.0)));
        check("a😀c", "a😀b", Some((2.0, 3.0)));
        check("e", "e\u{301}", Some((1.0, 2.0)));
        check("a\nb", "a\r\nb", Some((1.0, 4.0)));
    }
}
