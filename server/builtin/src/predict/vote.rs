//! Voting: each place speaks for its next token, and the better its surroundings agree the more it weighs.

use super::evidence::Evidence;
use super::{Guess, Tally, ranked};
use crate::candidates::Place;
use crate::view::{Nearness, View};

/// Weight of a renamed token against a copied one.
const RENAMED: f64 = 0.9;
/// Weight of a name that the open file does not use yet (feasibility study, section 8.4).
const NEW_NAME: f64 = 0.3;
/// Everything unseen weighs as much as one far place whose alignment scores this (feasibility study's prototype).
const UNSEEN_SCORE: f64 = 1.5;

/// How much longer alignments outweigh shorter ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharpness {
    /// For writing (feasibility study, section 8.4: β 1.2, cap 80).
    Sharp,
    /// For asking how sure the model is, where the sharp vote is always sure (section 6: β 0.8, cap 20).
    Soft,
}

impl Sharpness {
    fn beta(self) -> f64 {
        match self {
            Sharpness::Sharp => 1.2,
            Sharpness::Soft => 0.8,
        }
    }

    fn cap(self) -> f64 {
        match self {
            Sharpness::Sharp => 80.0,
            Sharpness::Soft => 20.0,
        }
    }

    fn weight(self, score: f64) -> f64 {
        (self.beta() * score.min(self.cap())).exp()
    }
}

/// The place that says most.
#[derive(Clone, Copy)]
struct Best {
    weight: f64,
    place: Place,
    /// Of its alignment.
    score: f64,
}

/// What speaks for one token.
#[derive(Default)]
struct Support {
    weight: f64,
    best: Option<Best>,
}

pub(super) fn guesses(view: &View, sharpness: Sharpness, evidence: &[Evidence]) -> Vec<Guess> {
    let mut tally: Tally<Support> = Tally::default();
    for &Evidence { candidate, original, token, score } in evidence {
        let adapted = if token == original { 1.0 } else { RENAMED };
        let weight = nearness_weight(candidate.nearness)
            * adapted
            * if view.is_new_name(token) { NEW_NAME } else { 1.0 }
            * sharpness.weight(score);
        let (_, support) = tally.entry(token);
        support.weight += weight;
        if support.best.is_none_or(|best| weight > best.weight) {
            support.best = Some(Best { weight, place: candidate.place, score });
        }
    }
    let seen: f64 = tally.entries.iter().map(|(_, support)| support.weight).sum();
    let total = seen + sharpness.weight(UNSEEN_SCORE);
    let guess = |(token, support): (_, Support)| {
        let Best { place, score, .. } = support.best?;
        Some(Guess { token, probability: support.weight / total, place, match_len: score })
    };
    ranked(tally.entries.into_iter().filter_map(guess).collect())
}

/// Feasibility study, section 8.4: 6/2/1. What was typed lately weighs twice what stands in the file, which decides between good
/// places: with the 10 or 30 lines above the cursor as if typed, all scenarios of `docs/benchmarks.md` stay within 0.3 points.
fn nearness_weight(nearness: Nearness) -> f64 {
    match nearness {
        Nearness::Masked => 0.0,
        Nearness::Workspace => 1.0,
        Nearness::Directory => 2.0,
        Nearness::Overlay => 6.0,
        Nearness::Session => 12.0,
    }
}
