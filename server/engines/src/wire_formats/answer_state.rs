//! State of an answer while it is parsed.

use std::time::Duration;

use serde_json::Value;

use crate::{FinishReason, ServerTimings, Usage};

/// Why an event is malformed: the rest of a sentence, without code.
pub(crate) type MalformedReason = &'static str;

/// An answer that is being parsed.
#[derive(Debug, Default)]
pub(crate) struct AnswerState {
    /// Text of the events that hasn't been consumed.
    pub(crate) text: String,
    /// Finish reason.
    pub(crate) finish: Option<FinishReason>,
    /// Whether this was the last event.
    pub(crate) is_finished: bool,
    /// Token counts.
    pub(crate) usage: Option<Usage>,
    /// The server's own measurements.
    pub(crate) timings: Option<ServerTimings>,
    /// The prompt that the server built, if reported.
    pub(crate) prompt: Option<String>,
    /// Why the answer is empty, if reported.
    pub(crate) silence: Option<&'static str>,
}

impl AnswerState {
    /// Sets the finish reason from any server's name for it.
    pub(crate) fn set_finish(&mut self, reason: Option<&str>) {
        let Some(reason) = reason else { return };
        self.finish = Some(match reason {
            "length" | "max_tokens" | "limit" | "model_length" => FinishReason::Length,
            _ => FinishReason::Stop,
        });
        if matches!(reason, "content_filter" | "refusal" | "safety") {
            self.silence = Some("the server withheld its answer");
        }
    }
}

/// Converts a number of milliseconds to a duration; `None` if invalid.
pub(super) fn milliseconds(value: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(value.as_f64()? / 1e3).ok()
}

/// Converts a number of nanoseconds to a duration.
pub(super) fn nanoseconds(value: &Value) -> Option<Duration> {
    value.as_u64().map(Duration::from_nanos)
}
