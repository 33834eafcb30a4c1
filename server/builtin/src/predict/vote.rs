//! Voting: each candidate votes for its next token, with a weight that grows with the agreement of its surroundings.

use super::evidence::Evidence;
use super::{TokenGuess, TokenTally, ranked};
use crate::candidates::TokenPosition;
use crate::corpus_view::{CorpusView, Nearness};
use crate::vocabulary::TokenId;

/// Weight of a renamed token relative to a copied one.
const RENAMED: f64 = 0.9;
/// Weight of a name that does not occur in the open file (feasibility study, section 8.4).
const NEW_NAME: f64 = 0.3;
/// Score whose weight all unseen tokens get together, as for one distant position (feasibility study's prototype).
const UNSEEN_SCORE: f64 = 1.5;

/// Influence of the alignment score on the weight.
#[derive(Clone, Copy, Debug)]
struct Sharpness {
    /// Factor from a score to the logarithm of a weight.
    beta: f64,
    /// Maximum score; higher ones are equal.
    cap: f64,
}

/// For decoding (feasibility study, section 8.4).
const SHARP: Sharpness = Sharpness { beta: 1.2, cap: 80.0 };
/// For probabilities, since the sharp vote is always certain (feasibility study, section 6).
const SOFT: Sharpness = Sharpness { beta: 0.8, cap: 20.0 };

impl Sharpness {
    fn weight(self, score: f64) -> f64 {
        (self.beta * score.min(self.cap)).exp()
    }
}

/// Result of a vote.
pub(super) struct VoteResult {
    pub(super) sharp: Vec<TokenGuess>,
    pub(super) soft: Vec<TokenGuess>,
}

/// The position with the most weight.
#[derive(Clone, Copy)]
struct BestMatch {
    weight: f64,
    position: TokenPosition,
    /// Score of its alignment.
    score: f64,
}

/// Support for one token.
#[derive(Clone, Copy, Default)]
struct VoteSupport {
    weight: f64,
    best: Option<BestMatch>,
}

impl VoteSupport {
    fn add(&mut self, weight: f64, place: TokenPosition, score: f64) {
        self.weight += weight;
        if self.best.is_none_or(|best| weight > best.weight) {
            self.best = Some(BestMatch { weight, position: place, score });
        }
    }
}

/// Computes at most `most` guesses by sharp and by soft votes in one pass, because reading the evidence takes most of the time.
pub(super) fn vote(view: &CorpusView, evidence: &[Evidence], most: usize) -> VoteResult {
    let mut tally: TokenTally<[VoteSupport; 2]> = TokenTally::default();
    for &Evidence { candidate, original, token, score } in evidence {
        let adapted = if token == original { 1.0 } else { RENAMED };
        let novelty = if view.is_new_name(token) { NEW_NAME } else { 1.0 };
        let weight = nearness_weight(candidate.nearness) * adapted * novelty;
        let (_, [sharp, soft]) = tally.entry(token);
        sharp.add(weight * SHARP.weight(score), candidate.position, score);
        soft.add(weight * SOFT.weight(score), candidate.position, score);
    }
    let supports = |of: usize| tally.entries.iter().map(move |&(token, supports)| (token, supports[of]));
    VoteResult {
        sharp: ranked_guesses(view, SHARP, supports(0), most),
        soft: ranked_guesses(view, SOFT, supports(1), most),
    }
}

fn ranked_guesses(
    view: &CorpusView,
    sharpness: Sharpness,
    supports: impl Iterator<Item = (TokenId, VoteSupport)> + Clone,
    most: usize,
) -> Vec<TokenGuess> {
    let seen: f64 = supports.clone().map(|(_, support)| support.weight).sum();
    let total = seen + sharpness.weight(UNSEEN_SCORE);
    ranked(
        view,
        supports
            .filter_map(|(token, support)| {
                let BestMatch { position: place, score, .. } = support.best?;
                Some(TokenGuess {
                    token,
                    probability: support.weight / total,
                    position: place,
                    match_len: score,
                })
            })
            .collect(),
        most,
    )
}

/// Feasibility study, section 8.4: 6/2/1. Recent typing weighs twice as much as the file, which decides between good positions:
/// with the 10 or 30 lines above the cursor treated as typed, all scenarios of `docs/benchmarks.md` stay within 0.3 points.
fn nearness_weight(nearness: Nearness) -> f64 {
    match nearness {
        Nearness::Masked => 0.0,
        Nearness::Workspace => 1.0,
        Nearness::Directory => 2.0,
        Nearness::Overlay => 6.0,
        Nearness::Session => 12.0,
    }
}
