//! Outcomes of completions, and traces of how they came about.

use std::sync::Arc;
use std::time::Duration;

use text::{Edit, Snippet};

use crate::explain::Explanation;
use crate::gate::Gate;

/// How a request ended.
#[derive(Debug)]
pub enum OutcomeStatus {
    /// With text to insert.
    Ok,
    /// The engine's answer was empty, or nothing was left of it after cleaning.
    Silent(&'static str),
    /// A gate rejected it.
    Gated(Gate),
    /// The deadline passed.
    Timeout,
    /// The request was cancelled.
    Cancelled,
    /// The engine failed.
    Failed(engines::EngineError),
}

/// The part of an answer that a change preserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptPart {
    /// Its beginning.
    Beginning,
    /// Its end.
    End,
    /// All except blanks, which may differ.
    Code,
}

/// A change to an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterChange {
    /// The filter that made it.
    pub filter: &'static str,
    /// The preserved part of the answer.
    pub kept: KeptPart,
    /// The answer before the change.
    pub before: String,
}

/// Source of an engine's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimingSource {
    /// Measured with a real request.
    #[default]
    Measured,
    /// Taken from a recording; holds the recorded time from the request to the last piece.
    Recorded(Duration),
    /// Replayed from a recording without times: they include our part only.
    Unknown,
}

impl TimingSource {
    /// Returns the recorded latency that is added to the measured time.
    pub(crate) fn recording_lead(self) -> Duration {
        match self {
            TimingSource::Recorded(after) => after,
            TimingSource::Measured | TimingSource::Unknown => Duration::ZERO,
        }
    }
}

/// Times since the start of the request; the source of the engine's part is in `clock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the context was gathered.
    pub gather: Duration,
    /// Until the first text of the engine, if there was any.
    pub first: Option<Duration>,
    /// Until the outcome.
    pub total: Duration,
    /// Source of the engine's part.
    pub clock: TimingSource,
}

/// Sizes of a request, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestSize {
    /// Text before the cursor.
    pub prefix: usize,
    /// Text after it.
    pub suffix: usize,
    /// Code from elsewhere.
    pub context: usize,
}

/// How an outcome came about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The context that was gathered, nearest first.
    pub context: Arc<[Snippet]>,
    /// Whether choosing context took too long, so that there is none.
    pub is_context_late: bool,
    /// Whether the deadline passed before the engine had finished; the part received by then may be shown.
    pub is_late: bool,
    /// Sizes of the request.
    pub request_size: RequestSize,
    /// The prompt rendered for a model, if the engine has one.
    pub prompt: Option<String>,
    /// The engine's raw text.
    pub received: String,
    /// The beginning of what the model wrote, before the engine parsed it; empty for engines without a parser.
    pub model_text: String,
    /// The engine's edits of other text than an insertion at the cursor. An answer with any is not shown.
    pub edits: Vec<Edit>,
    /// How the engine's answer ended; `None` if it was unfinished at the deadline.
    pub finish: Option<engines::FinishReason>,
    /// The engine's confidence, if known.
    pub confidence: Option<f64>,
    /// Token counts, if the engine reports them.
    pub usage: Option<engines::Usage>,
    /// The engine's own timings, if it reports them.
    pub server: Option<engines::ServerTimings>,
    /// Number of failed attempts before the answer.
    pub refusals: u32,
    /// Changes by filters, in order.
    pub cuts: Vec<FilterChange>,
    /// The sources of the text, if requested and known by the engine.
    pub explanation: Option<Explanation>,
    /// Durations.
    pub timings: Timings,
}

/// An alternative text to insert, cleaned like the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanedAlternative {
    /// The text; never empty.
    pub text: String,
    /// The sources of the text, if requested and known by the engine.
    pub explanation: Option<Explanation>,
}

/// Result of a completion.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: OutcomeStatus,
    /// The text to insert at the cursor; empty unless the status is [`OutcomeStatus::Ok`].
    pub text: String,
    /// Other texts to insert, best first; only on explicit invocation, and in duels of engines. Measurements ignore them.
    pub alternatives: Vec<CleanedAlternative>,
    /// How it came about.
    pub trace: Trace,
}
