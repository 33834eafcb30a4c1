//! How alike two texts are, in the two variants that go by the name "edit similarity".
//!
//! CrossCodeEval and its kin call fuzzywuzzy's `ratio`, which computes one of two different things depending on whether
//! python-Levenshtein is installed. Both are here; nothing ever says "edit similarity" without saying which.

mod difflib;
mod indel;

/// Characters of either text that are compared; the rest of a longer one counts as wrong. Both variants take time that grows
/// with the product of the lengths. A truth has 60 lines at most, and no published number rests on longer texts.
const MAX_CHARACTERS: usize = 20_000;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// Ratcliff-Obershelp as in Python's difflib: what `pip install fuzzywuzzy` alone gives. Not symmetric.
    Difflib,
    /// 1 - insertions and deletions / length of both: what fuzzywuzzy gives with python-Levenshtein installed.
    Indel,
}

impl Similarity {
    /// Both variants.
    pub const ALL: [Similarity; 2] = [Similarity::Difflib, Similarity::Indel];

    /// How alike `a` and `b` are, from 0 to 1; two empty texts are alike, an empty and another one are not.
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

    /// fuzzywuzzy's `ratio`: the same in percent, rounded half to even.
    pub fn percent(self, a: &str, b: &str) -> f64 {
        (100.0 * self.ratio(a, b)).round_ties_even()
    }
}

/// The beginning of the text, as far as it is compared.
fn compared_part(text: &str) -> &str {
    text.char_indices().nth(MAX_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_compared_is_wrong() {
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
    fn extremes() {
        check("", "", 100.0, 100.0);
        check("", "a", 0.0, 0.0);
        check("a", "", 0.0, 0.0);
        check("a", "b", 0.0, 0.0);
        check("same", "same", 100.0, 100.0);
    }

    #[test]
    fn ties_round_to_even() {
        // 2 * 1 / 16 = 12.5 %; 2 * 3 / 16 = 37.5 %.
        check("a", "abcdefghijklmno", 12.0, 12.0);
        check("abc", "abcdefghijklm", 38.0, 38.0);
    }

    #[test]
    fn lengths_count_scalar_values() {
        check("😀a", "😀b", 50.0, 50.0);
        check("e\u{301}", "e", 67.0, 67.0);
        check("a\r\n", "a\n", 80.0, 80.0);
    }

    #[test]
    fn difflib_finds_blocks_where_indel_finds_a_subsequence() {
        check("tide", "diet", 25.0, 50.0);
        check("diet", "tide", 50.0, 50.0);
    }
}
