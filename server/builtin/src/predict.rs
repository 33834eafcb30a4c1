//! The next token, as a distribution over what stands at the candidates.

use rustc_hash::FxHashMap;

use crate::candidates::{self, Candidate};
use crate::settings::Method;
use crate::view::View;
use crate::vocabulary::TokenId;

mod longest_match;
mod vote;
mod witten_bell;

pub(crate) use vote::Sharpness;

/// Guesses kept, the likeliest first; what is refused (a bracket that does not fit) is replaced by the next one.
const MAX_GUESSES: usize = 24;
/// From this exact match on, counting beats voting, in tokens (feasibility study, section 4: 3, 5, 12 and 20 were no better).
const TRUSTED_MATCH: f64 = 8.0;

/// A token that may come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) token: TokenId,
    pub(crate) probability: f64,
    /// Blanks before it where it was seen in the best place.
    pub(crate) blanks: u8,
    /// How far the best place matches, in tokens.
    pub(crate) match_len: f64,
}

/// How tokens are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The majority after the longest match.
    LongestMatch,
    /// Counting after a long exact match, else voting.
    Hybrid(Sharpness),
    /// Voting throughout.
    Vote(Sharpness),
}

impl Model {
    /// The model of a method for statements or for blocks; `None` for methods that predict no tokens.
    pub(crate) fn of(method: Method, is_statement: bool) -> Option<Model> {
        match method {
            Method::Empty | Method::NearestLine => None,
            Method::LongestMatch => Some(Model::LongestMatch),
            Method::Hybrid if is_statement => Some(Model::Hybrid(Sharpness::Sharp)),
            Method::Hybrid => Some(Model::Vote(Sharpness::Sharp)),
        }
    }
}

/// The likeliest next tokens after `context`, best first.
pub(crate) fn guesses(view: &View, model: Model, context: &[TokenId]) -> Vec<Guess> {
    let exact = candidates::exact(view, context);
    match model {
        Model::LongestMatch => longest_match::guesses(view, &exact),
        Model::Vote(sharpness) => vote(view, sharpness, context, exact),
        Model::Hybrid(sharpness) => {
            let counted = witten_bell::guesses(view, &exact);
            let is_trusted = counted.first().is_some_and(|best| best.match_len >= TRUSTED_MATCH);
            if is_trusted { counted } else { vote(view, sharpness, context, exact) }
        }
    }
}

fn vote(view: &View, sharpness: Sharpness, context: &[TokenId], exact: Vec<Candidate>) -> Vec<Guess> {
    let candidates = [exact, candidates::alike(view, context)].concat();
    vote::guesses(view, sharpness, context, &candidates)
}

/// Sums what speaks for each token, in the order in which tokens are first seen.
#[derive(Default)]
struct Tally<T> {
    index: FxHashMap<TokenId, usize>,
    entries: Vec<(TokenId, T)>,
}

impl<T: Default> Tally<T> {
    fn entry(&mut self, token: TokenId) -> &mut T {
        let next = self.entries.len();
        let index = *self.index.entry(token).or_insert(next);
        if index == next {
            self.entries.push((token, T::default()));
        }
        &mut self.entries[index].1
    }
}

/// Sorts by probability; ties by number, so that the order never depends on chance.
fn ranked(mut guesses: Vec<Guess>) -> Vec<Guess> {
    guesses.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.token.cmp(&b.token)));
    guesses.truncate(MAX_GUESSES);
    guesses
}
