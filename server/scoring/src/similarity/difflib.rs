//! Ratcliff-Obershelp similarity exactly as Python's `difflib.SequenceMatcher` computes it.
//!
//! Published numbers depend on its quirks: frequent characters of a long second text start no match, and the first of equally
//! long matches wins.

use std::collections::HashMap;
use std::ops::Range;

/// If the second text has at least this length, its frequent characters start no match.
const AUTOJUNK_LENGTH: usize = 200;

/// Returns `2 * matches / length`; `length` is that of both texts in characters, or more if their ends were cut off.
pub(super) fn ratio(a: &str, b: &str, length: usize) -> f64 {
    let b: Vec<char> = b.chars().collect();
    let places = CharPositions::new(&b);
    let a: Vec<char> = a.chars().collect();
    let seeds: Vec<&[usize]> = a.iter().map(|c| places.positions(*c)).collect();
    2.0 * matches(&a, &b, &seeds) as f64 / length as f64
}

/// Positions of each character of the second text, in increasing order, without frequent characters.
struct CharPositions {
    /// Place in `positions` of the first position of each ASCII character, and of the next character's.
    starts: [usize; ASCII + 1],
    positions: Vec<usize>,
    others: HashMap<char, Vec<usize>>,
    /// A character with more positions is frequent.
    most: usize,
}

/// Number of ASCII characters. Almost all code is ASCII, and a table takes a fraction of a hash map's time.
const ASCII: usize = 128;

impl CharPositions {
    fn new(b: &[char]) -> CharPositions {
        let most = if b.len() >= AUTOJUNK_LENGTH { b.len() / 100 + 1 } else { usize::MAX };
        let mut starts = [0; ASCII + 1];
        let mut others: HashMap<char, Vec<usize>> = HashMap::new();
        for (j, &c) in b.iter().enumerate() {
            match ascii(c) {
                Some(code) => starts[code + 1] += 1,
                None => others.entry(c).or_default().push(j),
            }
        }
        for code in 0..ASCII {
            starts[code + 1] += starts[code];
        }
        let mut next = starts;
        let mut positions = vec![0; starts[ASCII]];
        for (j, &c) in b.iter().enumerate() {
            if let Some(code) = ascii(c) {
                positions[next[code]] = j;
                next[code] += 1;
            }
        }
        CharPositions { starts, positions, others, most }
    }

    fn positions(&self, c: char) -> &[usize] {
        let all = match ascii(c) {
            Some(code) => &self.positions[self.starts[code]..self.starts[code + 1]],
            None => self.others.get(&c).map_or(&[][..], Vec::as_slice),
        };
        if all.len() <= self.most { all } else { &[] }
    }
}

fn ascii(c: char) -> Option<usize> {
    c.is_ascii().then_some(c as usize)
}

/// A common run of characters.
#[derive(Clone, Copy)]
struct MatchingBlock {
    a: usize,
    b: usize,
    size: usize,
}

/// Returns the sum of the sizes of the matching blocks: the longest one, then recursively those to its left and to its right.
/// `seeds[i]` are the positions in `b` where a match with `a[i]` may start.
fn matches(a: &[char], b: &[char], seeds: &[&[usize]]) -> usize {
    let mut runs = RunLengths::new(b.len());
    let mut matched = 0;
    let mut pending = vec![(0..a.len(), 0..b.len())];
    while let Some((in_a, in_b)) = pending.pop() {
        let seed = longest_run(seeds, in_a.clone(), in_b.clone(), &mut runs);
        let block = extend(a, b, &in_a, &in_b, seed);
        if block.size == 0 {
            continue;
        }
        matched += block.size;
        pending.push((in_a.start..block.a, in_b.start..block.b));
        pending.push((block.a + block.size..in_a.end, block.b + block.size..in_b.end));
    }
    matched
}

/// Lengths of the runs that end at each position of `b`, for the character of `a` before the current one and for the current one,
/// with the positions to be reset.
struct RunLengths {
    previous: Vec<usize>,
    current: Vec<usize>,
}

impl RunLengths {
    fn new(length: usize) -> RunLengths {
        RunLengths { previous: vec![0; length], current: vec![0; length] }
    }
}

/// Returns the first longest run of seeds inside the two ranges; its size is 0, at their starts, if there is none.
fn longest_run(
    seeds: &[&[usize]],
    in_a: Range<usize>,
    in_b: Range<usize>,
    runs: &mut RunLengths,
) -> MatchingBlock {
    let mut best = MatchingBlock { a: in_a.start, b: in_b.start, size: 0 };
    let mut previous: &[usize] = &[];
    for i in in_a {
        let places = within(seeds[i], &in_b);
        for &j in places {
            let before = if j > in_b.start { runs.previous[j - 1] } else { 0 };
            let size = before + 1;
            runs.current[j] = size;
            if size > best.size {
                best = MatchingBlock { a: i + 1 - size, b: j + 1 - size, size };
            }
        }
        clear(&mut runs.previous, previous);
        std::mem::swap(&mut runs.previous, &mut runs.current);
        previous = places;
    }
    clear(&mut runs.previous, previous);
    best
}

fn within<'a>(places: &'a [usize], range: &Range<usize>) -> &'a [usize] {
    let start = places.partition_point(|&j| j < range.start);
    let end = places.partition_point(|&j| j < range.end);
    &places[start..end]
}

fn clear(runs: &mut [usize], places: &[usize]) {
    for &j in places {
        runs[j] = 0;
    }
}

/// Extends a block over equal characters on both sides, frequent ones included; an empty one can grow to the right.
fn extend(
    a: &[char],
    b: &[char],
    in_a: &Range<usize>,
    in_b: &Range<usize>,
    seed: MatchingBlock,
) -> MatchingBlock {
    let before = a[in_a.start..seed.a].iter().rev().zip(b[in_b.start..seed.b].iter().rev());
    let left = before.take_while(|(x, y)| x == y).count();
    let after = a[seed.a + seed.size..in_a.end].iter().zip(&b[seed.b + seed.size..in_b.end]);
    let right = after.take_while(|(x, y)| x == y).count();
    MatchingBlock { a: seed.a - left, b: seed.b - left, size: left + seed.size + right }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratio(a: &str, b: &str) -> f64 {
        super::ratio(a, b, a.chars().count() + b.chars().count())
    }

    /// Counts matched characters by trying every pair of starts, for texts too short to have frequent characters.
    fn matches_by_trying(a: &[char], b: &[char]) -> usize {
        let mut best = MatchingBlock { a: 0, b: 0, size: 0 };
        for i in 0..a.len() {
            for j in 0..b.len() {
                let size = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
                if size > best.size {
                    best = MatchingBlock { a: i, b: j, size };
                }
            }
        }
        if best.size == 0 {
            return 0;
        }
        let left = matches_by_trying(&a[..best.a], &b[..best.b]);
        let right = matches_by_trying(&a[best.a + best.size..], &b[best.b + best.size..]);
        left + best.size + right
    }

    proptest! {
        #[test]
        fn ratio_equals_brute_force(a in "[abc\n😀]{1,40}", b in "[abcd\n]{1,40}") {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let expected = 2.0 * matches_by_trying(&x, &y) as f64 / (x.len() + y.len()) as f64;
            prop_assert_eq!(ratio(&a, &b), expected);
        }
    }

    #[test]
    fn frequent_characters_do_not_seed_matches_in_long_texts() {
        let long = "ab".repeat(100);
        assert_eq!(ratio("b", &long), 0.0);
        assert_eq!(ratio("b", &long[1..]), 2.0 / 200.0, "at 199 characters nothing is frequent");
        // No seed, but the block at the start of both texts still grows to the right.
        assert_eq!(ratio("abx", &long), 2.0 * 2.0 / 203.0);
    }

    #[test]
    fn matching_blocks_extend_over_frequent_characters() {
        let long = format!("{}x{}", "a".repeat(150), "a".repeat(60));
        assert_eq!(ratio("aaaxaa", &long), 2.0 * 6.0 / 217.0);
        assert_eq!(ratio("x", &long), 2.0 / 212.0);
    }
}
