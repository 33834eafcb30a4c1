//! What is known of an answer while it comes.

use std::time::Duration;

use serde_json::Value;

use crate::{Finish, ServerTimings, Usage};

/// Why an event is none of its format: the rest of a sentence, without code.
pub(crate) type Wrong = &'static str;

/// An answer that is being read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Text of the events since it was last taken.
    pub(crate) text: String,
    /// How the model ended it.
    pub(crate) finish: Option<Finish>,
    /// Whether nothing comes after this event.
    pub(crate) is_over: bool,
    /// Token counts.
    pub(crate) usage: Option<Usage>,
    /// The server's own measurements.
    pub(crate) timings: Option<ServerTimings>,
    /// The prompt that the server put together, where it tells.
    pub(crate) prompt: Option<String>,
    /// Why there is nothing, where the server says so.
    pub(crate) silence: Option<&'static str>,
}

impl Reading {
    /// Takes a reason to end, in the words of any server.
    pub(crate) fn finish(&mut self, reason: Option<&str>) {
        let Some(reason) = reason else { return };
        self.finish = Some(match reason {
            "length" | "max_tokens" | "limit" | "model_length" => Finish::Length,
            _ => Finish::Stop,
        });
        if matches!(reason, "content_filter" | "refusal" | "safety") {
            self.silence = Some("the server keeps its answer back");
        }
    }
}

/// A number of milliseconds as a duration; what is none is left out.
pub(super) fn milliseconds(value: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(value.as_f64()? / 1e3).ok()
}

/// A number of nanoseconds as a duration.
pub(super) fn nanoseconds(value: &Value) -> Option<Duration> {
    value.as_u64().map(Duration::from_nanos)
}
