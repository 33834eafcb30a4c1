//! Voting: each candidate votes for its next token, with a weight that grows with the agreement of its surroundings.

use super::evidence::Evidence;
use super::{Guess, Tally, ranked};
use crate::candidates::Place;
use crate::view::{Nearness, View};
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
pub(super) struct Voted {
    pub(super) sharp: Vec<Guess>,
    pub(super) soft: Vec<Guess>,
}

/// The position with the most weight.
#[derive(Clone, Copy)]
struct Best {
    weight: f64,
    place: Place,
    /// Score of its alignment.
    score: f64,
}

/// Support for one token.
#[derive(Clone, Copy, Default)]
struct Support {
    weight: f64,
    best: Option<Best>,
}

impl Support {
    fn add(&mut self, weight: f64, place: Place, score: f64) {
        self.weight += weight;
        if self.best.is_none_or(|best| weight > best.weight) {
            self.best = Some(Best { weight, place, score });
        }
    }
}

/// Computes sharp and soft votes in one pass, because reading the evidence takes most of the time.
pub(super) fn vote(view: &View, evidence: &[Evidence]) -> Voted {
    let mut tally: Tally<[Support; 2]> = Tally::default();
    for &Evidence { candidate, original, token, score } in evidence {
        let adapted = if token == original { 1.0 } else { RENAMED };
        let novelty = if view.is_new_name(token) { NEW_NAME } else { 1.0 };
        let weight = nearness_weight(candidate.nearness) * adapted * novelty;
        let (_, [sharp, soft]) = tally.entry(token);
        sharp.add(weight * SHARP.weight(score), candidate.place, score);
        soft.add(weight * SOFT.weight(score), candidate.place, score);
    }
    let supports = |of: usize| tally.entries.iter().map(move |&(token, supports)| (token, supports[of]));
    Voted { sharp: elected(view, SHARP, supports(0)), soft: elected(view, SOFT, supports(1)) }
}

fn elected(
    view: &View,
    sharpness: Sharpness,
    supports: impl Iterator<Item = (TokenId, Support)> + Clone,
) -> Vec<Guess> {
    let seen: f64 = supports.clone().map(|(_, support)| support.weight).sum();
    let total = seen + sharpness.weight(UNSEEN_SCORE);
    let guess = |(token, support): (_, Support)| {
        let Best { place, score, .. } = support.best?;
        Some(Guess { token, probability: support.weight / total, place, match_len: score })
    };
    ranked(view, supports.filter_map(guess).collect())
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
