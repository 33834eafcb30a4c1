//! Inverted index of the candidates' words: the chunks with each word, and its contribution to their scores.

use rustc_hash::{FxHashMap, FxHashSet};

use super::chunks::FileChunks;
use super::okapi::Okapi;
use super::tokenizer;

/// An inverted index over the chunks of one cursor.
pub(super) struct InvertedIndex {
    /// Number of each word, in order of first appearance.
    numbers: FxHashMap<Box<str>, u32>,
    /// Start of each word's postings; with one additional entry at the end.
    starts: Vec<u32>,
    postings: Vec<ChunkPosting>,
    /// Number of distinct words of each chunk.
    distinct: Vec<u32>,
}

/// A chunk that contains a word.
#[derive(Clone, Copy, Default)]
struct ChunkPosting {
    chunk: u32,
    /// Contribution of each occurrence of the word in a query to the chunk's score.
    gain: f64,
}

/// The words of some chunks before the inversion.
#[derive(Default)]
struct ForwardIndex {
    numbers: FxHashMap<Box<str>, u32>,
    /// Number of chunks with each word.
    frequencies: Vec<u32>,
    /// Number of words in each chunk, including repeats.
    lengths: Vec<u32>,
    distinct: Vec<u32>,
    /// Per chunk: the word's number, the chunk's number, and the word's count.
    counts: Vec<(u32, u32, u32)>,
}

impl InvertedIndex {
    /// Takes the given number of chunks of each file.
    pub(super) fn new<'a>(files: impl Iterator<Item = (&'a FileChunks, usize)>) -> InvertedIndex {
        let mut forward = ForwardIndex::default();
        files.for_each(|(file, chunks)| forward.add(file, chunks));
        forward.invert()
    }

    /// Returns the BM25 score of every chunk.
    pub(super) fn bm25(&self, query: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.distinct.len()];
        for word in tokenizer::tokenize(query) {
            for posting in self.postings(word) {
                scores[posting.chunk as usize] += posting.gain;
            }
        }
        scores
    }

    /// Returns the Jaccard score of every chunk: the share of distinct words in common with `query`.
    pub(super) fn jaccard(&self, query: &str) -> Vec<f64> {
        let words: FxHashSet<&str> = tokenizer::tokenize(query).into_iter().collect();
        let mut common = vec![0; self.distinct.len()];
        for word in &words {
            self.postings(word).iter().for_each(|posting| common[posting.chunk as usize] += 1);
        }
        common
            .iter()
            .zip(&self.distinct)
            .map(|(&common, &distinct)| {
                f64::from(common) / (words.len() as f64 + f64::from(distinct) - f64::from(common))
            })
            .collect()
    }

    /// Returns the words of `query` in `chunk`, ordered by their contribution to its score.
    pub(super) fn shared<'q>(&self, query: &'q str, chunk: u32) -> Vec<&'q str> {
        let mut gains = FxHashMap::<&str, f64>::default();
        for word in tokenizer::tokenize(query) {
            let postings = self.postings(word);
            if let Ok(found) = postings.binary_search_by_key(&chunk, |posting| posting.chunk) {
                *gains.entry(word).or_default() += postings[found].gain;
            }
        }
        let mut gains: Vec<(&str, f64)> = gains.into_iter().collect();
        gains.sort_by(|(one, gain), (other, more)| more.total_cmp(gain).then(one.cmp(other)));
        gains.into_iter().map(|(word, _)| word).collect()
    }

    /// Returns the chunks with `word`, in order.
    fn postings(&self, word: &str) -> &[ChunkPosting] {
        let Some(&number) = self.numbers.get(word) else { return &[] };
        let (start, end) = (self.starts[number as usize], self.starts[number as usize + 1]);
        &self.postings[start as usize..end as usize]
    }
}

impl ForwardIndex {
    fn add(&mut self, file: &FileChunks, chunks: usize) {
        let mut numbers = vec![None; file.vocabulary()];
        for chunk in 0..chunks {
            let counts = file.counts(chunk);
            for count in counts {
                let number =
                    *numbers[count.word as usize].get_or_insert_with(|| self.number(file.word(count.word)));
                self.frequencies[number as usize] += 1;
                self.counts.push((number, self.lengths.len() as u32, count.count));
            }
            self.lengths.push(file.tokens(chunk));
            self.distinct.push(counts.len() as u32);
        }
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(word.into(), number);
        self.frequencies.push(0);
        number
    }

    fn invert(self) -> InvertedIndex {
        let okapi = Okapi::new(&self.frequencies, &self.lengths);
        let mut starts = vec![0];
        starts.extend(self.frequencies.iter().scan(0, |sum, frequency| {
            *sum += frequency;
            Some(*sum)
        }));
        let mut next = starts.clone();
        let mut postings = vec![ChunkPosting::default(); self.counts.len()];
        for (word, chunk, count) in self.counts {
            let gain = okapi.gain(word, count, self.lengths[chunk as usize]);
            postings[next[word as usize] as usize] = ChunkPosting { chunk, gain };
            next[word as usize] += 1;
        }
        InvertedIndex { numbers: self.numbers, starts, postings, distinct: self.distinct }
    }
}
