//! Generates proposals by several methods and orders them.
//!
//! Each method is right at other positions, and where several agree they are mostly right (feasibility study, section 8.8). They
//! share the cache of the predictor, so that agreeing methods cost little more than one.

use crate::corpus_view::CorpusView;
use crate::cursor::{GenerationMode, PartialToken};
use crate::decode::{self, DecodedTokens};
use crate::models::Models;
use crate::nearest_copy;
use crate::predict::{PredictionMethod, Predictor};
use crate::settings::StopReason;
use crate::vocabulary::{TokenId, is_newline};

/// Methods that generate proposals. Ties are resolved by this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProposalSource {
    Model(PredictionMethod),
    NearestCopy,
}

/// The mean of voting and counting is left out: the ranking has it as a feature, and generates better text.
const SOURCES: [ProposalSource; 4] = [
    ProposalSource::Model(PredictionMethod::Ranked),
    ProposalSource::Model(PredictionMethod::Vote),
    ProposalSource::Model(PredictionMethod::LongestMatch),
    ProposalSource::NearestCopy,
];

/// Features of a proposal.
pub(crate) const FEATURES: [&str; 30] = [
    // The method that generated it, and the number of methods that did.
    "ranked",
    "vote",
    "longest",
    "nearest",
    "sources",
    // Probabilities of its tokens, as logarithms, by the first method that generated it.
    "least",
    "first",
    "sum",
    "mean",
    // Length of the match at the best positions.
    "mean_match",
    "first_match",
    "least_match",
    // Its length in tokens, in lines, and relative to the ranking's proposal.
    "length",
    "lines",
    "against_ranked",
    // Where it diverges from the ranking's proposal: after which share, and with which probabilities.
    "shared",
    "left",
    "left_best",
    // The requested kind of text.
    "statement",
    "rest_of_block",
    "body",
    "is_word",
    "is_string",
    "is_indented",
    "open_brackets",
    // The reason for its end.
    "is_limited",
    "is_cut",
    "is_lost",
    // The probability that the block continues, and the number of different proposals.
    "continuation",
    "proposals",
];

/// A completion that could be shown.
pub(crate) struct Proposal {
    pub(crate) written: DecodedTokens,
    pub(crate) features: [f32; FEATURES.len()],
}

/// Returns all different proposals, the one of the ranking first. Leaves out empty ones.
pub(crate) fn proposals(
    view: &CorpusView,
    predictor: &mut Predictor,
    continuation: f64,
    keep_going: &mut dyn FnMut() -> bool,
) -> Vec<Proposal> {
    let mut different: Vec<(DecodedTokens, Vec<ProposalSource>)> = Vec::new();
    for source in SOURCES {
        let written = match source {
            ProposalSource::Model(model) => decode::decode(view, predictor, model, keep_going),
            ProposalSource::NearestCopy => nearest_copy::copy_among_candidates(view, predictor),
        };
        match different.iter_mut().find(|(other, _)| other.has_same_tokens(&written)) {
            Some((_, sources)) => sources.push(source),
            None if written.guesses.is_empty() => {}
            None => different.push((written, vec![source])),
        }
    }
    let features: Vec<_> = different
        .iter()
        .map(|(written, sources)| features(view, predictor, continuation, written, sources, &different))
        .collect();
    different
        .into_iter()
        .zip(features)
        .map(|((written, _), features)| Proposal { written, features })
        .collect()
}

/// Sorts the proposals by the quality that the models estimate. The sort is stable.
pub(crate) fn best_first(mut proposals: Vec<Proposal>, models: &Models) -> Vec<Proposal> {
    let score = |proposal: &Proposal| models.choosing.score(&proposal.features);
    proposals.sort_by(|one, other| score(other).total_cmp(&score(one)));
    proposals
}

fn features(
    view: &CorpusView,
    predictor: &mut Predictor,
    continuation: f64,
    written: &DecodedTokens,
    sources: &[ProposalSource],
    different: &[(DecodedTokens, Vec<ProposalSource>)],
) -> [f32; FEATURES.len()] {
    let flag = |is: bool| f32::from(u8::from(is));
    let by = |source: usize| flag(sources.contains(&SOURCES[source]));
    let guesses = &written.guesses;
    let length = guesses.len() as f64;
    let logs = || guesses.iter().map(|guess| guess.probability.max(1e-6).ln());
    let sum: f64 = logs().sum();
    let matches = || guesses.iter().map(|guess| guess.match_len.min(80.0));
    let lines = guesses.iter().filter(|guess| is_newline(guess.token)).count();
    let ranked = &different[0].0;
    let leaves = Divergence::of(predictor, ranked, written);
    let mode = |mode: GenerationMode| flag(view.cursor.mode == mode);
    let ends = |reasons: &[StopReason]| flag(reasons.contains(&written.stop));
    [
        by(0),
        by(1),
        by(2),
        by(3),
        sources.len() as f32,
        logs().fold(0.0, f64::min) as f32,
        logs().next().unwrap_or_default() as f32,
        sum as f32,
        (sum / length) as f32,
        (matches().sum::<f64>() / length) as f32,
        matches().next().unwrap_or_default() as f32,
        matches().fold(80.0, f64::min) as f32,
        length.ln() as f32,
        (lines as f32).ln_1p(),
        (length / ranked.guesses.len().max(1) as f64).ln() as f32,
        leaves.shared,
        leaves.probability.max(1e-6).ln() as f32,
        leaves.best.max(1e-6).ln() as f32,
        mode(GenerationMode::Statement),
        mode(GenerationMode::RestOfBlock),
        mode(GenerationMode::Body),
        flag(matches!(view.cursor.partial_token, PartialToken::Word { .. })),
        flag(matches!(view.cursor.partial_token, PartialToken::String { .. })),
        flag(view.family.is_indented()),
        view.cursor.open_brackets.min(5) as f32,
        ends(&[StopReason::TokenLimit]),
        ends(&[StopReason::Repetition, StopReason::SuffixReached]),
        ends(&[StopReason::NothingFound]),
        continuation as f32,
        different.len() as f32,
    ]
}

/// The point where a proposal diverges from another one.
struct Divergence {
    /// Share of the other proposal before that point, 0 to 1.
    shared: f32,
    /// The ranking's probabilities of both tokens at that point; 1 if the proposals do not diverge.
    probability: f64,
    best: f64,
}

impl Divergence {
    fn of(predictor: &mut Predictor, ranked: &DecodedTokens, written: &DecodedTokens) -> Divergence {
        let pairs = ranked.guesses.iter().zip(&written.guesses);
        let shared = pairs.take_while(|(ours, theirs)| ours.token == theirs.token).count();
        let share = shared as f32 / ranked.guesses.len().max(1) as f32;
        if ranked.has_same_tokens(written) {
            return Divergence { shared: 1.0, probability: 1.0, best: 1.0 };
        }
        let guesses = predictor.guesses(PredictionMethod::Ranked, &ranked.tokens_before(shared));
        let token: Option<TokenId> = written.guesses.get(shared).map(|guess| guess.token);
        let probability =
            guesses.iter().find(|guess| Some(guess.token) == token).map_or(0.0, |guess| guess.probability);
        Divergence {
            shared: share,
            probability,
            best: guesses.first().map_or(0.0, |guess| guess.probability),
        }
    }
}
