//! The strategy `functions`: functions of the repository similar to the one being written.
//!
//! Functions are ranked by BM25 over their words. Among lexical measures it found the most useful code for a cursor; its
//! inverse frequencies make keywords and `self` harmless without a list of stop words, and its length normalisation prevents
//! long functions, which contain every word, from winning.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::FxHashMap;
use syntax::Language;

use crate::bm25::CollectionStats;
use crate::index_layer::IndexLayer;
use crate::line_set::LineSet;
use crate::terms::Term;
use crate::{CancelFlag, FileIndex, Hit, HitKind, Searcher, code_words, hit};

/// Name of the strategy.
pub const FUNCTIONS: &str = config::Strategy::Functions.name();

/// Maximum words in a hit's reason.
const REASON_WORDS: usize = 3;

/// The function being written.
#[derive(Clone, Copy, Debug)]
pub struct FunctionQuery<'a> {
    /// Its file, which contains no candidates: the engine sees its text anyway.
    pub path: &'a str,
    /// Its language.
    pub language: Language,
    /// The function as visible to the engine, without the removed text. Only this is compared.
    pub text: &'a str,
    /// The function with the removed text, to detect its copies; equal to `text` if nothing was removed.
    pub original: &'a str,
}

/// A word of the query.
struct QueryWord {
    text: String,
    term: Term,
    /// Inverse frequency times occurrences in the query.
    weight: f32,
}

/// A function and its similarity to the query.
pub(crate) struct FunctionCandidate<'a> {
    pub(crate) score: f32,
    layer: &'a IndexLayer,
    file: &'a FileIndex,
    /// Its number in the segment of the layer; functions of one file are in order.
    function: u32,
    range: &'a Range<u32>,
}

impl Searcher {
    /// Returns the `limit` functions most similar to `query`, best first, equal scores by path and position. Excludes copies of
    /// the query, and copies and parts of better hits.
    pub fn functions(&self, query: &FunctionQuery<'_>, limit: usize) -> Vec<Hit> {
        let others = self.hide(&[query.path]);
        let totals = others.function_totals();
        let words = others.query_words(query, totals);
        let similar =
            others.scored_functions(query.language, &words, totals).filter(|candidate| candidate.score > 0.0);
        let similar: BinaryHeap<FunctionCandidate<'_>> = similar.collect();
        if others.is_cancelled() {
            return Vec::new();
        }
        let chosen = without_duplicates(similar, query, limit);
        chosen.iter().map(|candidate| candidate.hit(candidate.reason(&words, totals))).collect()
    }

    /// Returns all functions outside of the query's file, which must be hidden, in languages like its own, with their lexical
    /// scores.
    pub(crate) fn function_candidates(&self, query: &FunctionQuery<'_>) -> Vec<FunctionCandidate<'_>> {
        let totals = self.function_totals();
        self.scored_functions(query.language, &self.query_words(query, totals), totals).collect()
    }

    /// Returns the scored functions in languages like this one.
    fn scored_functions(
        &self,
        language: Language,
        words: &[QueryWord],
        totals: CollectionStats,
    ) -> impl Iterator<Item = FunctionCandidate<'_>> {
        let wanted = self.layers().iter().take_while(|_| !self.is_cancelled());
        let all = wanted.flat_map(move |layer| candidates(layer, words, totals, self.cancel()));
        all.filter(move |candidate| candidate.file.language().family() == language.family())
    }

    /// Returns the query's words in a fixed order, so that sums of scores are rounded equally in every run.
    fn query_words(&self, query: &FunctionQuery<'_>, totals: CollectionStats) -> Vec<QueryWord> {
        let mut words: Vec<(String, u32)> =
            code_words::count_words(query.language, query.text).into_iter().collect();
        words.sort_unstable();
        words
            .into_iter()
            .map(|(text, count)| {
                let term = Term::word(&text);
                let weight = totals.inverse_frequency(self.functions_with(term)) * count as f32;
                QueryWord { text, term, weight }
            })
            .collect()
    }
}

/// Returns the `limit` best candidates, without copies of the query, and without copies and parts of better ones.
pub(crate) fn without_duplicates<'a>(
    mut candidates: BinaryHeap<FunctionCandidate<'a>>,
    query: &FunctionQuery<'_>,
    limit: usize,
) -> Vec<FunctionCandidate<'a>> {
    let mut taken = vec![LineSet::new(query.original)];
    let mut chosen = Vec::new();
    while chosen.len() < limit
        && let Some(candidate) = candidates.pop()
    {
        let lines = LineSet::new(candidate.text());
        if !taken.iter().any(|other| other.is_near_copy(&lines)) {
            taken.push(lines);
            chosen.push(candidate);
        }
    }
    chosen
}

/// Returns the functions of a layer; those without a common word have no score.
fn candidates<'a>(
    layer: &'a IndexLayer,
    words: &[QueryWord],
    totals: CollectionStats,
    cancel: &CancelFlag,
) -> Vec<FunctionCandidate<'a>> {
    let functions = &layer.segment().functions;
    let lengths = &*functions.lengths;
    let gain = totals.term_score();
    let mut scores = vec![0.0; lengths.len()];
    for word in words {
        if cancel.is_cancelled() {
            return Vec::new();
        }
        for (function, count) in functions.postings.list(word.term) {
            let function = function as usize;
            scores[function] += gain(word.weight, count.into(), lengths[function]);
        }
    }
    let files =
        layer.segment().files().iter().enumerate().filter(|(position, _)| layer.is_present(*position));
    let candidates = files.flat_map(|(position, file)| {
        functions.of_file(position).zip(file.functions()).map(|(function, range)| {
            let score = scores[function as usize];
            FunctionCandidate { score, layer, file, function, range }
        })
    });
    candidates.collect()
}

impl<'a> FunctionCandidate<'a> {
    pub(crate) fn text(&self) -> &'a str {
        &self.file.text()[self.range.start as usize..self.range.end as usize]
    }

    /// Returns its whole lines.
    pub(crate) fn hit(&self, reason: String) -> Hit {
        let text = self.file.text();
        let (start, end) = whole_lines(text, self.range.start as usize..self.range.end as usize);
        let lines = text[start..end].to_owned();
        let start_line = line_ends(&text[..start]);
        let end_line = start_line + line_ends(&lines) + 1;
        let path = self.file.file().path.clone();
        Hit {
            bytes: hit::budget_bytes(&path, &lines),
            path,
            start_line,
            end_line,
            lines: Vec::new(),
            text: lines,
            score: f64::from(self.score),
            strategy: FUNCTIONS,
            kind: HitKind::Function,
            reason,
        }
    }

    /// Names the words with the highest weights.
    fn reason(&self, words: &[QueryWord], totals: CollectionStats) -> String {
        let functions = &self.layer.segment().functions;
        let gain = totals.term_score();
        let length = functions.lengths[self.function as usize];
        let number = self.function - functions.of_file(functions.file_of(self.function)).start;
        let bags = self.file.function_words();
        let terms = bags.terms();
        let counts = bags.bag(number as usize).map(|entry| (terms[entry.term as usize], entry.count));
        let counts: FxHashMap<Term, u8> = counts.collect();
        let gain = |word: &QueryWord| Some(gain(word.weight, (*counts.get(&word.term)?).into(), length));
        let mut gains: Vec<(f32, &str)> =
            words.iter().filter_map(|word| Some((gain(word)?, &*word.text))).collect();
        gains.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let words: Vec<&str> = gains.iter().take(REASON_WORDS).map(|(_, word)| *word).collect();
        format!("shares {}", words.join(", "))
    }
}

/// Better ones are greater; among equals, earlier ones are.
impl Ord for FunctionCandidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |candidate: &Self| Reverse(candidate.function);
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.file.path().cmp(self.file.path()))
            .then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for FunctionCandidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for FunctionCandidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for FunctionCandidate<'_> {}

/// Extends `range` to whole lines, without the last line end.
fn whole_lines(text: &str, range: Range<usize>) -> (usize, usize) {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    (start, end - usize::from(text[start..end].ends_with('\r')))
}

fn line_ends(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32
}

#[cfg(test)]
mod tests;
