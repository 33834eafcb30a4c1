//! Detects near-duplicate functions by their lines.

use rustc_hash::FxHashSet;

/// Minimum share of common lines of a near-duplicate, which may have some changed lines. Functions that only follow the same
/// pattern share less.
const NEAR_COPY_SHARE: f64 = 0.7;
/// About as many as code has on average.
const BYTES_PER_LINE: usize = 32;

/// The distinct lines of a piece of code, without indentation and without lines that contain no letter or digit.
pub(crate) struct LineSet<'a>(FxHashSet<&'a str>);

impl<'a> LineSet<'a> {
    pub(crate) fn new(text: &'a str) -> LineSet<'a> {
        LineSet::of_lines(text.lines())
    }

    pub(crate) fn of_lines(lines: impl Iterator<Item = &'a str>) -> LineSet<'a> {
        LineSet(significant(lines).collect())
    }

    /// Returns the set of the lines in `texts`.
    pub(crate) fn of_texts(texts: [&'a str; 2]) -> LineSet<'a> {
        let mut lines = FxHashSet::default();
        // Growing step by step, the table would be copied about twice.
        lines.reserve(texts.iter().map(|text| text.len()).sum::<usize>() / BYTES_PER_LINE);
        lines.extend(significant(texts.into_iter().flat_map(str::lines)));
        LineSet(lines)
    }

    /// Whether most of it is contained in another one.
    pub(crate) fn is_mostly_in(&self, other: &LineSet<'_>) -> bool {
        self.is_in(other, NEAR_COPY_SHARE)
    }

    /// Whether at least this share of it, and not nothing, is contained in another one.
    pub(crate) fn is_in(&self, other: &LineSet<'_>, share: f64) -> bool {
        let common = self.0.iter().filter(|line| other.0.contains(*line)).count();
        common > 0 && common as f64 >= share * self.0.len() as f64
    }

    /// Whether at least this share of the distinct ones among at most `count` lines, and not nothing, is in the set. Reads no more of them
    /// than it takes to know that.
    pub(crate) fn has_share_of<'b>(
        &self,
        lines: impl Iterator<Item = &'b str>,
        count: usize,
        share: f64,
    ) -> bool {
        let is_enough = |common: usize, missing: usize| common as f64 >= share * (common + missing) as f64;
        let (mut common, mut missing) = (FxHashSet::default(), FxHashSet::default());
        for (read, line) in (1..).zip(significant(lines)) {
            let found = if self.0.contains(line) { &mut common } else { &mut missing };
            found.insert(line);
            if !is_enough(common.len() + count.saturating_sub(read), missing.len()) {
                return false;
            }
        }
        !common.is_empty() && is_enough(common.len(), missing.len())
    }

    /// Whether most of the shorter one is contained in the longer one. So a function counts as a near-duplicate of its
    /// enclosing function.
    pub(crate) fn is_near_copy(&self, other: &LineSet<'_>) -> bool {
        let (shorter, longer) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        shorter.is_mostly_in(longer)
    }
}

fn significant<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    lines.map(str::trim).filter(|line| line.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::LineSet;

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        assert_eq!(LineSet::new(one).is_near_copy(&LineSet::new(other)), expected);
        assert_eq!(LineSet::new(other).is_near_copy(&LineSet::new(one)), expected);
    }

    #[test]
    fn indented_and_slightly_edited_text_is_a_near_copy() {
        check("a1\n  b2\nc3\n", "a1\nb2\nc3\n}", true);
        check("a1\nb2\nc3\nd4", "a1\nb2\nc3\nx4", true);
        check("a1\nb2", "begin\na1\nb2\nend\nmore", true);
    }

    #[test]
    fn a_share_is_counted_in_distinct_lines() {
        let known = LineSet::new("a1\nb2\nc3\nd4");
        for text in [
            "a1\nb2\nx1\nc3",
            "x1\na1\nx1\nx1\nb2\nc3",
            "x1\nx2\na1\nb2\nc3",
            "x1\nx2\nx3",
            "a1\n\n}\na1",
            "",
        ] {
            for share in [0.5, 0.7, 0.75, 0.9] {
                let all = LineSet::new(text).is_in(&known, share);
                let lines = text.lines();
                assert_eq!(known.has_share_of(lines.clone(), lines.count(), share), all, "{text:?} {share}");
            }
        }
    }

    #[test]
    fn common_signature_is_not_a_near_copy() {
        check("def close(self):\n    self.a()", "def close(self):\n    self.b()", false);
        check("{\n}\n", "{\n}\n", false);
        check("", "", false);
    }
}
