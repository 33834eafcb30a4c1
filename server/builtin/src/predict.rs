//! The next token, as a distribution over what stands at the candidates.

use rustc_hash::FxHashMap;

use crate::candidates::{self, Place};
use crate::view::View;
use crate::vocabulary::TokenId;

mod longest_match;
mod vote;
mod witten_bell;

pub(crate) use vote::Sharpness;

/// A token that may come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) token: TokenId,
    pub(crate) probability: f64,
    /// The best of the places that it was seen in, from which the blanks before it are taken. What stands there may have another name.
    pub(crate) place: Place,
    /// How far the best place matches, in tokens.
    pub(crate) match_len: f64,
}

/// How tokens are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The majority after the longest match.
    LongestMatch,
    /// Counting and voting, each with an equal say. Where they agree they are mostly right (feasibility study, section 8.8);
    /// where they do not, the surer one wins. Shares of 35 % and 70 % for the vote did worse, and so did trusting the count alone
    /// after long matches.
    Hybrid(Sharpness),
}

/// The likeliest next tokens after `context`, best first.
pub(crate) fn guesses(view: &View, model: Model, context: &[TokenId]) -> Vec<Guess> {
    let mut candidates = candidates::exact(view, context);
    match model {
        Model::LongestMatch => longest_match::guesses(view, &candidates),
        Model::Hybrid(sharpness) => {
            let counted = witten_bell::guesses(view, &candidates);
            candidates::add_alike(view, context, &mut candidates);
            mixed(vote::guesses(view, sharpness, context, &candidates), counted)
        }
    }
}

/// The mean of two distributions; what both know of a token's place is taken from the first.
fn mixed(first: Vec<Guess>, second: Vec<Guess>) -> Vec<Guess> {
    let mut tally: Tally<Option<Guess>> = Tally::default();
    for guess in first.into_iter().chain(second) {
        let (_, mean) = tally.entry(guess.token);
        let mean = mean.get_or_insert(Guess { probability: 0.0, ..guess });
        mean.probability += guess.probability / 2.0;
    }
    ranked(tally.entries.into_iter().filter_map(|(_, guess)| guess).collect())
}

/// Sums what speaks for each token, in the order in which tokens are first seen.
#[derive(Default)]
struct Tally<T> {
    index: FxHashMap<TokenId, usize>,
    entries: Vec<(TokenId, T)>,
}

impl<T: Default> Tally<T> {
    /// The token's index among the entries, and what speaks for it.
    fn entry(&mut self, token: TokenId) -> (usize, &mut T) {
        let next = self.entries.len();
        let index = *self.index.entry(token).or_insert(next);
        if index == next {
            self.entries.push((token, T::default()));
        }
        (index, &mut self.entries[index].1)
    }
}

/// Sorts by probability; ties by number, so that the order never depends on chance.
fn ranked(mut guesses: Vec<Guess>) -> Vec<Guess> {
    guesses.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.token.cmp(&b.token)));
    guesses
}
