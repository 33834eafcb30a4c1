//! Finds candidates: positions in the code whose surroundings resemble those of the cursor.

use crate::corpus_view::{CorpusView, Nearness};
use crate::layer::LayerView;
use crate::suffix_array::{self, ContextMatches};
use crate::vocabulary::{END, TokenId};

/// Maximum length of an exact match, in tokens (feasibility study, section 8.2; 12 was clearly worse than 64).
pub(crate) const MAX_EXACT: usize = 64;
/// Maximum length of a match over token classes, in tokens (feasibility study, section 8.2).
const MAX_ABSTRACT: usize = 48;
/// Candidates taken from each suffix array (feasibility study, section 4: 100 are as good as 500, in a third of the time).
pub(crate) const MAX_PER_ARRAY: usize = 100;
/// Candidates taken from each chain of the overlay, the latest first. Only newlines and commas of long files have more. 500 lost 1
/// to 2 points of exact matches and 200 lost 4, because nearby positions are the most useful.
const MAX_PER_CHAIN: usize = 2500;

/// A position in the overlay or in the corpus. Positions of the corpus are numbered across its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenPosition {
    Corpus(u32),
    Overlay(u32),
}

/// A position whose token may come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) position: TokenPosition,
    pub(crate) nearness: Nearness,
    /// Number of preceding tokens that equal the context's, up to [`MAX_EXACT`]; 0 if only the classes match.
    pub(crate) match_len: usize,
}

/// Returns the last tokens of the piece of code that `tokens` ends in, at most `limit`.
pub(crate) fn context_tail(tokens: &[TokenId], limit: usize) -> &[TokenId] {
    let tokens = &tokens[tokens.len().saturating_sub(limit)..];
    let start = tokens.iter().rposition(|&token| token == END).map_or(0, |end| end + 1);
    &tokens[start..]
}

/// Returns positions after the same tokens, from the longest match down.
pub(crate) fn exact_matches(view: &CorpusView, context: &[TokenId]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let last_tokens = context_tail(context, MAX_EXACT);
    let climbs = view.layers.iter().map(|layer| {
        let tokens = layer.tokens.tokens;
        layer.exact.match_context(last_tokens.iter().copied(), |at| tokens[at])
    });
    let climbs: Vec<ContextMatches> = climbs.collect();
    let is_permitted = |layer: usize, position: u32| is_candidate(&view.layers[layer], position);
    suffix_array::visit_matches(
        &climbs,
        MAX_PER_ARRAY,
        priority(view),
        is_permitted,
        |layer, position, matched| candidates.push(candidate(&view.layers[layer], position, matched)),
    );
    if let Some(&last) = context.last() {
        candidates.extend(view.overlay.after(last).take(MAX_PER_CHAIN).filter_map(|position| {
            let nearness = overlay_nearness(view, position)?;
            let place = TokenPosition::Overlay(position);
            let matched = common_suffix(view.history(place), context);
            Some(Candidate { position: place, nearness, match_len: matched })
        }));
    }
    candidates
}

/// Adds positions after tokens of the same classes, from the longest match down, behind those after the same tokens.
pub(crate) fn add_class_matches(view: &CorpusView, context: &[TokenId], candidates: &mut Vec<Candidate>) {
    let exact = positions(candidates);
    let classes: Vec<TokenId> =
        context_tail(context, MAX_ABSTRACT).iter().map(|&token| view.words.abstracted(token)).collect();
    let climbs = view.layers.iter().map(|layer| {
        let tokens = layer.tokens.tokens;
        layer.abstracted.match_context(classes.iter().copied(), |at| view.words.abstracted(tokens[at]))
    });
    let climbs: Vec<ContextMatches> = climbs.collect();
    let is_permitted = |layer: usize, position: u32| {
        let layer = &view.layers[layer];
        exact.binary_search(&(layer.first + position)).is_err() && is_candidate(layer, position)
    };
    suffix_array::visit_matches(
        &climbs,
        MAX_PER_ARRAY,
        priority(view),
        is_permitted,
        |layer, position, _| {
            candidates.push(candidate(&view.layers[layer], position, 0));
        },
    );
    if let [.., second, last] = *context {
        let alike = view.overlay.after_classes((second, last), &view.words).take(MAX_PER_CHAIN);
        candidates.extend(alike.filter_map(|position| {
            let place = TokenPosition::Overlay(position);
            let is_new = view.history(place).last() != Some(&last);
            let nearness = overlay_nearness(view, position).filter(|_| is_new)?;
            Some(Candidate { position: place, nearness, match_len: 0 })
        }));
    }
}

/// Returns the priority of a position in a layer among equally long matches.
fn priority(view: &CorpusView) -> impl Fn(usize, u32) -> u64 {
    |layer, position| view.layers[layer].priority(position)
}

/// Returns the nearness of a position in the overlay, or `None` if it is masked.
fn overlay_nearness(view: &CorpusView, position: u32) -> Option<Nearness> {
    Some(view.overlay.nearness(position)).filter(|&nearness| nearness != Nearness::Masked)
}

/// Returns the candidates' positions in the corpus, sorted.
fn positions(candidates: &[Candidate]) -> Vec<u32> {
    let mut positions: Vec<u32> = candidates
        .iter()
        .filter_map(|candidate| match candidate.position {
            TokenPosition::Corpus(position) => Some(position),
            TokenPosition::Overlay(_) => None,
        })
        .collect();
    positions.sort_unstable();
    positions
}

/// Whether a position of a layer has a token that follows another one and is not masked.
fn is_candidate(layer: &LayerView<'_>, position: u32) -> bool {
    let at = position as usize;
    let pair = at.checked_sub(1).and_then(|before| layer.tokens.tokens.get(before..=at));
    pair.is_some_and(|pair| !pair.contains(&END)) && layer.nearness(position) != Nearness::Masked
}

fn candidate(layer: &LayerView<'_>, position: u32, matched: usize) -> Candidate {
    let nearness = layer.nearness(position);
    Candidate { position: TokenPosition::Corpus(layer.first + position), nearness, match_len: matched }
}

/// Returns the number of equal tokens at the ends of `history` and `context`, up to [`MAX_EXACT`].
fn common_suffix(history: &[TokenId], context: &[TokenId]) -> usize {
    let pairs = history.iter().rev().zip(context.iter().rev()).take(MAX_EXACT);
    pairs.take_while(|(a, b)| a == b && **a != END).count()
}
