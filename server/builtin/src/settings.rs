//! What a caller can choose, and what it gets.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::candidates::Place;
use crate::models::Models;
use crate::vocabulary::TokenId;

/// How completions are made. All but [`Method::Hybrid`] are there to be measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Writes nothing.
    Empty,
    /// Copies what follows the place whose surroundings share the most tokens.
    NearestLine,
    /// Takes the majority after the longest match, token by token.
    LongestMatch,
    /// Counts and votes with substitution, each with an equal say, and weighs nothing else.
    Mixed,
    /// The engine: chooses among what a fitted ranking of tokens and the plainer methods propose.
    Hybrid,
}

impl Method {
    /// The method's name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Empty => "empty",
            Method::NearestLine => "nearest-line",
            Method::LongestMatch => "longest-match",
            Method::Mixed => "mixed",
            Method::Hybrid => "hybrid",
        }
    }
}

/// What a caller can choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How completions are made.
    pub method: Method,
    /// The rest of a statement that is less likely exactly right is not shown, and of a block at most its first statement; `None` shows
    /// everything.
    pub min_probability: Option<f64>,
    /// On a blank line nothing is written when the model is less sure that the block goes on; `None` always writes.
    pub min_continuation: Option<f64>,
}

/// Of the statements of `docs/benchmarks.md`, more than half pass, and two thirds of those are exactly right: a threshold below the share
/// that is wanted, since most of what passes is far above it.
const MIN_PROBABILITY: f64 = 0.25;
/// Leaves two thirds of the complete bodies alone, at the price of 3 % of the incomplete ones and half a point of their exact matches;
/// `docs/benchmarks.md` has what lower and higher ones would do.
const MIN_CONTINUATION: f64 = 0.3;

impl Settings {
    /// For measuring: nothing is kept back for being unlikely, but a body that seems complete is left alone.
    pub fn for_replay() -> Settings {
        Settings { method: Method::Hybrid, min_probability: None, min_continuation: Some(MIN_CONTINUATION) }
    }

    /// For a person, whom a wrong suggestion costs more than none.
    pub fn for_editor() -> Settings {
        Settings { min_probability: Some(MIN_PROBABILITY), ..Settings::for_replay() }
    }

    /// The settings by name, as they go into a fingerprint.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let threshold =
            |least: Option<f64>| least.map_or_else(|| "none".to_owned(), |least| least.to_string());
        let weights =
            (self.method == Method::Hybrid).then(|| ("weights".to_owned(), Models::shipped().name()));
        let thresholds = [
            ("min_probability".to_owned(), threshold(self.min_probability)),
            ("min_continuation".to_owned(), threshold(self.min_continuation)),
        ];
        thresholds.into_iter().chain(weights).collect()
    }
}

/// Why a completion ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The statement is complete.
    StatementEnd,
    /// The block is complete.
    BlockEnd,
    /// What comes next is already there.
    SuffixReached,
    /// The same tokens came three times in a row.
    Repetition,
    /// The limit of tokens is reached.
    TokenLimit,
    /// Nothing in the workspace resembles this place.
    NothingFound,
    /// There is nothing to complete here: the cursor is in a comment, or the block is complete.
    NothingNeeded,
    /// The rest is less likely than the caller wants.
    Unlikely,
    /// The caller had enough.
    Cancelled,
}

impl StopReason {
    /// The reason in the words of predictions.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::StatementEnd => "the statement is complete",
            StopReason::BlockEnd => "the block is complete",
            StopReason::SuffixReached => "what comes next is already there",
            StopReason::Repetition => "it repeats itself",
            StopReason::TokenLimit => "the limit of tokens is reached",
            StopReason::NothingFound => "nothing in the workspace resembles this place",
            StopReason::NothingNeeded => "there is nothing to complete here",
            StopReason::Unlikely => "the rest is unlikely",
            StopReason::Cancelled => "cancelled",
        }
    }
}

/// One token of a completion.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionToken {
    /// Its text, whatever the open file quotes literals with; empty for a newline.
    pub text: String,
    /// Where it stands in the completion's text, with the blanks before it; of a token that is typed in part, what is missing.
    pub range: Range<usize>,
    /// How likely it is to come next.
    pub probability: f64,
    /// How far the best place that it was seen in matches, in tokens.
    pub match_len: f64,
    pub(crate) token: TokenId,
    pub(crate) place: Place,
}

/// A completion with the reasons for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The text to insert at the cursor; may be empty.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<CompletionToken>,
    /// Whether the first token is the one at the cursor, which is typed in part.
    pub(crate) ends_typed: bool,
    /// How likely it is exactly what is wanted, or what was held back for being unlikely would have been; 1 where nothing was found.
    pub trust: f64,
    /// How likely the block goes on, on a blank line; 1 elsewhere.
    pub continuation: f64,
    /// Why it ends.
    pub stop: StopReason,
}

impl Completion {
    /// What decided about it, by name.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        let is_written = !self.tokens.is_empty();
        let is_on_blank_line = self.continuation < 1.0;
        let figures = [
            (is_written || self.stop == StopReason::Unlikely)
                .then_some(("probability that it is exactly right", self.trust)),
            is_on_blank_line.then_some(("likelihood that the block goes on", self.continuation)),
        ];
        figures.into_iter().flatten().collect()
    }
}
