//! Similarity of two texts, in the two variants that are called "edit similarity".
//!
//! CrossCodeEval and related benchmarks call fuzzywuzzy's `ratio`, which computes one of two measures depending on whether
//! python-Levenshtein is installed. Both are implemented; every figure names its variant.

mod difflib;
mod indel;

/// Limit of the compared characters of either text; the rest of a longer one counts as wrong. Both variants take time that grows
/// with the product of the lengths. A truth has at most 60 lines, and no published number depends on longer texts.
const MAX_CHARACTERS: usize = 20_000;

/// Variant of edit similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// Ratcliff-Obershelp as in Python's difflib: the result of `pip install fuzzywuzzy` alone. Not symmetric.
    Difflib,
    /// 1 - insertions and deletions / length of both: fuzzywuzzy's result with python-Levenshtein installed.
    Indel,
}

impl Similarity {
    /// Both variants.
    pub const ALL: [Similarity; 2] = [Similarity::Difflib, Similarity::Indel];

    /// Returns the similarity of `a` and `b`, from 0 to 1. It is 1 for two empty texts, and 0 if only one is empty.
    pub fn ratio(self, a: &str, b: &str) -> f64 {
        if a == b {
            return 1.0;
        }
        if a.is_empty() || b.is_empty() {
            return 0.0;
        }
        let (length_a, length_b) = (a.chars().count(), b.chars().count());
        let (a, b) = (compared_part(a), compared_part(b));
        match self {
            Similarity::Difflib => difflib::ratio(a, b, length_a + length_b),
            Similarity::Indel => indel::ratio(a, b, length_a + length_b),
        }
    }

    /// Returns fuzzywuzzy's `ratio`: the same in percent, rounded half to even.
    pub fn percent(self, a: &str, b: &str) -> f64 {
        (100.0 * self.ratio(a, b)).round_ties_even()
    }
}

/// Returns the compared beginning of the text.
fn compared_part(text: &str) -> &str {
    text.char_indices().nth(MAX_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_beyond_the_limit_count_as_different() {
        let common = "é".repeat(MAX_CHARACTERS);
        let (a, b) = (format!("{common}ab"), format!("{common}a"));
        let expected = 2.0 * MAX_CHARACTERS as f64 / (2 * MAX_CHARACTERS + 3) as f64;
        for variant in Similarity::ALL {
            assert!((variant.ratio(&a, &b) - expected).abs() < 1e-12, "{variant:?}");
        }
    }

    #[track_caller]
    fn check(a: &str, b: &str, difflib: f64, indel: f64) {
        assert_eq!(Similarity::Difflib.percent(a, b), difflib, "difflib of {a:?} and {b:?}");
        assert_eq!(Similarity::Indel.percent(a, b), indel, "indel of {a:?} and {b:?}");
    }

    #[test]
    fn empty_different_and_equal_texts() {
        check("", "", 100.0, 100.0);
        check("", "a", 0.0, 0.0);
        check("a", "", 0.0, 0.0);
        check("a", "b", 0.0, 0.0);
        check("same", "same", 100.0, 100.0);
    }

    #[test]
    fn percent_rounds_ties_to_even() {
        // 2 * 1 / 16 = 12.5 %; 2 * 3 / 16 = 37.5 %.
        check("a", "abcdefghijklmno", 12.0, 12.0);
        check("abc", "abcdefghijklm", 38.0, 38.0);
    }

    #[test]
    fn lengths_count_unicode_scalar_values() {
        check("😀a", "😀b", 50.0, 50.0);
        check("e\u{301}", "e", 67.0, 67.0);
        check("a\r\n", "a\n", 80.0, 80.0);
    }

    #[test]
    fn difflib_matches_blocks_and_indel_matches_subsequences() {
        check("tide", "diet", 25.0, 50.0);
        check("diet", "tide", 50.0, 50.0);
    }
}
