//! The answer of one engine to one case.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;
use crate::case::CaseId;
use crate::string_enum::string_enum;

/// Identity of the answering engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineIdentity {
    /// Name given by the user.
    pub name: String,
    /// Kind of engine, e.g. `builtin`.
    pub kind: String,
    /// Name of its model.
    pub model: String,
    /// Hash of everything that can change its answers.
    pub fingerprint: String,
}

string_enum! {
    /// Outcome of an attempt.
    Status {
        /// The engine returned text.
        Ok = "ok",
        /// The engine decided to return no text.
        Silent = "silent",
        /// A confidence gate suppressed the text or skipped the request.
        Gated = "gated",
        /// The deadline passed.
        Timeout = "timeout",
        /// The request was cancelled.
        Cancelled = "cancelled",
        /// The engine failed.
        Error = "error",
    }
}

string_enum! {
    /// Why an engine's text ended.
    Finish {
        /// The engine ended it.
        Stop = "stop",
        /// The token limit was reached.
        Length = "length",
        /// Ghostbench stopped reading because the text was complete.
        Complete = "complete",
        /// Nothing was generated.
        None = "none",
    }
}

string_enum! {
    /// How a task without a cursor is put to an engine.
    AnswerForm {
        /// As the original's prompt, in a chat.
        Chat = "chat",
        /// As code to continue: the context and the description as comments, or the beginning of the function.
        FillIn = "fill_in",
        /// Without a prompt: the function whose words are the most similar to the description.
        Retrieval = "retrieval",
    }
}

string_enum! {
    /// Meaning of the times of an answer replayed from a cassette.
    Recorded {
        /// The times of the recording.
        Timed = "timed",
        /// Only our own processing time: the recording has no engine times.
        Untimed = "untimed",
    }
}

string_enum! {
    /// A sign that an engine gets its prompts in the wrong form, found in its raw answer and not in the truth.
    PromptSymptom {
        /// Special tokens of another template, as text.
        Tokens = "tokens",
        /// A sentence for people.
        Prose = "prose",
        /// A fence of Markdown.
        Fence = "fence",
        /// The text before the hole again.
        Echo = "echo",
    }
}

/// Token counts reported by the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Input tokens.
    #[serde(rename = "in")]
    pub input: u64,
    /// Output tokens.
    #[serde(rename = "out")]
    pub output: u64,
    /// Input tokens that were read from the engine's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
}

/// Cost of an answer, in the currency of the prices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Amount.
    pub amount: f64,
    /// Whether token counts are estimated, because the engine did not report them or the stream was not read to its end.
    pub is_estimated: bool,
}

/// Durations in milliseconds since the start of the request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionTimings {
    /// Time until the context was gathered.
    pub gather: f64,
    /// Time until the engine's first text; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    /// Time until the answer was ready.
    pub total: f64,
}

string_enum! {
    /// Source of a copied part of an answer.
    SpanSource {
        /// The case's file, before the cursor.
        Before = "before",
        /// The case's file, after the cursor.
        After = "after",
        /// Context items of the request.
        Context = "context",
        /// Another file.
        File = "file",
    }
}

/// A name that differs between the answer and the copied code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// The name in the copied code.
    pub there: String,
    /// The name in the answer.
    pub here: String,
}

/// A part of an answer that was copied from existing code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Range of the part, in bytes of the answer's text.
    pub range: Range<usize>,
    /// Source of the copy.
    pub from: SpanSource,
    /// File, relative to the workspace root.
    pub path: String,
    /// Line of its start in the file, 0-based, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, 0-based, in UTF-16 units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character: Option<u32>,
    /// Number of identical tokens before the source and before the answer.
    pub same: usize,
    /// Number of similar tokens there: names, strings and numbers may differ.
    pub alike: usize,
    /// Lowest probability of its tokens.
    pub probability: f64,
    /// Names that differ from the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Rename>,
}

/// The answer of one engine to one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Format version.
    pub schema: SchemaVersion,
    /// The case.
    pub case: CaseId,
    /// The engine.
    pub engine: EngineIdentity,
    /// Repetition of the same case, from 0.
    pub repetition: u32,
    /// Number of requests so far, from 1: a failed one can be repeated. The rows of earlier attempts precede this one.
    #[serde(default = "first_attempt", skip_serializing_if = "is_first_attempt")]
    pub attempt: u32,
    /// Outcome.
    pub status: Status,
    /// Reason of the status, if it needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The engine's unmodified text.
    pub raw: String,
    /// The text to insert.
    pub text: String,
    /// Why the text ended.
    pub finish: Finish,
    /// Whether the deadline passed before the engine finished; the text is then its output so far.
    #[serde(default, skip_serializing_if = "is_false")]
    pub late: bool,
    /// Token counts, if the engine reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts>,
    /// Cost, if the engine has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Durations.
    pub ms: PredictionTimings,
    /// Set if the answer was replayed from a cassette instead of requested from the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Whether this is the answer to the same engine with all files, because hiding files did not change the request.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reused: bool,
    /// Signs of a wrong prompt in the raw answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symptoms: Vec<PromptSymptom>,
    /// Copied parts of the text, in order, for engines that report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// How a task without a cursor was put to the engine; `None` for completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<AnswerForm>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn first_attempt() -> u32 {
    1
}

fn is_first_attempt(attempt: &u32) -> bool {
    *attempt == first_attempt()
}

impl Prediction {
    /// Creates the first attempt at a case, without text, times and costs.
    pub fn empty(case: CaseId, engine: EngineIdentity, status: Status) -> Prediction {
        Prediction {
            schema: SchemaVersion::CURRENT,
            case,
            engine,
            repetition: 0,
            attempt: first_attempt(),
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
            reused: false,
            symptoms: Vec::new(),
            spans: Vec::new(),
            form: None,
        }
    }

    /// Whether the engine failed: it returned neither text nor the decision to suggest nothing.
    pub fn has_failed(&self) -> bool {
        matches!(self.status, Status::Timeout | Status::Cancelled | Status::Error)
    }

    /// Returns the number of requests to the engine that this answer took, failed attempts included.
    pub fn requests(&self) -> u64 {
        if self.reused { 0 } else { u64::from(self.attempt) }
    }

    /// Whether a gate before the engine prevented the request.
    pub fn is_unasked(&self) -> bool {
        self.status == Status::Gated && self.raw.is_empty()
    }

    /// Returns case, engine name and repetition, which are unique within a run.
    pub fn key(&self) -> (&str, &str, u32) {
        (&self.case, &self.engine.name, self.repetition)
    }
}
