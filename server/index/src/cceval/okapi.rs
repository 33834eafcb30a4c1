//! Okapi BM25 as the original's library computes it: the same sums in the same order, so that equal scores stay equal.

/// Saturation of repeated words.
const K1: f64 = 1.5;

/// Influence of the chunk's length.
const B: f64 = 0.75;

/// Weight of words in most of the chunks, as a share of the mean weight: their own weight would be negative.
const EPSILON: f64 = 0.25;

/// BM25 statistics of a set of chunks.
pub(super) struct Okapi {
    /// By number of the word.
    weights: Vec<f64>,
    /// Mean number of words in a chunk, including repeats.
    mean_length: f64,
}

impl Okapi {
    /// `frequencies` has the number of chunks of every word, in order of first appearance, and `lengths` the number of words of
    /// every chunk.
    pub(super) fn new(frequencies: &[u32], lengths: &[u32]) -> Okapi {
        let chunks = lengths.len() as f64;
        let mean_length = lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / chunks;
        let weight = |&having: &u32| {
            let having = f64::from(having);
            (chunks - having + 0.5).ln() - (having + 0.5).ln()
        };
        let mut weights: Vec<f64> = frequencies.iter().map(weight).collect();
        let floor = EPSILON * (weights.iter().sum::<f64>() / weights.len() as f64);
        weights.iter_mut().filter(|weight| **weight < 0.0).for_each(|weight| *weight = floor);
        Okapi { weights, mean_length }
    }

    /// Returns the contribution of one occurrence of `word` in the query to the score of a chunk of `length` words that
    /// contains it `count` times.
    pub(super) fn gain(&self, word: u32, count: u32, length: u32) -> f64 {
        let (count, length) = (f64::from(count), f64::from(length));
        self.weights[word as usize]
            * (count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / self.mean_length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_weigh_more_and_frequent_words_get_a_floor() {
        let okapi = Okapi::new(&[1, 2, 4], &[5, 5, 5, 5]);
        let raw = [(3.5_f64).ln() - (1.5_f64).ln(), 0.0, (0.5_f64).ln() - (4.5_f64).ln()];
        assert_eq!(okapi.weights, [raw[0], raw[1], 0.25 * (raw.iter().sum::<f64>() / 3.0)]);
        assert_eq!(okapi.gain(0, 1, 5), raw[0], "a single word in a chunk of mean length counts once");
        assert!(okapi.gain(0, 2, 5) > okapi.gain(0, 1, 5));
        assert!(okapi.gain(0, 1, 9) < okapi.gain(0, 1, 5));
    }
}
