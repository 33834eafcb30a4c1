//! Voting with substitution: code that was copied and adapted once is adapted again.
//!
//! Each candidate's surroundings are aligned with the context backwards. Names, strings and numbers may differ if they
//! differ in the same way throughout; the candidate then votes for its next token *renamed*.

use super::{Guess, Tally, ranked};
use crate::candidates::{Candidate, Place};
use crate::view::{Nearness, View};
use crate::vocabulary::{Class, END, TokenId, is_newline};

/// Tokens that are aligned at most (feasibility study, section 8.4).
const WINDOW: usize = 160;
/// Names that an alignment keeps track of; its window rarely holds more.
const MAX_NAMES: usize = 32;
/// An alignment that scores this many times the cap can be cut off.
const ENOUGH_OVER_CAP: f64 = 2.0;
/// Score of a token that is equal.
const EQUAL: f64 = 1.0;
/// Score of a newline, which says little (feasibility study, section 8.4).
const NEWLINE: f64 = 0.5;
/// Score of a name that differs for the first time, or of a differing literal (feasibility study, section 8.4).
const FIRST_RENAME: f64 = 0.4;
/// Score of a name that differs as it did before (feasibility study, section 8.4).
const SAME_RENAME: f64 = 0.8;
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

pub(super) fn guesses(
    view: &View,
    sharpness: Sharpness,
    context: &[TokenId],
    candidates: &[Candidate],
) -> Vec<Guess> {
    let mut tally: Tally<Support> = Tally::default();
    let mut alignment = Alignment::default();
    for &Candidate { place, nearness, .. } in candidates {
        alignment.align(view, context, view.history(place), sharpness.cap());
        let original = view.next(place);
        let token = alignment.renamed(original);
        let adapted = if token == original { 1.0 } else { RENAMED };
        let is_new = view.class(token) == Class::Identifier && !view.near_words.contains(token);
        let weight = nearness_weight(nearness)
            * adapted
            * if is_new { NEW_NAME } else { 1.0 }
            * sharpness.weight(alignment.score);
        let (_, support) = tally.entry(token);
        support.weight += weight;
        if support.best.is_none_or(|best| weight > best.weight) {
            support.best = Some(Best { weight, place, score: alignment.score });
        }
    }
    let seen: f64 = tally.entries.iter().map(|(_, support)| support.weight).sum();
    let total = seen + sharpness.weight(UNSEEN_SCORE);
    let guess = |(token, support): (TokenId, Support)| {
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

/// How far the code before two places agrees, and which names differ.
#[derive(Default)]
struct Alignment {
    score: f64,
    /// Names there and the names here, which may be the same.
    renames: Vec<(TokenId, TokenId)>,
}

impl Alignment {
    /// Aligns anew; one alignment serves all candidates, so that none of them allocates.
    fn align(&mut self, view: &View, context: &[TokenId], history: &[TokenId], cap: f64) {
        self.score = 0.0;
        self.renames.clear();
        for (&here, &there) in context.iter().rev().zip(history.iter().rev()).take(WINDOW) {
            match self.score_of(view, here, there) {
                Some(score) => self.score += score,
                None => break,
            }
            if self.score >= ENOUGH_OVER_CAP * cap {
                break;
            }
        }
    }

    /// What a pair of tokens adds; `None` where they do not agree.
    fn score_of(&mut self, view: &View, here: TokenId, there: TokenId) -> Option<f64> {
        if there == END {
            return None;
        }
        let class = view.class(there);
        if class == Class::Identifier {
            return self.score_of_names(view, here, there);
        }
        if here == there {
            return Some(if is_newline(there) { NEWLINE } else { EQUAL });
        }
        let differs = matches!(class, Class::String | Class::Number) && view.class(here) == class;
        differs.then_some(FIRST_RENAME)
    }

    /// A name has one name on the other side, and no other name has the same one.
    fn score_of_names(&mut self, view: &View, here: TokenId, there: TokenId) -> Option<f64> {
        let is_equal = here == there;
        if let Some(renamed) = self.rename_of(there) {
            return (renamed == here).then_some(if is_equal { EQUAL } else { SAME_RENAME });
        }
        let is_taken = self.renames.iter().any(|&(_, renamed)| renamed == here);
        if is_taken || view.class(here) != Class::Identifier {
            return None;
        }
        if self.renames.len() < MAX_NAMES {
            self.renames.push((there, here));
        } else if !is_equal {
            return None;
        }
        Some(if is_equal { EQUAL } else { FIRST_RENAME })
    }

    /// The token under its name here.
    fn renamed(&self, token: TokenId) -> TokenId {
        self.rename_of(token).unwrap_or(token)
    }

    fn rename_of(&self, token: TokenId) -> Option<TokenId> {
        self.renames.iter().find(|(original, _)| *original == token).map(|&(_, renamed)| renamed)
    }
}
