//! Counting: nested Witten-Bell interpolation over the distinct match lengths.

use super::{TokenGuess, TokenTally, ranked};
use crate::candidates::{self, Candidate};
use crate::corpus_view::{CorpusView, Nearness};

/// Weight of the number of distinct tokens relative to their count (feasibility study, section 8.4; 0.3 made no difference).
const GAMMA: f64 = 1.0;
/// Probability of an unseen token.
const FLOOR: f64 = 1e-6;
/// Weights of a name that does not occur in the open file and of everything else: 0.3 to 1 (feasibility study, section 8.4).
const NEW_NAME: u32 = 3;
const KNOWN_NAME: u32 = 10;

/// Support for one token.
#[derive(Default)]
struct TokenMatches {
    longest: usize,
    best: Option<candidates::TokenPosition>,
}

/// A matched position.
struct MatchedPosition {
    matched: usize,
    /// Index of its token in the tally.
    token: usize,
    weight: u32,
}

/// Returns at most `most` guesses from `candidates`, the positions after the same tokens.
pub(super) fn guesses(view: &CorpusView, candidates: &[Candidate], most: usize) -> Vec<TokenGuess> {
    let mut tally: TokenTally<TokenMatches> = TokenTally::default();
    let mut places = Vec::with_capacity(candidates.len());
    for &Candidate { position: place, nearness, match_len: matched } in candidates {
        let token = view.token_at(place);
        let (index, support) = tally.entry(token);
        if support.best.is_none() || matched > support.longest {
            (support.best, support.longest) = (Some(place), matched);
        }
        let novelty = if view.is_new_name(token) { NEW_NAME } else { KNOWN_NAME };
        places.push(MatchedPosition { matched, token: index, weight: nearness_weight(nearness) * novelty });
    }
    let probabilities = interpolate(places, tally.entries.len());
    ranked(
        view,
        tally
            .entries
            .into_iter()
            .zip(probabilities)
            .filter_map(|((token, support), probability)| {
                Some(TokenGuess {
                    token,
                    probability,
                    position: support.best?,
                    match_len: support.longest as f64,
                })
            })
            .collect(),
        most,
    )
}

/// Feasibility study, section 8.4: file ×8, directory ×3. For recent typing see `vote.rs`.
fn nearness_weight(nearness: Nearness) -> u32 {
    match nearness {
        Nearness::Masked => 0,
        Nearness::Workspace => 1,
        Nearness::Directory => 3,
        Nearness::Overlay => 8,
        Nearness::Session => 16,
    }
}

/// Interpolates from the shortest match to the longest: each length takes its share of the remaining probability. Weights are
/// integers so that subtracting the shorter matches is exact.
fn interpolate(mut places: Vec<MatchedPosition>, tokens: usize) -> Vec<f64> {
    places.sort_unstable_by_key(|place| place.matched);
    let mut counts = vec![0; tokens];
    for place in &places {
        counts[place.token] += place.weight;
    }
    let mut probabilities = vec![FLOOR; tokens];
    for same_length in places.chunk_by(|a, b| a.matched == b.matched) {
        add_length(&mut probabilities, &counts);
        for place in same_length {
            counts[place.token] -= place.weight;
        }
    }
    probabilities
}

/// Mixes in the distribution of matches of at least one length.
fn add_length(probabilities: &mut [f64], counts: &[u32]) {
    let total = f64::from(counts.iter().sum::<u32>());
    let distinct = counts.iter().filter(|&&count| count > 0).count() as f64;
    let trust = total / (total + GAMMA * distinct * f64::from(KNOWN_NAME));
    for (probability, &count) in probabilities.iter_mut().zip(counts) {
        *probability = trust * f64::from(count) / total + (1.0 - trust) * *probability;
    }
}
