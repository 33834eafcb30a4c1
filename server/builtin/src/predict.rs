//! Predicts the next token: probability distributions over the tokens at the candidates.
//!
//! A [`Predictor`] serves one view. It caches its results by context, because the methods that propose completions mostly generate
//! the same beginnings.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::candidates::{self, Candidate, Place};
use crate::models::Models;
use crate::trees::probability;
use crate::view::View;
use crate::vocabulary::TokenId;

mod evidence;
mod longest_match;
pub(crate) mod ranking;
mod vote;
mod witten_bell;

use evidence::Evidence;
use ranking::Near;
use vote::Voted;

/// A token that may come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) token: TokenId,
    pub(crate) probability: f64,
    /// The best position with this token, from which the preceding blanks are taken. The token there may have another name.
    pub(crate) place: Place,
    /// Length of the match at the best position, in tokens.
    pub(crate) match_len: f64,
}

/// Prediction methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// The majority after the longest match.
    LongestMatch,
    /// Only counting.
    Count,
    /// Only voting.
    Vote,
    /// Voting with less weight on long alignments.
    SoftVote,
    /// Counting and voting with equal weights. Where they agree they are mostly right (feasibility study, section 8.8); where they
    /// do not, the more certain one wins. Weights of 35 % and 70 % for voting did worse, and so did only counting after long
    /// matches.
    Mixed,
    /// The fitted ranking over all features.
    Ranked,
}

impl Model {
    const ALL: [Model; 6] =
        [Model::LongestMatch, Model::Count, Model::Vote, Model::SoftVote, Model::Mixed, Model::Ranked];
}

/// Predictor for one view.
pub(crate) struct Predictor<'v, 'c> {
    view: &'v View<'c>,
    models: &'v Models,
    near: Near,
    /// Results by the tokens generated so far.
    known: FxHashMap<Vec<TokenId>, Outlook>,
}

/// Results for one context, by model; computed on demand.
#[derive(Default)]
struct Outlook {
    guesses: [Option<Rc<[Guess]>>; Model::ALL.len()],
    gathered: Option<Rc<Gathered>>,
}

/// Input of the models.
struct Gathered {
    context: Vec<TokenId>,
    /// Positions after the same tokens.
    exact: Vec<Candidate>,
    /// Alignments. They take longest, so they are computed on demand.
    evidence: OnceCell<Vec<Evidence>>,
}

/// Maximum number of guesses returned. Those further down are not likely to be permitted either.
const KEPT: usize = 32;

impl<'v, 'c> Predictor<'v, 'c> {
    pub(crate) fn new(view: &'v View<'c>, models: &'v Models) -> Predictor<'v, 'c> {
        Predictor { view, models, near: Near::of(view), known: FxHashMap::default() }
    }

    fn asked<'a>(&'a self, written: &'a [TokenId]) -> Asked<'a, 'c> {
        Asked { view: self.view, models: self.models, near: &self.near, written }
    }

    /// Returns the most likely next tokens after the cursor's context and `written`, the best first.
    pub(crate) fn guesses(&mut self, model: Model, written: &[TokenId]) -> Rc<[Guess]> {
        let mut outlook = self.known.remove(written).unwrap_or_default();
        let guesses = outlook.guesses(&self.asked(written), model);
        if !written.is_empty() {
            // Drop thousands of positions for each of hundreds of tokens. They are rarely needed again, and can be collected again.
            outlook.gathered = None;
        }
        self.known.insert(written.to_vec(), outlook);
        guesses
    }

    /// Returns the positions after the same tokens as the cursor.
    pub(crate) fn places(&mut self) -> Vec<Place> {
        let mut outlook = self.known.remove(&[][..]).unwrap_or_default();
        let asked = self.asked(&[]);
        let gathered = outlook.gathered(&asked);
        let after_same = gathered.exact.iter().filter(|candidate| candidate.matched > 0);
        let places = after_same.map(|candidate| candidate.place).collect();
        self.known.insert(Vec::new(), outlook);
        places
    }

    /// Returns the candidates for the next token with their features.
    pub(crate) fn choices(&self, written: &[TokenId]) -> Vec<ranking::Choice> {
        Outlook::default().choices(&self.asked(written))
    }
}

/// A position in a completion.
struct Asked<'a, 'c> {
    view: &'a View<'c>,
    models: &'a Models,
    near: &'a Near,
    written: &'a [TokenId],
}

impl Gathered {
    fn new(asked: &Asked<'_, '_>) -> Gathered {
        let context = [&*asked.view.cursor.context, asked.written].concat();
        let exact = candidates::exact(asked.view, &context);
        Gathered { context, exact, evidence: OnceCell::new() }
    }

    fn evidence(&self, asked: &Asked<'_, '_>) -> &[Evidence] {
        self.evidence.get_or_init(|| evidence::gather(asked.view, &self.context, &self.exact))
    }
}

impl Outlook {
    fn gathered(&mut self, asked: &Asked<'_, '_>) -> Rc<Gathered> {
        Rc::clone(self.gathered.get_or_insert_with(|| Rc::new(Gathered::new(asked))))
    }

    fn guesses(&mut self, asked: &Asked<'_, '_>, model: Model) -> Rc<[Guess]> {
        if let Some(known) = &self.guesses[model as usize] {
            return Rc::clone(known);
        }
        let gathered = self.gathered(asked);
        let guesses = match model {
            Model::LongestMatch => longest_match::guesses(asked.view, &gathered.exact),
            Model::Count => witten_bell::guesses(asked.view, &gathered.exact),
            Model::Vote | Model::SoftVote => {
                let Voted { sharp, soft } = vote::vote(asked.view, gathered.evidence(asked));
                self.keep(asked, Model::SoftVote, soft);
                let sharp = self.keep(asked, Model::Vote, sharp);
                return if model == Model::Vote { sharp } else { self.guesses(asked, Model::SoftVote) };
            }
            Model::Mixed => {
                mixed(asked.view, &self.guesses(asked, Model::Vote), &self.guesses(asked, Model::Count))
            }
            Model::Ranked => self.ranked(asked),
        };
        self.keep(asked, model, guesses)
    }

    fn keep(&mut self, asked: &Asked<'_, '_>, model: Model, mut guesses: Vec<Guess>) -> Rc<[Guess]> {
        if !asked.written.is_empty() {
            guesses.truncate(KEPT);
        }
        let guesses: Rc<[Guess]> = guesses.into();
        self.guesses[model as usize] = Some(Rc::clone(&guesses));
        guesses
    }

    fn choices(&mut self, asked: &Asked<'_, '_>) -> Vec<ranking::Choice> {
        let gathered = self.gathered(asked);
        let evidence = gathered.evidence(asked);
        let opinions = ranking::Opinions {
            mixed: &self.guesses(asked, Model::Mixed),
            voted: &self.guesses(asked, Model::Vote),
            soft: &self.guesses(asked, Model::SoftVote),
            counted: &self.guesses(asked, Model::Count),
            longest: &self.guesses(asked, Model::LongestMatch),
        };
        ranking::choices(asked.view, asked.near, asked.written, &opinions, evidence, gathered.exact.len())
    }

    /// Ranks guesses by the fitted model. The others, for which it was not fitted, follow in their order.
    fn ranked(&mut self, asked: &Asked<'_, '_>) -> Vec<Guess> {
        let choices = self.choices(asked).into_iter();
        let weighed = choices.map(|choice| Guess {
            probability: probability(
                asked.models.ranking.score(&choice.features) + typed_bonus(choice.was_typed),
            ),
            ..choice.guess
        });
        let mut weighed: Vec<Guess> = weighed.collect();
        weighed.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        let least = weighed.last().map_or(1.0, |guess| guess.probability);
        let mixed = self.guesses(asked, Model::Mixed);
        let others = mixed.iter().skip(ranking::MOST);
        weighed.extend(others.map(|guess| Guess { probability: guess.probability.min(least), ..*guess }));
        weighed
    }
}

/// Recent typing doubles the odds, as it doubles the weight in counting and voting.
fn typed_bonus(was_typed: bool) -> f64 {
    if was_typed { std::f64::consts::LN_2 } else { 0.0 }
}

/// Counting mixed with sharp and with soft voting.
pub(crate) struct Expected {
    pub(crate) sharp: Vec<Guess>,
    pub(crate) soft: Vec<Guess>,
}

/// Returns the baseline predictions after any context.
pub(crate) fn expected(view: &View, context: &[TokenId]) -> Expected {
    let exact = candidates::exact(view, context);
    let counted = witten_bell::guesses(view, &exact);
    let Voted { sharp, soft } = vote::vote(view, &evidence::gather(view, context, &exact));
    Expected { sharp: mixed(view, &sharp, &counted), soft: mixed(view, &soft, &counted) }
}

/// Returns the mean of two distributions. The position of a token in both is taken from the first.
fn mixed(view: &View, first: &[Guess], second: &[Guess]) -> Vec<Guess> {
    let mut tally: Tally<Option<Guess>> = Tally::default();
    for &guess in first.iter().chain(second) {
        let (_, mean) = tally.entry(guess.token);
        let mean = mean.get_or_insert(Guess { probability: 0.0, ..guess });
        mean.probability += guess.probability / 2.0;
    }
    ranked(view, tally.entries.into_iter().filter_map(|(_, guess)| guess).collect())
}

/// Sums up the support of each token, in the order of first occurrence.
#[derive(Default)]
struct Tally<T> {
    index: FxHashMap<TokenId, usize>,
    entries: Vec<(TokenId, T)>,
}

impl<T: Default> Tally<T> {
    /// Returns the index of a token among the entries, and its support.
    fn entry(&mut self, token: TokenId) -> (usize, &mut T) {
        let next = self.entries.len();
        let index = *self.index.entry(token).or_insert(next);
        if index == next {
            self.entries.push((token, T::default()));
        }
        (index, &mut self.entries[index].1)
    }
}

/// Sorts by probability. Ties are resolved by length, because short tokens are more frequent; never by number, which depends on the
/// history of the corpus.
fn ranked(view: &View, mut guesses: Vec<Guess>) -> Vec<Guess> {
    let order = |token: TokenId| view.words.order(token);
    guesses.sort_by(|a, b| {
        b.probability.total_cmp(&a.probability).then_with(|| order(a.token).cmp(&order(b.token)))
    });
    guesses
}
