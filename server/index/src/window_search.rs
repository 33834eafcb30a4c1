//! Finds windows of code with terms in common with a query.
//!
//! A query has hundreds of terms, and the common ones, which are the least specific, occur in most files. So candidates are
//! chosen by the most specific terms only, as many as occur in a bounded number of windows; the candidates are then ranked by
//! all terms.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::iter::Peekable;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::bm25::CollectionStats;
use crate::file_index::WINDOW_BLOCKS;
use crate::index_layer::IndexLayer;
use crate::segment::saturated_length;
use crate::terms::Term;
use crate::{CancelFlag, FileIndex, Searcher};

/// Number of windows that are scored at once: their scores stay in the processor's cache, whatever the size of the index.
const RANGE: usize = if cfg!(test) { 5 } else { 1 << 15 };
/// Number of scores that are compared at once.
const CHUNK: usize = 64;
/// Maximum number of windows of the terms that choose candidates, in total.
const BUDGET: u64 = 200_000;
/// Candidates per requested hit, if not all terms choose them.
const CANDIDATES_PER_HIT: usize = 4;

/// The terms to search for, and the effort.
#[derive(Clone, Copy, Debug)]
pub struct WindowQuery<'a> {
    /// Distinct terms with their weights, all above zero.
    pub terms: &'a [(Term, f32)],
    /// Number of requested hits.
    pub limit: usize,
    /// Maximum number of windows that are visited for candidates, counted once per term.
    pub budget: u64,
}

impl<'a> WindowQuery<'a> {
    /// Creates a query with the usual effort.
    pub fn new(terms: &'a [(Term, f32)], limit: usize) -> WindowQuery<'a> {
        WindowQuery { terms, limit, budget: BUDGET }
    }
}

/// A window with its score.
#[derive(Clone, Copy, Debug)]
pub struct WindowHit<'a> {
    /// Its file.
    pub file: &'a Arc<FileIndex>,
    /// Number of the window in its file.
    pub window: u32,
    /// BM25 of the query's terms, each multiplied by its weight.
    pub score: f64,
}

impl Searcher {
    /// Returns the `limit` windows most similar to `terms`, best first, equal scores by path and position.
    pub fn windows(&self, terms: &[(Term, f32)], limit: usize) -> Vec<WindowHit<'_>> {
        search(self.layers(), &WindowQuery::new(terms, limit), self.cancel())
    }
}

/// A term that occurs in some window.
struct WeightedTerm {
    term: Term,
    /// Its weight times its inverse frequency.
    value: f32,
    /// Number of windows with the term.
    document_count: u64,
}

/// Returns the windows most similar to the query, best first, equal scores by path and position; the results so far if
/// cancelled.
pub(crate) fn search<'a>(
    layers: &'a [IndexLayer],
    query: &WindowQuery<'_>,
    cancel: &CancelFlag,
) -> Vec<WindowHit<'a>> {
    let totals =
        layers.iter().map(IndexLayer::windows).fold(CollectionStats::default(), CollectionStats::plus);
    let terms = weigh_terms(layers, totals, query.terms);
    let choosing = choose_terms(&terms, query.budget);
    let is_cut = choosing.len() < terms.len();
    let candidates = if is_cut { query.limit.saturating_mul(CANDIDATES_PER_HIT) } else { query.limit };
    let mut best = TopWindows::new(candidates);
    layers.iter().for_each(|layer| score(layer, choosing, totals, cancel, &mut best));
    let mut hits: Vec<WindowHit<'_>> = best.hits.into_iter().map(|Reverse(hit)| hit).collect();
    if is_cut && !cancel.is_cancelled() {
        rescore(&mut hits, &terms, totals);
    }
    hits.sort_unstable_by(|one, other| other.cmp(one));
    hits.truncate(query.limit);
    hits
}

/// Returns the terms that occur in some window, those with the best ratio of value and effort first. A term's influence on the
/// order of windows grows with the square of its value: among several orders this one found the most of the right windows
/// within a budget.
fn weigh_terms(layers: &[IndexLayer], totals: CollectionStats, terms: &[(Term, f32)]) -> Vec<WeightedTerm> {
    let weighed = terms.iter().filter_map(|&(term, weight)| {
        let having: u64 = layers.iter().map(|layer| layer.windows_with(term)).sum();
        let value = weight * totals.inverse_frequency(having);
        (having > 0).then_some(WeightedTerm { term, value, document_count: having })
    });
    let mut weighed: Vec<WeightedTerm> = weighed.collect();
    let worth = |term: &WeightedTerm| term.value * term.value / term.document_count as f32;
    weighed
        .sort_unstable_by(|one, other| worth(other).total_cmp(&worth(one)).then(one.term.cmp(&other.term)));
    weighed
}

/// Returns the terms that have this many windows in total, at least one term.
fn choose_terms(terms: &[WeightedTerm], budget: u64) -> &[WeightedTerm] {
    let mut spent = 0_u64;
    let count = terms
        .iter()
        .take_while(|term| {
            spent += term.document_count;
            spent <= budget
        })
        .count();
    &terms[..count.max(terms.len().min(1))]
}

/// Adds the windows of a layer that are among the best.
fn score<'a>(
    layer: &'a IndexLayer,
    terms: &[WeightedTerm],
    totals: CollectionStats,
    cancel: &CancelFlag,
    best: &mut TopWindows<'a>,
) {
    let windows = &layer.segment().windows;
    let lengths = &*windows.lengths;
    let gain = totals.term_score();
    let mut lists: Vec<_> =
        terms.iter().map(|term| (term.value, WindowList::new(windows.postings.list(term.term)))).collect();
    let mut scores = vec![0.0; lengths.len().min(RANGE)];
    for start in (0..lengths.len()).step_by(RANGE) {
        if cancel.is_cancelled() {
            return;
        }
        let (end, mut is_empty) = (start + RANGE, true);
        for (value, list) in &mut lists {
            is_empty &= !list.each_before(end, |window, count| {
                scores[window - start] += gain(*value, count, lengths[window]);
            });
        }
        if is_empty {
            continue;
        }
        for (chunk, first) in scores.chunks(CHUNK).zip((start..).step_by(CHUNK)) {
            // Without an early exit, so that the compiler vectorizes it: few chunks contain one of the best.
            if chunk.iter().fold(false, |has_one, &score| has_one | (score >= best.threshold)) {
                best.add_all(layer, first as u32, chunk);
            }
        }
        scores.fill(0.0);
    }
}

/// The windows with a term, given the blocks with it in order.
struct WindowList<I: Iterator> {
    blocks: Peekable<I>,
    /// The last block and its count, if its own window is still to come; else the count is 0.
    before: (usize, u32),
}

impl<I: Iterator<Item = (u32, u8)>> WindowList<I> {
    fn new(blocks: I) -> WindowList<I> {
        WindowList { blocks: blocks.peekable(), before: (0, 0) }
    }

    /// Calls `add` with each window before `end` and the term's count in it, and also with count 0, so that two blocks that
    /// share a window need no branch, which could not be predicted. Returns whether there are such windows.
    #[inline]
    fn each_before(&mut self, end: usize, mut add: impl FnMut(usize, u32)) -> bool {
        let mut has_one = false;
        while let Some((block, count)) = self.blocks.next_if(|(block, _)| *block as usize <= end) {
            let (block, count) = (block as usize, u32::from(count));
            let (before, count_before) = self.before;
            let shared = if before + 1 == block { count_before } else { 0 };
            add(before, count_before - shared);
            add(block - 1, count + shared);
            self.before = (block, count);
            has_one = true;
        }
        let (before, count) = self.before;
        if before < end {
            add(before, count);
            self.before = (end, 0);
        }
        has_one || count > 0
    }
}

/// The best windows so far.
struct TopWindows<'a> {
    limit: usize,
    /// A heap with the worst one on top.
    hits: BinaryHeap<Reverse<WindowHit<'a>>>,
    /// Minimum score to be among the best; above zero.
    threshold: f32,
}

impl<'a> TopWindows<'a> {
    fn new(limit: usize) -> TopWindows<'a> {
        TopWindows { limit, hits: BinaryHeap::new(), threshold: f32::MIN_POSITIVE }
    }

    /// Adds windows of a layer from the position `first` on, if they are good enough.
    fn add_all(&mut self, layer: &'a IndexLayer, first: u32, scores: &[f32]) {
        for (place, &score) in (first..).zip(scores) {
            if score >= self.threshold {
                self.add(layer, place, score);
            }
        }
    }

    fn add(&mut self, layer: &'a IndexLayer, place: u32, score: f32) {
        let windows = &layer.segment().windows;
        let file = windows.file_of(place);
        let places = windows.of_file(file);
        if !places.contains(&place) || !layer.is_present(file) {
            return;
        }
        let file = &layer.segment().files()[file];
        self.hits.push(Reverse(WindowHit { file, window: place - places.start, score: score.into() }));
        if self.hits.len() > self.limit {
            self.hits.pop();
        }
        if let Some(Reverse(worst)) = self.hits.peek().filter(|_| self.hits.len() == self.limit) {
            self.threshold = worst.score as f32;
        }
    }
}

/// Scores windows by all terms.
fn rescore(hits: &mut [WindowHit<'_>], terms: &[WeightedTerm], totals: CollectionStats) {
    let positions: FxHashMap<Term, usize> =
        terms.iter().zip(0..).map(|(term, position)| (term.term, position)).collect();
    let gain = totals.term_score();
    let mut counts = vec![0; terms.len()];
    for hit in hits {
        let length = count_terms(hit, &positions, &mut counts);
        let gains = terms.iter().zip(&mut counts).filter(|(_, count)| **count > 0);
        hit.score =
            gains.map(|(term, count)| gain(term.value, std::mem::take(count), length)).sum::<f32>().into();
    }
}

/// Counts the terms of a window that have a position; returns its total number of terms.
fn count_terms(hit: &WindowHit<'_>, positions: &FxHashMap<Term, usize>, counts: &mut [u32]) -> u16 {
    let bags = hit.file.block_terms();
    let terms = bags.terms();
    let window = hit.window as usize;
    let mut length = 0;
    for entry in (window..window + WINDOW_BLOCKS).flat_map(|block| bags.bag(block)) {
        length += u32::from(entry.count);
        if let Some(&position) = positions.get(&terms[entry.term as usize]) {
            counts[position] += u32::from(entry.count);
        }
    }
    saturated_length(length)
}

/// Better ones are greater; among equals, earlier ones are.
impl Ord for WindowHit<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.file.path().cmp(self.file.path()))
            .then_with(|| other.window.cmp(&self.window))
    }
}

impl PartialOrd for WindowHit<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WindowHit<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for WindowHit<'_> {}

#[cfg(test)]
mod tests;
