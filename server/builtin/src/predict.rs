//! Predicts the next token: probability distributions over the tokens at the candidates.
//!
//! A [`Predictor`] serves one view. It caches its results by context, because the methods that propose completions mostly generate
//! the same beginnings.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::boosted_trees::probability;
use crate::candidates::{self, Candidate, TokenPosition};
use crate::corpus_view::CorpusView;
use crate::models::Models;
use crate::vocabulary::TokenId;

mod evidence;
mod longest_match;
pub(crate) mod ranking;
mod vote;
mod witten_bell;

use evidence::Evidence;
use ranking::NearbyTokens;
use vote::VoteResult;

/// A token that may come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenGuess {
    pub(crate) token: TokenId,
    pub(crate) probability: f64,
    /// The best position with this token, from which the preceding blanks are taken. The token there may have another name.
    pub(crate) position: TokenPosition,
    /// Length of the match at the best position, in tokens.
    pub(crate) match_len: f64,
}

/// Prediction methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PredictionMethod {
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

impl PredictionMethod {
    const ALL: [PredictionMethod; 6] = [
        PredictionMethod::LongestMatch,
        PredictionMethod::Count,
        PredictionMethod::Vote,
        PredictionMethod::SoftVote,
        PredictionMethod::Mixed,
        PredictionMethod::Ranked,
    ];
}

/// Predictor for one view.
pub(crate) struct Predictor<'v, 'c> {
    view: &'v CorpusView<'c>,
    models: &'v Models,
    nearby: NearbyTokens,
    /// Results by the tokens generated so far.
    cache: FxHashMap<Vec<TokenId>, PredictionCache>,
}

/// Results for one context, by model; computed on demand.
#[derive(Default)]
struct PredictionCache {
    guesses: [Option<Rc<[TokenGuess]>>; PredictionMethod::ALL.len()],
    match_evidence: Option<Rc<MatchEvidence>>,
}

/// Input of the models.
struct MatchEvidence {
    /// The last tokens before the next one, as many as any of them reads.
    context: Vec<TokenId>,
    /// Positions after the same tokens.
    exact: Vec<Candidate>,
    /// Alignments. They take longest, so they are computed on demand.
    evidence: OnceCell<Vec<Evidence>>,
}

/// Maximum number of guesses returned. Those further down are not likely to be permitted either.
const MAX_GUESSES: usize = 32;

impl<'v, 'c> Predictor<'v, 'c> {
    pub(crate) fn new(view: &'v CorpusView<'c>, models: &'v Models) -> Predictor<'v, 'c> {
        Predictor { view, models, nearby: NearbyTokens::of(view), cache: FxHashMap::default() }
    }

    fn position_after<'a>(&'a self, written: &'a [TokenId]) -> DecodePosition<'a, 'c> {
        DecodePosition { view: self.view, models: self.models, nearby: &self.nearby, written }
    }

    /// Returns the most likely next tokens after the cursor's context and `written`, the best first.
    pub(crate) fn guesses(&mut self, model: PredictionMethod, written: &[TokenId]) -> Rc<[TokenGuess]> {
        let mut outlook = self.cache.remove(written).unwrap_or_default();
        let guesses = outlook.guesses(&self.position_after(written), model);
        if !written.is_empty() {
            // Drop thousands of positions for each of hundreds of tokens. They are rarely needed again, and can be collected again.
            outlook.match_evidence = None;
        }
        self.cache.insert(written.to_vec(), outlook);
        guesses
    }

    /// Returns the positions after the same tokens as the cursor.
    pub(crate) fn exact_positions(&mut self) -> Vec<TokenPosition> {
        let mut outlook = self.cache.remove(&[][..]).unwrap_or_default();
        let asked = self.position_after(&[]);
        let gathered = outlook.match_evidence(&asked);
        let after_same = gathered.exact.iter().filter(|candidate| candidate.match_len > 0);
        let places = after_same.map(|candidate| candidate.position).collect();
        self.cache.insert(Vec::new(), outlook);
        places
    }

    /// Returns the candidates for the next token with their features.
    pub(crate) fn choices(&self, written: &[TokenId]) -> Vec<ranking::RankedToken> {
        PredictionCache::default().choices(&self.position_after(written))
    }
}

/// A position in a completion.
struct DecodePosition<'a, 'c> {
    view: &'a CorpusView<'c>,
    models: &'a Models,
    nearby: &'a NearbyTokens,
    written: &'a [TokenId],
}

impl DecodePosition<'_, '_> {
    /// Returns the number of guesses that are needed. At the cursor, a rare one may complete the partial word.
    fn most_guesses(&self) -> usize {
        if self.written.is_empty() { usize::MAX } else { MAX_GUESSES }
    }
}

impl MatchEvidence {
    fn new(asked: &DecodePosition<'_, '_>) -> MatchEvidence {
        let before = &*asked.view.cursor.context;
        let unread = (before.len() + asked.written.len()).saturating_sub(evidence::WINDOW);
        let context = [&before[unread.min(before.len())..], asked.written].concat();
        let exact = candidates::exact_matches(asked.view, &context);
        MatchEvidence { context, exact, evidence: OnceCell::new() }
    }

    fn evidence(&self, asked: &DecodePosition<'_, '_>) -> &[Evidence] {
        self.evidence.get_or_init(|| evidence::collect_evidence(asked.view, &self.context, &self.exact))
    }
}

impl PredictionCache {
    fn match_evidence(&mut self, asked: &DecodePosition<'_, '_>) -> Rc<MatchEvidence> {
        Rc::clone(self.match_evidence.get_or_insert_with(|| Rc::new(MatchEvidence::new(asked))))
    }

    fn guesses(&mut self, asked: &DecodePosition<'_, '_>, model: PredictionMethod) -> Rc<[TokenGuess]> {
        if let Some(known) = &self.guesses[model as usize] {
            return Rc::clone(known);
        }
        let gathered = self.match_evidence(asked);
        let guesses = match model {
            PredictionMethod::LongestMatch => {
                longest_match::guesses(asked.view, &gathered.exact, asked.most_guesses())
            }
            PredictionMethod::Count => {
                witten_bell::guesses(asked.view, &gathered.exact, asked.most_guesses())
            }
            PredictionMethod::Vote | PredictionMethod::SoftVote => {
                let VoteResult { sharp, soft } =
                    vote::vote(asked.view, gathered.evidence(asked), asked.most_guesses());
                self.insert(asked, PredictionMethod::SoftVote, soft);
                let sharp = self.insert(asked, PredictionMethod::Vote, sharp);
                return if model == PredictionMethod::Vote {
                    sharp
                } else {
                    self.guesses(asked, PredictionMethod::SoftVote)
                };
            }
            PredictionMethod::Mixed => mixed(
                asked.view,
                &self.guesses(asked, PredictionMethod::Vote),
                &self.guesses(asked, PredictionMethod::Count),
                asked.most_guesses(),
            ),
            PredictionMethod::Ranked => self.ranked(asked),
        };
        self.insert(asked, model, guesses)
    }

    fn insert(
        &mut self,
        asked: &DecodePosition<'_, '_>,
        model: PredictionMethod,
        mut guesses: Vec<TokenGuess>,
    ) -> Rc<[TokenGuess]> {
        guesses.truncate(asked.most_guesses());
        let guesses: Rc<[TokenGuess]> = guesses.into();
        self.guesses[model as usize] = Some(Rc::clone(&guesses));
        guesses
    }

    fn choices(&mut self, asked: &DecodePosition<'_, '_>) -> Vec<ranking::RankedToken> {
        let gathered = self.match_evidence(asked);
        let evidence = gathered.evidence(asked);
        let opinions = ranking::MethodGuesses {
            mixed: &self.guesses(asked, PredictionMethod::Mixed),
            voted: &self.guesses(asked, PredictionMethod::Vote),
            soft: &self.guesses(asked, PredictionMethod::SoftVote),
            counted: &self.guesses(asked, PredictionMethod::Count),
            longest: &self.guesses(asked, PredictionMethod::LongestMatch),
        };
        ranking::rank_candidates(
            asked.view,
            asked.nearby,
            asked.written,
            &opinions,
            evidence,
            gathered.exact.len(),
        )
    }

    /// Ranks guesses by the fitted model. The others, for which it was not fitted, follow in their order.
    fn ranked(&mut self, asked: &DecodePosition<'_, '_>) -> Vec<TokenGuess> {
        let choices = self.choices(asked).into_iter();
        let weighed = choices.map(|choice| TokenGuess {
            probability: probability(
                asked.models.ranking.score(&choice.features) + typed_bonus(choice.was_typed),
            ),
            ..choice.guess
        });
        let mut weighed: Vec<TokenGuess> = weighed.collect();
        weighed.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        let least = weighed.last().map_or(1.0, |guess| guess.probability);
        let mixed = self.guesses(asked, PredictionMethod::Mixed);
        let others = mixed.iter().skip(ranking::MAX_RANKED);
        weighed
            .extend(others.map(|guess| TokenGuess { probability: guess.probability.min(least), ..*guess }));
        weighed
    }
}

/// Recent typing doubles the odds, as it doubles the weight in counting and voting.
fn typed_bonus(was_typed: bool) -> f64 {
    if was_typed { std::f64::consts::LN_2 } else { 0.0 }
}

/// Counting mixed with sharp and with soft voting.
pub(crate) struct BaselinePredictions {
    pub(crate) sharp: Vec<TokenGuess>,
    pub(crate) soft: Vec<TokenGuess>,
}

/// Returns the baseline predictions after any context.
pub(crate) fn baseline_predictions(view: &CorpusView, context: &[TokenId]) -> BaselinePredictions {
    let exact = candidates::exact_matches(view, context);
    let evidence = evidence::collect_evidence(view, context, &exact);
    let counted = witten_bell::guesses(view, &exact, usize::MAX);
    let VoteResult { sharp, soft } = vote::vote(view, &evidence, usize::MAX);
    let mixed = |guesses: &[TokenGuess]| mixed(view, guesses, &counted, usize::MAX);
    BaselinePredictions { sharp: mixed(&sharp), soft: mixed(&soft) }
}

/// Returns the mean of two distributions. The position of a token in both is taken from the first.
fn mixed(view: &CorpusView, first: &[TokenGuess], second: &[TokenGuess], most: usize) -> Vec<TokenGuess> {
    let mut tally: TokenTally<Option<TokenGuess>> = TokenTally::default();
    for &guess in first.iter().chain(second) {
        let (_, mean) = tally.entry(guess.token);
        let mean = mean.get_or_insert(TokenGuess { probability: 0.0, ..guess });
        mean.probability += guess.probability / 2.0;
    }
    ranked(view, tally.entries.into_iter().filter_map(|(_, guess)| guess).collect(), most)
}

/// Sums up the support of each token, in the order of first occurrence.
#[derive(Default)]
struct TokenTally<T> {
    index: FxHashMap<TokenId, usize>,
    entries: Vec<(TokenId, T)>,
}

impl<T: Default> TokenTally<T> {
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

/// Returns the best guesses, at most `most`, sorted by probability. Ties are resolved by length, because short tokens are more frequent; never by number, which depends on the
/// history of the corpus.
fn ranked(view: &CorpusView, mut guesses: Vec<TokenGuess>, most: usize) -> Vec<TokenGuess> {
    let key = |token: TokenId| view.words.sort_key(token);
    let order = |a: &TokenGuess, b: &TokenGuess| {
        b.probability.total_cmp(&a.probability).then_with(|| key(a.token).cmp(&key(b.token)))
    };
    if guesses.len() > most {
        guesses.select_nth_unstable_by(most, order);
        guesses.truncate(most);
    }
    guesses.sort_unstable_by(order);
    guesses
}
