//! Settings and results of the engine.

use std::collections::BTreeMap;
use std::ops::Range;

use config::Method;

use crate::candidates::TokenPosition;
use crate::models::Models;
use crate::vocabulary::TokenId;

/// Settings of a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuiltinSettings {
    /// Completion method.
    pub method: Method,
    /// Minimum probability that a completion is exactly right. Below it, only its beginning is shown, as far as that is almost certain.
    /// `None` shows everything.
    pub min_probability: Option<f64>,
    /// Minimum probability that the block continues at a blank line. Below it, nothing is shown there. `None` always completes.
    pub min_continuation: Option<f64>,
}

/// A suggestion should be right at least as often as wrong. With 0.25, as long as only whole statements were shown, a simulated typist saved
/// a quarter of the keys and saw something new and wrong at 4 of 100 requests; `docs/benchmarks.md` has the present figures.
const MIN_PROBABILITY: f64 = 0.5;
/// Suppresses completions after two thirds of the complete bodies, at the price of 3 % of the incomplete ones and half a point of
/// their exact matches; `docs/benchmarks.md` has the results of lower and higher values.
const MIN_CONTINUATION: f64 = 0.3;

/// Revision of the engine's rules: a change that gives other answers with the same weights increases it, so that their answers are those of
/// two engines.
const REVISION: u32 = 3;

impl BuiltinSettings {
    /// Settings for measurements: completions are not suppressed as unlikely, but complete bodies are left alone.
    pub fn for_replay() -> BuiltinSettings {
        BuiltinSettings {
            method: Method::Hybrid,
            min_probability: None,
            min_continuation: Some(MIN_CONTINUATION),
        }
    }

    /// Settings for an editor, where a wrong suggestion costs more than none.
    pub fn for_editor() -> BuiltinSettings {
        BuiltinSettings { min_probability: Some(MIN_PROBABILITY), ..BuiltinSettings::for_replay() }
    }

    /// Returns the settings by name, for a fingerprint.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let threshold =
            |least: Option<f64>| least.map_or_else(|| "none".to_owned(), |least| least.to_string());
        let weights =
            (self.method == Method::Hybrid).then(|| ("weights".to_owned(), Models::shipped().name()));
        let thresholds = [
            ("revision".to_owned(), REVISION.to_string()),
            ("min_probability".to_owned(), threshold(self.min_probability)),
            ("min_continuation".to_owned(), threshold(self.min_continuation)),
        ];
        thresholds.into_iter().chain(weights).collect()
    }
}

/// Reason why a completion ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The statement is complete.
    StatementEnd,
    /// The block is complete.
    BlockEnd,
    /// The next token is already behind the cursor.
    SuffixReached,
    /// The same tokens occurred three times in a row.
    Repetition,
    /// The token limit is reached.
    TokenLimit,
    /// Nothing in the workspace matches.
    NothingFound,
    /// Nothing to complete: the cursor is in a comment, or the block is complete.
    NothingNeeded,
    /// The rest is below the minimum probability.
    Unlikely,
    /// The caller cancelled.
    Cancelled,
}

impl StopReason {
    /// Returns the name used in predictions.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::StatementEnd => "the statement is complete",
            StopReason::BlockEnd => "the block is complete",
            StopReason::SuffixReached => "the following code is already there",
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
    /// Its text, independent of the open file's quotes; empty for a newline.
    pub text: String,
    /// Byte range in the completion's text, including preceding blanks; for a partial token, the missing part.
    pub range: Range<usize>,
    /// Probability that it comes next.
    pub probability: f64,
    /// Length of the match at the best position with this token, in tokens.
    pub match_len: f64,
    pub(crate) token: TokenId,
    pub(crate) position: TokenPosition,
}

/// A completion and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The text to insert at the cursor; may be empty.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<CompletionToken>,
    /// Whether the first token completes the partial one at the cursor.
    pub(crate) completes_partial: bool,
    /// Probability that it is exactly right; for withheld text, the probability of that text; 1 if nothing was found.
    pub trust: f64,
    /// Probability that the block continues, on a blank line; 1 elsewhere.
    pub continuation: f64,
    /// Reason for its end.
    pub stop: StopReason,
}

impl Completion {
    /// A text that was found or put together as a whole, without tokens.
    pub fn of_text(text: String) -> Completion {
        let stop = if text.is_empty() { StopReason::NothingFound } else { StopReason::BlockEnd };
        Completion { text, tokens: Vec::new(), completes_partial: false, trust: 1.0, continuation: 1.0, stop }
    }

    /// Returns the figures that decided about it, by name.
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
