//! Longest match: takes the majority after the longest match. A simple baseline for the other methods.

use super::{Guess, Tally, ranked};
use crate::candidates::{Candidate, Place};
use crate::view::View;

/// Weight of all unseen tokens (feasibility study, section 2, method 4).
const UNSEEN: f64 = 0.5;

/// Returns guesses from `candidates`, the positions after the same tokens.
pub(super) fn guesses(view: &View, candidates: &[Candidate]) -> Vec<Guess> {
    let longest = candidates.iter().map(|candidate| candidate.matched).max().unwrap_or_default();
    let mut tally: Tally<(f64, Option<Place>)> = Tally::default();
    let mut total = UNSEEN;
    for candidate in candidates.iter().filter(|candidate| candidate.matched == longest) {
        let (_, (count, first)) = tally.entry(view.next(candidate.place));
        first.get_or_insert(candidate.place);
        *count += 1.0;
        total += 1.0;
    }
    let guess = |(token, (count, first)): (_, (f64, Option<Place>))| {
        Some(Guess { token, probability: count / total, place: first?, match_len: longest as f64 })
    };
    ranked(view, tally.entries.into_iter().filter_map(guess).collect())
}
