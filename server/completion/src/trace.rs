//! What came out, and how it came about.

use std::ops::Range;
use std::time::Duration;

use crate::explain::Explanation;
use crate::gate::Gate;

/// A piece of code from elsewhere that goes with the question.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrievedContext {
    /// File it comes from, relative to the workspace root.
    pub path: String,
    /// The code.
    pub text: String,
    /// Its first line in that file, 0-based; `None` where it is put together from several places.
    pub first_line: Option<u32>,
    /// The strategy that chose it.
    pub strategy: String,
    /// Its score there; higher is nearer.
    pub score: f64,
}

/// The first of `indentation`, if `text` is just these and not put together from several places.
pub fn first_line(lines: Range<u32>, text: &str) -> Option<u32> {
    let is_whole = usize::try_from(lines.end.saturating_sub(lines.start))
        .is_ok_and(|count| count == text.lines().count());
    is_whole.then_some(lines.start)
}

/// How a request ended.
#[derive(Debug)]
pub enum OutcomeStatus {
    /// With text to insert.
    Ok,
    /// The engine had nothing to say, or nothing was left of what it said.
    Silent(&'static str),
    /// A gate closed.
    Gated(Gate),
    /// The deadline passed.
    Timeout,
    /// The request was cancelled.
    Cancelled,
    /// The engine failed.
    Failed(engines::EngineError),
}

/// What of an answer a change leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptPart {
    /// Its beginning.
    Beginning,
    /// Its end.
    End,
    /// All but blanks, which may be others.
    Code,
}

/// A change to an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterChange {
    /// The filter that made it.
    pub filter: &'static str,
    /// What of the answer is left.
    pub kept: KeptPart,
    /// The answer as it was before.
    pub before: String,
}

/// Where an engine's times come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimingSource {
    /// It was asked, and they were measured.
    #[default]
    Measured,
    /// It was not asked: they are those of a recording, whose last piece came so long after the question.
    Recorded(Duration),
    /// It was not asked, and nobody knows how long it took: they are ours alone.
    Unknown,
}

impl TimingSource {
    /// How far a recording is ahead of the clock on the wall.
    pub(crate) fn recording_lead(self) -> Duration {
        match self {
            TimingSource::Recorded(after) => after,
            TimingSource::Measured | TimingSource::Unknown => Duration::ZERO,
        }
    }
}

/// Times since the request was made; the engine's part as the clock says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the context was gathered.
    pub gather: Duration,
    /// Until the first text of the engine, if there was any.
    pub first: Option<Duration>,
    /// Until the outcome.
    pub total: Duration,
    /// Whether the engine's part was measured.
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
    pub context: Vec<RetrievedContext>,
    /// Whether choosing context took too long, so that there is none.
    pub is_context_late: bool,
    /// Whether the deadline passed before the engine had finished; what it had written by then may be shown all the same.
    pub is_late: bool,
    /// How much was sent.
    pub request_size: RequestSize,
    /// The prompt as it was rendered for a model, where the engine has one.
    pub prompt: Option<String>,
    /// The engine's text as it came.
    pub received: String,
    /// How the engine's answer ended; `None` if it had not at the deadline.
    pub finish: Option<engines::FinishReason>,
    /// How likely the answer is right, where the engine knows.
    pub confidence: Option<f64>,
    /// Token counts, where the engine reports them.
    pub usage: Option<engines::Usage>,
    /// Where the engine says its time went.
    pub server: Option<engines::ServerTimings>,
    /// How often the engine was asked before it answered.
    pub refusals: u32,
    /// What filters changed, in order.
    pub cuts: Vec<FilterChange>,
    /// Where the text comes from, if that was asked for and the engine knows.
    pub explanation: Option<Explanation>,
    /// When.
    pub timings: Timings,
}

/// A text that could be inserted instead, cleaned as the other.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanedAlternative {
    /// The text; never empty.
    pub text: String,
    /// Where it comes from, if that was asked for and the engine knows.
    pub explanation: Option<Explanation>,
}

/// What came of a request.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: OutcomeStatus,
    /// The text to insert at the cursor; empty unless the status is [`OutcomeStatus::Ok`].
    pub text: String,
    /// What else could be inserted, best first, where a person asked by key. Nothing that measures looks at it.
    pub alternatives: Vec<CleanedAlternative>,
    /// How it came about.
    pub trace: Trace,
}
