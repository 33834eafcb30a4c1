//! The last requests for the ghost text of a document: of the editor, and to an engine. In memory only, one of each for a document, so
//! that developers can see which code leaves their editor.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cases::Status;
use completion::{Outcome, Snippet};
use text::Position;

/// Maximum bytes of a kept text. Prompts and answers of real models are shorter.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// A request of the editor that was answered, rather than superseded.
#[derive(Clone, Debug, PartialEq)]
pub struct EditorRequestRecord {
    /// Time of its answer.
    pub answered_at: SystemTime,
    /// The cursor, as the editor counts.
    pub position: Position,
    /// Whether it was invoked explicitly.
    pub is_invoked: bool,
    /// Name of the engine that writes; `None` if it was answered before one was chosen.
    pub engine: Option<String>,
    /// Whether the developer must not know the engine.
    pub is_blind: bool,
    /// How it ended: the word of the protocol.
    pub status: String,
    /// Why there was no text.
    pub reason: Option<String>,
    /// From its arrival to its answer.
    pub took: Duration,
    /// The texts that were offered, best first.
    pub items: Vec<String>,
}

/// A request to an engine that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineRequestRecord {
    /// Name of the engine.
    pub engine: String,
    /// When it was asked.
    pub asked_at: SystemTime,
    /// How it ended.
    pub status: Status,
    /// Why, if the status needs a reason.
    pub reason: Option<String>,
    /// Until it ended.
    pub took: Duration,
    /// The strategy that chose the context.
    pub strategy: &'static str,
    /// Code from elsewhere that was part of the request, nearest first.
    pub context: Arc<[Snippet]>,
    /// The prompt; `None` for engines without one.
    pub prompt: Option<String>,
    /// The answer as it was received.
    pub received: String,
    /// Whether the prompt or the answer was cut for its length.
    pub is_cut: bool,
}

impl EngineRequestRecord {
    /// Returns the record of a request that was sent at `asked_at` and ended with this outcome.
    pub fn new(
        engine: &str,
        strategy: &'static str,
        asked_at: SystemTime,
        outcome: &Outcome,
    ) -> EngineRequestRecord {
        let (status, reason) = replay::outcome_status(&outcome.status);
        let trace = &outcome.trace;
        let prompt = trace.prompt.as_deref();
        let is_cut = [prompt.unwrap_or_default(), &trace.received].iter().any(|it| it.len() > MAX_TEXT_BYTES);
        EngineRequestRecord {
            engine: engine.to_owned(),
            asked_at,
            status,
            reason,
            took: trace.timings.total,
            strategy,
            context: Arc::clone(&trace.context),
            prompt: prompt.map(beginning),
            received: beginning(&trace.received),
            is_cut,
        }
    }
}

fn beginning(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
}

/// The last requests of a document.
#[derive(Clone, Debug, Default)]
pub struct LastRequests {
    /// The one of the editor.
    pub editor: Option<Arc<EditorRequestRecord>>,
    /// The one to an engine, which may have been for an earlier request of the editor.
    pub engine: Option<Arc<EngineRequestRecord>>,
}

#[cfg(test)]
mod tests {
    use completion::{OutcomeStatus, Trace};

    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let outcome = |length: usize| Outcome {
            status: OutcomeStatus::Ok,
            text: String::new(),
            alternatives: Vec::new(),
            trace: Trace { prompt: Some("é".repeat(length)), received: "x".to_owned(), ..Trace::default() },
        };
        let record = |length| EngineRequestRecord::new("e", "none", SystemTime::UNIX_EPOCH, &outcome(length));
        let whole = record(MAX_TEXT_BYTES / 2);
        assert!(!whole.is_cut && whole.prompt.is_some_and(|prompt| prompt.len() == MAX_TEXT_BYTES));
        let cut = record(MAX_TEXT_BYTES / 2 + 1);
        assert!(cut.is_cut && cut.prompt.is_some_and(|prompt| prompt.len() == MAX_TEXT_BYTES));
    }
}
