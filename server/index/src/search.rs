//! The strategy `functions`: which functions of the repository resemble one that is being written.
//!
//! Functions are ranked by BM25 over their words. Among lexical measures it found the most useful code for a cursor; its
//! inverse frequencies make keywords and `self` harmless without a list of stop words, and its length normalisation keeps
//! long functions, which hold every word, from winning.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use syntax::Language;

use crate::Hit;
use crate::build::{Inner, Posting};
use crate::similar_lines::LineSet;
use crate::words;

/// Name of the strategy.
pub const FUNCTIONS: &str = "functions";

/// BM25's usual constants: how soon repeats stop to count, and how much length does.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Words named in a hit's reason.
const REASON_WORDS: usize = 3;

/// The function that is being written.
#[derive(Clone, Copy, Debug)]
pub struct FunctionQuery<'a> {
    /// Its file. Nothing in it is a candidate: what else it holds stands before and after the cursor anyway.
    pub path: &'a str,
    /// Its language.
    pub language: Language,
    /// The function as the engine may see it, without the removed text. Only this is compared.
    pub text: &'a str,
    /// The function with the removed text, to recognise its copies; equal to `text` where nothing was removed.
    pub original: &'a str,
}

/// An index with some files hidden; cheap to clone.
#[derive(Clone, Debug)]
pub struct Searcher {
    inner: Arc<Inner>,
    /// By position of the file.
    visible: Arc<[bool]>,
}

/// The functions that a query may find, with what BM25 needs to know of them.
struct Candidates {
    /// By position of the file.
    files: Vec<bool>,
    functions: f64,
    mean_words: f64,
}

/// A word of the query and the functions that have it.
struct Term<'a> {
    word: String,
    postings: &'a [Posting],
    /// Inverse frequency times occurrences in the query.
    weight: f64,
}

impl Searcher {
    pub(crate) fn new(inner: Arc<Inner>, visible: Arc<[bool]>) -> Searcher {
        Searcher { inner, visible }
    }

    /// The `limit` functions most similar to `query`, best first, equals in the order of the index. Neither copies of the query
    /// nor copies or parts of better hits are among them.
    pub fn functions(&self, query: &FunctionQuery<'_>, limit: usize) -> Vec<Hit> {
        let candidates = self.candidates(query.path);
        let terms = self.terms(query, &candidates);
        let mut taken = vec![LineSet::new(query.original)];
        let mut hits = Vec::new();
        for (position, score) in ranked(&self.scores(&terms, &candidates)) {
            if hits.len() == limit {
                break;
            }
            let lines = LineSet::new(self.inner.text_of(&self.inner.functions[position]));
            if !taken.iter().any(|other| other.is_near_copy(&lines)) {
                taken.push(lines);
                hits.push(self.hit(position, score, self.reason(position, &terms, &candidates)));
            }
        }
        hits
    }

    fn candidates(&self, own_path: &str) -> Candidates {
        let own = |position: usize| *self.inner.files[position].path == *own_path;
        let files: Vec<bool> =
            self.visible.iter().enumerate().map(|(position, &visible)| visible && !own(position)).collect();
        let mut totals = (0_u64, 0_u64);
        for function in self.inner.functions.iter().filter(|function| files[function.file as usize]) {
            totals = (totals.0 + 1, totals.1 + u64::from(function.words));
        }
        let functions = totals.0 as f64;
        Candidates { files, functions, mean_words: totals.1 as f64 / functions.max(1.0) }
    }

    /// The query's words in a fixed order, so that sums of scores round alike on every run.
    fn terms(&self, query: &FunctionQuery<'_>, candidates: &Candidates) -> Vec<Term<'_>> {
        let mut words: Vec<(String, u32)> = words::count(query.language, query.text).into_iter().collect();
        words.sort_unstable();
        let term = |(word, count): (String, u32)| {
            let postings = self.inner.postings(&word);
            let having =
                postings.iter().filter(|posting| self.is_candidate(posting, candidates)).count() as f64;
            let inverse_frequency = (1.0 + (candidates.functions - having + 0.5) / (having + 0.5)).ln();
            Term { word, postings, weight: inverse_frequency * f64::from(count) }
        };
        words.into_iter().map(term).collect()
    }

    /// The score of every function; zero for those that are no candidates.
    fn scores(&self, terms: &[Term<'_>], candidates: &Candidates) -> Vec<f64> {
        let mut scores = vec![0.0; self.inner.functions.len()];
        for term in terms {
            for posting in term.postings.iter().filter(|posting| self.is_candidate(posting, candidates)) {
                scores[posting.function as usize] += self.gain(term, posting, candidates);
            }
        }
        scores
    }

    fn is_candidate(&self, posting: &Posting, candidates: &Candidates) -> bool {
        candidates.files[self.inner.functions[posting.function as usize].file as usize]
    }

    /// What one word adds to the score of one function.
    fn gain(&self, term: &Term<'_>, posting: &Posting, candidates: &Candidates) -> f64 {
        let count = f64::from(posting.count);
        let words = f64::from(self.inner.functions[posting.function as usize].words);
        term.weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * words / candidates.mean_words))
    }

    fn hit(&self, position: usize, score: f64, reason: String) -> Hit {
        let function = &self.inner.functions[position];
        let file = self.inner.file_of(function);
        let (start, end) =
            whole_lines(&file.text, function.range.start as usize..function.range.end as usize);
        let text = file.text[start..end].to_owned();
        let start_line = line_ends(&file.text[..start]);
        let end_line = start_line + line_ends(&text) + 1;
        Hit { path: file.path.clone(), start_line, end_line, text, score, strategy: FUNCTIONS, reason }
    }

    /// Names the words that count most.
    fn reason(&self, position: usize, terms: &[Term<'_>], candidates: &Candidates) -> String {
        let mut gains: Vec<(f64, &str)> = terms
            .iter()
            .filter_map(|term| {
                let found = term
                    .postings
                    .binary_search_by_key(&position, |posting| posting.function as usize)
                    .ok()?;
                Some((self.gain(term, &term.postings[found], candidates), term.word.as_str()))
            })
            .collect();
        gains.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let words: Vec<&str> = gains.iter().take(REASON_WORDS).map(|(_, word)| *word).collect();
        format!("shares {}", words.join(", "))
    }
}

/// Positions with a score above zero, best first, equals in order. A heap, since few are ever taken.
fn ranked(scores: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    // The bits of positive numbers are ordered as the numbers are.
    let mut heap: BinaryHeap<(u64, Reverse<usize>)> = scores
        .iter()
        .enumerate()
        .filter(|(_, score)| **score > 0.0)
        .map(|(position, score)| (score.to_bits(), Reverse(position)))
        .collect();
    iter::from_fn(move || heap.pop().map(|(bits, Reverse(position))| (position, f64::from_bits(bits))))
}

/// `range` widened to whole lines, without the last line end.
fn whole_lines(text: &str, range: Range<usize>) -> (usize, usize) {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    (start, end - usize::from(text[start..end].ends_with('\r')))
}

fn line_ends(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}
