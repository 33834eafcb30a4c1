//! Longest match: takes the majority after the longest match. A simple baseline for the other methods.

use super::{TokenGuess, TokenTally, ranked};
use crate::candidates::{Candidate, TokenPosition};
use crate::corpus_view::CorpusView;

/// Weight of all unseen tokens (feasibility study, section 2, method 4).
const UNSEEN: f64 = 0.5;

/// Returns at most `most` guesses from `candidates`, the positions after the same tokens.
pub(super) fn guesses(view: &CorpusView, candidates: &[Candidate], most: usize) -> Vec<TokenGuess> {
    let longest = candidates.iter().map(|candidate| candidate.match_len).max().unwrap_or_default();
    let mut tally: TokenTally<(f64, Option<TokenPosition>)> = TokenTally::default();
    let mut total = UNSEEN;
    for candidate in candidates.iter().filter(|candidate| candidate.match_len == longest) {
        let (_, (count, first)) = tally.entry(view.token_at(candidate.position));
        first.get_or_insert(candidate.position);
        *count += 1.0;
        total += 1.0;
    }
    ranked(
        view,
        tally
            .entries
            .into_iter()
            .filter_map(|(token, (count, first))| {
                Some(TokenGuess {
                    token,
                    probability: count / total,
                    position: first?,
                    match_len: longest as f64,
                })
            })
            .collect(),
        most,
    )
}
