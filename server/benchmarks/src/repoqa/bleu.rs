//! BLEU-4 of two texts as NLTK computes it with smoothing method 4, bit for bit.

use std::collections::HashMap;

use rustc_hash::FxHashMap;
use text::python;

/// Length of the longest n-grams.
const ORDERS: usize = 4;

/// Smoothing constant.
const K: f64 = 5.0;

/// A hypothesis, prepared for comparison with many references.
///
/// Its n-grams are a trie: a node is an n-gram, its parent the same without the last word. Comparing takes time in proportion to
/// the length of the reference.
pub struct Bleu<'a> {
    words: HashMap<&'a str, u32>,
    nodes: FxHashMap<(u32, u32), u32>,
    /// Occurrences of each n-gram; the first is the root.
    counts: Vec<u32>,
    length: usize,
}

impl<'a> Bleu<'a> {
    /// Prepares `hypothesis`; words are separated by white space, and a blank text has one empty word.
    pub fn new(hypothesis: &'a str) -> Bleu<'a> {
        let mut words = HashMap::new();
        let numbers: Vec<u32> = split_words(hypothesis)
            .map(|word| {
                let next = words.len() as u32;
                *words.entry(word).or_insert(next)
            })
            .collect();
        let mut bleu = Bleu { words, nodes: FxHashMap::default(), counts: vec![0], length: numbers.len() };
        for start in 0..numbers.len() {
            bleu.add(&numbers[start..(start + ORDERS).min(numbers.len())]);
        }
        bleu
    }

    /// Counts the n-grams that begin with the first of `words`.
    fn add(&mut self, words: &[u32]) {
        let mut node = 0;
        for &word in words {
            let next = self.counts.len() as u32;
            node = *self.nodes.entry((node, word)).or_insert(next);
            if node == next {
                self.counts.push(0);
            }
            self.counts[node as usize] += 1;
        }
    }

    /// Returns the similarity to `reference`, from 0 to 1.
    pub fn similarity(&self, reference: &str) -> f64 {
        let (matches, reference_length) = self.matches(reference);
        if matches[0] == 0 {
            return 0.0;
        }
        let logarithms = self.precisions(&matches).map(f64::ln).map(|logarithm| 0.25 * logarithm);
        self.brevity_penalty(reference_length) * exact_sum(logarithms).exp()
    }

    /// Returns the number of common n-grams of each order, repeats included, and the number of the reference's words.
    fn matches(&self, reference: &str) -> ([u32; ORDERS], usize) {
        let words: Vec<Option<u32>> =
            split_words(reference).map(|word| self.words.get(word).copied()).collect();
        let mut seen = vec![0; self.counts.len()];
        let mut matches = [0; ORDERS];
        for start in 0..words.len() {
            let mut node = 0;
            for (order, word) in words[start..].iter().take(ORDERS).enumerate() {
                let Some(&next) = word.and_then(|word| self.nodes.get(&(node, word))) else { break };
                node = next;
                if seen[node as usize] < self.counts[node as usize] {
                    seen[node as usize] += 1;
                    matches[order] += 1;
                }
            }
        }
        (matches, words.len())
    }

    /// Returns the precisions above 0. An order without matches has a smoothed one, which halves from one such order to the next;
    /// for a hypothesis of one word there is none, and the order is left out.
    fn precisions(&self, matches: &[u32; ORDERS]) -> impl Iterator<Item = f64> {
        let mut smoothed = 0;
        matches.iter().enumerate().filter_map(move |(order, &matched)| {
            let total = self.length.saturating_sub(order).max(1) as f64;
            if matched > 0 {
                return Some(f64::from(matched) / total);
            }
            smoothed += 1;
            let numerator = 1.0 / (2_f64.powi(smoothed) * K / (self.length as f64).ln());
            (self.length > 1).then_some(numerator / total)
        })
    }

    fn brevity_penalty(&self, reference_length: usize) -> f64 {
        if self.length > reference_length {
            return 1.0;
        }
        (1.0 - reference_length as f64 / self.length as f64).exp()
    }
}

/// Splits at white space; a blank text has one empty word.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let stripped = python::strip(text);
    let keeps_empty = stripped.is_empty();
    stripped.split(python::is_space).filter(move |word| keeps_empty || !word.is_empty())
}

/// Returns the sum, rounded once (Python's `math.fsum`).
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    // Parts that do not overlap, smallest first; their sum is exact.
    let mut parts: Vec<f64> = Vec::new();
    for value in values {
        let mut rest = value;
        let mut kept = 0;
        for index in 0..parts.len() {
            let (sum, error) = sum_with_error(rest, parts[index]);
            if error != 0.0 {
                parts[kept] = error;
                kept += 1;
            }
            rest = sum;
        }
        parts.truncate(kept);
        parts.push(rest);
    }
    let Some(mut total) = parts.pop() else { return 0.0 };
    while let Some(part) = parts.pop() {
        let (sum, error) = sum_with_error(total, part);
        total = sum;
        if error != 0.0 {
            // A tie is decided by the parts below it.
            let is_same_side = parts.last().is_some_and(|below| below.signum() == error.signum());
            let doubled = error * 2.0;
            if is_same_side && total + doubled - total == doubled {
                total += doubled;
            }
            break;
        }
    }
    total
}

/// Returns the rounded sum and what the rounding lost.
fn sum_with_error(a: f64, b: f64) -> (f64, f64) {
    let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let sum = large + small;
    (sum, small - (sum - large))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(hypothesis: &str, reference: &str) -> f64 {
        Bleu::new(hypothesis).similarity(reference)
    }

    #[test]
    fn equal_texts_are_one_and_texts_without_common_words_zero() {
        assert_eq!(similarity("a b c d e", " a  b\nc d e"), 1.0);
        assert_eq!(similarity("a b", "c d"), 0.0);
        assert_eq!(similarity("", " "), 1.0, "two empty words");
        assert_eq!(similarity("", "a"), 0.0);
    }

    #[test]
    fn repeated_words_match_as_often_as_in_the_reference() {
        let (matches, _) = Bleu::new("a a a b").matches("a b a");
        assert_eq!(matches, [3, 1, 0, 0]);
    }

    #[test]
    fn short_hypotheses_are_penalized() {
        assert!(similarity("a b c d", "a b c d e") < 1.0);
        assert_eq!(similarity("a", "a b"), (-1.0_f64).exp());
    }

    #[test]
    fn sum_is_rounded_once() {
        assert_eq!(exact_sum([1e16, 1.0, -1e16].into_iter()), 1.0);
        assert_eq!(exact_sum([0.1; 10].into_iter()), 1.0);
        assert_eq!(exact_sum([1e16, 1.0, 1e-16].into_iter()), 10_000_000_000_000_002.0);
        assert_eq!(exact_sum([].into_iter()), 0.0);
    }
}
