//! BLEU-4 of two texts as NLTK computes it with smoothing method 4, bit for bit.

use std::cell::OnceCell;
use std::collections::HashMap;

use rustc_hash::FxHashMap;
use text::python;

/// Length of the longest n-grams.
const ORDERS: usize = 4;

/// Smoothing constant.
const K: f64 = 5.0;

/// Number of a word that no reference has.
const UNKNOWN: u32 = u32::MAX;

/// Factor by which an upper bound may fall short of the similarity it bounds, because logarithms are rounded: far more than they are.
const ROUNDING: f64 = 1.0 + 1e-9;

/// References, prepared for comparison with many hypotheses: their words are numbers.
#[derive(Debug, Default)]
pub struct References {
    numbers: HashMap<String, u32>,
    references: Vec<Reference>,
}

/// A reference as numbers of its words.
#[derive(Debug)]
struct Reference {
    words: Vec<u32>,
    /// Occurrences of each word.
    counts: Vec<(u32, u32)>,
}

/// The reference that a hypothesis is most similar to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestReference {
    /// Its place among the references; of equally similar ones the first.
    pub index: usize,
    /// The similarity, above 0 and up to 1.
    pub similarity: f64,
}

impl References {
    /// Prepares `texts`; words are separated by white space, and a blank text has one empty word.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> References {
        let mut references = References::default();
        for text in texts {
            let words: Vec<u32> = split_words(text).map(|word| references.number(word)).collect();
            let mut sorted = words.clone();
            sorted.sort_unstable();
            let counts = sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)).collect();
            references.references.push(Reference { words, counts });
        }
        references
    }

    /// Returns the number of a word, a new one if it has none.
    fn number(&mut self, word: &str) -> u32 {
        if let Some(&known) = self.numbers.get(word) {
            return known;
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(word.to_owned(), next);
        next
    }

    /// Returns the most similar reference; `None` if no reference has a word of `hypothesis`.
    ///
    /// Compares in full only with references whose common words allow the highest similarity.
    pub fn best(&self, hypothesis: &str) -> Option<BestReference> {
        let hypothesis = Hypothesis::new(self, hypothesis);
        let bounds = self.references.iter().map(|reference| hypothesis.upper_bound(reference));
        let mut bounds: Vec<(usize, f64)> = bounds.enumerate().filter(|(_, bound)| *bound > 0.0).collect();
        bounds.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut best: Option<BestReference> = None;
        for (index, bound) in bounds {
            if best.is_some_and(|best| bound < best.similarity) {
                break;
            }
            let similarity = hypothesis.similarity(&self.references[index]);
            let is_better = best.is_none_or(|best| {
                similarity > best.similarity || similarity == best.similarity && index < best.index
            });
            if similarity > 0.0 && is_better {
                best = Some(BestReference { index, similarity });
            }
        }
        best
    }

    /// Returns the similarity of `hypothesis` to each reference, from 0 to 1.
    pub fn similarities(&self, hypothesis: &str) -> Vec<f64> {
        let hypothesis = Hypothesis::new(self, hypothesis);
        self.references.iter().map(|reference| hypothesis.similarity(reference)).collect()
    }
}

/// A hypothesis, compared with several references.
struct Hypothesis {
    words: Vec<u32>,
    /// Occurrences of each word of the references.
    counts: Vec<u32>,
    /// Made when a comparison needs it.
    ngrams: OnceCell<Ngrams>,
}

impl Hypothesis {
    fn new(references: &References, text: &str) -> Hypothesis {
        let number = |word: &str| references.numbers.get(word).copied().unwrap_or(UNKNOWN);
        let words: Vec<u32> = split_words(text).map(number).collect();
        let mut counts = vec![0; references.numbers.len()];
        for &word in words.iter().filter(|&&word| word != UNKNOWN) {
            counts[word as usize] += 1;
        }
        Hypothesis { words, counts, ngrams: OnceCell::new() }
    }

    /// Returns the similarity to a reference, from 0 to 1.
    fn similarity(&self, reference: &Reference) -> f64 {
        let matches = if self.words == reference.words {
            std::array::from_fn(|order| self.words.len().saturating_sub(order) as u32)
        } else {
            self.ngrams.get_or_init(|| Ngrams::new(&self.words)).matches(&reference.words)
        };
        if matches[0] == 0 {
            return 0.0;
        }
        let logarithms = self.precisions(&matches).map(f64::ln).map(|logarithm| 0.25 * logarithm);
        self.brevity_penalty(reference) * exact_sum(logarithms).exp()
    }

    /// Returns a similarity that the one to `reference` does not exceed; 0 only if that is 0.
    ///
    /// Every common n-gram begins with a common word, so no order has more matches than there are common words. The numerator of an
    /// order without matches is at most that of the first such order.
    fn upper_bound(&self, reference: &Reference) -> f64 {
        let common = reference.counts.iter().map(|&(word, count)| count.min(self.counts[word as usize]));
        let matches: u32 = common.sum();
        if matches == 0 {
            return 0.0;
        }
        let numerator = f64::from(matches).max(self.smoothed_numerator(1));
        let precision = |order| numerator / self.total(order);
        let product: f64 = (0..ORDERS).map(precision).product();
        self.brevity_penalty(reference) * product.powf(0.25) * ROUNDING
    }

    /// Returns the precisions above 0. An order without matches has a smoothed one, which halves from one such order to the next;
    /// for a hypothesis of one word there is none, and the order is left out.
    fn precisions(&self, matches: &[u32; ORDERS]) -> impl Iterator<Item = f64> {
        let mut smoothed = 0;
        matches.iter().enumerate().filter_map(move |(order, &matched)| {
            let total = self.total(order);
            if matched > 0 {
                return Some(f64::from(matched) / total);
            }
            smoothed += 1;
            (self.words.len() > 1).then_some(self.smoothed_numerator(smoothed) / total)
        })
    }

    /// Returns the number of n-grams of an order, at least 1.
    fn total(&self, order: usize) -> f64 {
        self.words.len().saturating_sub(order).max(1) as f64
    }

    /// Returns the numerator of the order without matches that is the `number`th one.
    fn smoothed_numerator(&self, number: i32) -> f64 {
        1.0 / (2_f64.powi(number) * K / (self.words.len() as f64).ln())
    }

    fn brevity_penalty(&self, reference: &Reference) -> f64 {
        if self.words.len() > reference.words.len() {
            return 1.0;
        }
        (1.0 - reference.words.len() as f64 / self.words.len() as f64).exp()
    }
}

/// The n-grams of a hypothesis as a trie: a node is an n-gram, its parent the same without the last word. Comparing takes time in
/// proportion to the length of the reference.
struct Ngrams {
    nodes: FxHashMap<(u32, u32), u32>,
    /// Occurrences of each n-gram; the first is the root.
    counts: Vec<u32>,
}

impl Ngrams {
    fn new(words: &[u32]) -> Ngrams {
        let mut ngrams = Ngrams { nodes: FxHashMap::default(), counts: vec![0] };
        for start in 0..words.len() {
            ngrams.add(&words[start..(start + ORDERS).min(words.len())]);
        }
        ngrams
    }

    /// Counts the n-grams that begin with the first of `words`.
    fn add(&mut self, words: &[u32]) {
        let mut node = 0;
        for &word in words.iter().take_while(|&&word| word != UNKNOWN) {
            let next = self.counts.len() as u32;
            node = *self.nodes.entry((node, word)).or_insert(next);
            if node == next {
                self.counts.push(0);
            }
            self.counts[node as usize] += 1;
        }
    }

    /// Returns the number of common n-grams of each order, repeats included.
    fn matches(&self, reference: &[u32]) -> [u32; ORDERS] {
        let mut seen = vec![0; self.counts.len()];
        let mut matches = [0; ORDERS];
        for start in 0..reference.len() {
            let mut node = 0;
            for (order, &word) in reference[start..].iter().take(ORDERS).enumerate() {
                let Some(&next) = self.nodes.get(&(node, word)) else { break };
                node = next;
                if seen[node as usize] < self.counts[node as usize] {
                    seen[node as usize] += 1;
                    matches[order] += 1;
                }
            }
        }
        matches
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
        References::new([reference]).similarities(hypothesis)[0]
    }

    /// The best reference by comparing with each.
    fn best_of_all(references: &References, hypothesis: &str) -> Option<BestReference> {
        let mut best: Option<BestReference> = None;
        for (index, similarity) in references.similarities(hypothesis).into_iter().enumerate() {
            if similarity > best.map_or(0.0, |best| best.similarity) {
                best = Some(BestReference { index, similarity });
            }
        }
        best
    }

    #[test]
    fn best_reference_is_the_one_found_by_comparing_with_each() {
        let mut random = text::SplitMix64::new(7);
        let mut text = |longest: usize, words: usize| -> String {
            let length = random.below(longest);
            (0..length).map(|_| format!("w{} ", random.below(words))).collect()
        };
        for _ in 0..2_000 {
            let texts: Vec<String> = (0..6).map(|_| text(12, 5)).collect();
            let references = References::new(texts.iter().map(String::as_str));
            let hypothesis = text(12, 6);
            let expected = best_of_all(&references, &hypothesis);
            assert_eq!(references.best(&hypothesis), expected, "{hypothesis:?} in {texts:?}");
        }
    }

    #[test]
    fn first_of_equally_similar_references_is_the_best() {
        let references = References::new(["x y", "a b c d", "a b c d", "a  b c d"]);
        assert_eq!(references.best("a b c d"), Some(BestReference { index: 1, similarity: 1.0 }));
        assert_eq!(references.best("q"), None);
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
        let references = References::new(["a b a"]);
        let hypothesis = Hypothesis::new(&references, "a a a b");
        let ngrams = Ngrams::new(&hypothesis.words);
        assert_eq!(ngrams.matches(&references.references[0].words), [3, 1, 0, 0]);
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
