//! What one engine answered to one case.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;
use crate::case::{CaseId, words};

/// Which engine answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineIdentity {
    /// The user's name for it.
    pub name: String,
    /// Kind of engine, such as `builtin`.
    pub kind: String,
    /// Model it ran.
    pub model: String,
    /// Hash of everything that can change its answers.
    pub fingerprint: String,
}

words! {
    /// How an attempt ended.
    Status {
        /// With text.
        Ok = "ok",
        /// The engine chose to say nothing.
        Silent = "silent",
        /// A gate kept the text back, or kept the engine from being asked.
        Gated = "gated",
        /// The deadline passed.
        Timeout = "timeout",
        /// The request was cancelled.
        Cancelled = "cancelled",
        /// The engine failed.
        Error = "error",
    }
}

words! {
    /// Why an engine's text ended.
    Finish {
        /// The engine ended it.
        Stop = "stop",
        /// The token limit.
        Length = "length",
        /// Ghostbench stopped reading because the text was complete.
        Complete = "complete",
        /// Nothing was generated.
        None = "none",
    }
}

words! {
    /// What the times of an answer are that came from a cassette.
    Recorded {
        /// Those of the recording.
        Timed = "timed",
        /// Ours alone: how long the engine took is not recorded.
        Untimed = "untimed",
    }
}

/// Token counts as the engine reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Tokens of the question.
    #[serde(rename = "in")]
    pub input: u64,
    /// Tokens of the answer.
    #[serde(rename = "out")]
    pub output: u64,
    /// Tokens of the question that the engine had cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
}

/// What an answer cost, in the currency of the prices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Whether tokens were estimated, because the engine did not count them or was not heard to its end.
    pub is_estimated: bool,
}

/// Durations in milliseconds since the request was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionTimings {
    /// Until the context was gathered.
    pub gather: f64,
    /// Until the engine's first text; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    /// Until the answer was ready.
    pub total: f64,
}

words! {
    /// What a part of an answer is copied from.
    SpanSource {
        /// The case's file, before the cursor.
        Before = "before",
        /// The case's file, after the cursor.
        After = "after",
        /// Code that went with the question.
        Context = "context",
        /// Another file.
        File = "file",
    }
}

/// A name that is another one where the code was copied from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// The name there.
    pub there: String,
    /// The name in the answer.
    pub here: String,
}

/// Where a part of an answer stands already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The part, in bytes of the answer's text.
    pub range: Range<usize>,
    /// What it is copied from.
    pub from: SpanSource,
    /// The file, relative to the workspace root.
    pub path: String,
    /// The line that it begins in there, 0-based, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, 0-based, in UTF-16 units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character: Option<u32>,
    /// How many tokens before it are the same as those before the place that it was copied to.
    pub same: usize,
    /// How many are alike: names, strings and numbers may be others.
    pub alike: usize,
    /// The lowest probability of its tokens.
    pub probability: f64,
    /// Names that are others there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Rename>,
}

/// What one engine answered to one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Format version.
    pub schema: SchemaVersion,
    /// The case.
    pub case: CaseId,
    /// The engine.
    pub engine: EngineIdentity,
    /// Counts from 0 when a case is asked more than once.
    pub repetition: u32,
    /// How it ended.
    pub status: Status,
    /// Why, where the status needs a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The engine's text as it came.
    pub raw: String,
    /// The text as it would be inserted.
    pub text: String,
    /// Why the text ended.
    pub finish: Finish,
    /// Whether the deadline passed before the engine had finished: the text is what it had written by then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub late: bool,
    /// Token counts, where the engine reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts>,
    /// What it cost, where the engine has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Durations.
    pub ms: PredictionTimings,
    /// That the engine was not asked, but its answer came from a cassette; absent for one that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Where parts of the text stand already, in order, of engines that copy and tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Prediction {
    /// The first attempt at a case, without text, times and costs.
    pub fn empty(case: CaseId, engine: EngineIdentity, status: Status) -> Prediction {
        Prediction {
            schema: SchemaVersion::CURRENT,
            case,
            engine,
            repetition: 0,
            status,
            reason: None,
            raw: String::new(),
            text: String::new(),
            finish: Finish::None,
            late: false,
            tokens: None,
            cost: None,
            ms: PredictionTimings { gather: 0.0, first: None, total: 0.0 },
            recorded: None,
            spans: Vec::new(),
        }
    }

    /// Whether the engine failed: it gave neither text nor the answer that there is nothing to suggest.
    pub fn has_failed(&self) -> bool {
        matches!(self.status, Status::Timeout | Status::Cancelled | Status::Error)
    }

    /// Case, engine's name and repetition: what a run may hold only once.
    pub fn key(&self) -> (&str, &str, u32) {
        (&self.case, &self.engine.name, self.repetition)
    }
}
