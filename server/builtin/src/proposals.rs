//! What different ways of predicting write, side by side, and which of it is shown.
//!
//! Each way is right at other places, and where several agree they are mostly right (feasibility study, section 8.8). They share what
//! is found out about a context, so that as long as they write the same they cost little more than one.

use crate::cursor::{Mode, Typed};
use crate::decode::{self, Written};
use crate::models::Models;
use crate::nearest;
use crate::predict::{Model, Predictor};
use crate::settings::StopReason;
use crate::view::View;
use crate::vocabulary::{TokenId, is_newline};

/// A way to write; the first ones are taken where nothing speaks for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Model(Model),
    NearestCopy,
}

/// What the mean of voting and counting writes is missing: the ranking knows it, and writes better.
const SOURCES: [Source; 4] = [
    Source::Model(Model::Ranked),
    Source::Model(Model::Vote),
    Source::Model(Model::LongestMatch),
    Source::NearestCopy,
];

/// What is known of a proposal.
pub(crate) const FEATURES: [&str; 30] = [
    // Who wrote it, and how many did.
    "ranked",
    "vote",
    "longest",
    "nearest",
    "sources",
    // Its tokens' probabilities, as logarithms, by who wrote it first.
    "least",
    "first",
    "sum",
    "mean",
    // How far their best places match.
    "mean_match",
    "first_match",
    "least_match",
    // Its length, in tokens, lines, and against the ranking's own.
    "length",
    "lines",
    "against_ranked",
    // Where it leaves what the ranking writes: after which share, with which probability, against which.
    "shared",
    "left",
    "left_best",
    // What is asked for.
    "statement",
    "rest_of_block",
    "body",
    "is_word",
    "is_string",
    "is_indented",
    "open_brackets",
    // How it ends.
    "is_limited",
    "is_cut",
    "is_lost",
    // How likely the block goes on, and how many different proposals there are.
    "continuation",
    "proposals",
];

/// Something that could be shown.
pub(crate) struct Proposal {
    pub(crate) written: Written,
    pub(crate) features: [f32; FEATURES.len()],
}

/// All different proposals, the one of the ranking first. Empty ones are left out.
pub(crate) fn proposals(
    view: &View,
    predictor: &mut Predictor,
    continuation: f64,
    keep_going: &mut dyn FnMut() -> bool,
) -> Vec<Proposal> {
    let mut different: Vec<(Written, Vec<Source>)> = Vec::new();
    for source in SOURCES {
        let written = match source {
            Source::Model(model) => decode::write(view, predictor, model, keep_going),
            Source::NearestCopy => nearest::copy_among_candidates(view, predictor),
        };
        match different.iter_mut().find(|(other, _)| other.is_same(&written)) {
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

/// The proposals by how good the models think they are, the first of equals first.
pub(crate) fn best_first(mut proposals: Vec<Proposal>, models: &Models) -> Vec<Proposal> {
    let score = |proposal: &Proposal| models.choosing.score(&proposal.features);
    proposals.sort_by(|one, other| score(other).total_cmp(&score(one)));
    proposals
}

fn features(
    view: &View,
    predictor: &mut Predictor,
    continuation: f64,
    written: &Written,
    sources: &[Source],
    different: &[(Written, Vec<Source>)],
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
    let leaves = Leaving::of(predictor, ranked, written);
    let mode = |mode: Mode| flag(view.cursor.mode == mode);
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
        mode(Mode::Statement),
        mode(Mode::RestOfBlock),
        mode(Mode::Body),
        flag(matches!(view.cursor.typed, Typed::Word { .. })),
        flag(matches!(view.cursor.typed, Typed::String { .. })),
        flag(view.family.is_indented()),
        view.cursor.open_brackets.min(5) as f32,
        ends(&[StopReason::TokenLimit]),
        ends(&[StopReason::Repetition, StopReason::SuffixReached]),
        ends(&[StopReason::NothingFound]),
        continuation as f32,
        different.len() as f32,
    ]
}

/// Where a proposal leaves another one.
struct Leaving {
    /// How much of the other it shares, 0 to 1.
    shared: f32,
    /// The ranking's probability of what it writes there, and of what the other writes; 1 where they are the same.
    probability: f64,
    best: f64,
}

impl Leaving {
    fn of(predictor: &mut Predictor, ranked: &Written, written: &Written) -> Leaving {
        let pairs = ranked.guesses.iter().zip(&written.guesses);
        let shared = pairs.take_while(|(ours, theirs)| ours.token == theirs.token).count();
        let share = shared as f32 / ranked.guesses.len().max(1) as f32;
        if ranked.is_same(written) {
            return Leaving { shared: 1.0, probability: 1.0, best: 1.0 };
        }
        let guesses = predictor.guesses(Model::Ranked, &ranked.tokens_before(shared));
        let token: Option<TokenId> = written.guesses.get(shared).map(|guess| guess.token);
        let probability =
            guesses.iter().find(|guess| Some(guess.token) == token).map_or(0.0, |guess| guess.probability);
        Leaving { shared: share, probability, best: guesses.first().map_or(0.0, |guess| guess.probability) }
    }
}
