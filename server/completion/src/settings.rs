//! Settings of completions.

use std::collections::BTreeMap;
use std::time::Duration;

use engines::Engine;
use index::{Strategy, TokenBudget};

/// Settings of a completion; the same for every compared engine.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionSettings {
    /// Time limit of the whole completion: context and engine.
    pub deadline: Duration,
    /// Minimum probability of the least likely token of a shown answer; `None` shows all.
    pub min_confidence: Option<f64>,
    /// Whether known files with a copy of the code that belongs at the cursor are hidden from the engine.
    pub hide_near_duplicates: bool,
    /// Whether the completion was invoked explicitly; engines then do not withhold uncertain answers.
    pub invoked: bool,
    /// Whether the outcome explains the sources of the text. Changes no answer.
    pub explain: bool,
    /// How context is chosen for requests that do not bring their own.
    pub strategy: Strategy,
    /// How much context is chosen.
    pub budget: TokenBudget,
}

/// As much as a model of a few billion parameters reads in some ten milliseconds, and twice the budget used to measure strategies.
const EDITOR_BUDGET: TokenBudget = TokenBudget { tokens: 1024 };

/// Ten seconds is the limit for keeping the user's attention on one task (J. Nielsen, Usability Engineering, 1993). Half of it
/// is enough for a small model on an idle processor, and leaves the reader some time as well.
const EDITOR_DEADLINE: Duration = Duration::from_secs(5);

/// Factor from the deadline of a completion to that of a task without a cursor: its prompt can have 32 k tokens instead of 4 k.
const FUNCTION_PATIENCE: u32 = 10;

/// Size of a prompt in bytes, about 32 k tokens, from which on the deadline grows with it.
const PATIENT_PROMPT_BYTES: usize = 128 << 10;

impl CompletionSettings {
    /// Settings for measuring: nothing is withheld, slow engines get their time, and cases bring the same context for all engines.
    pub fn for_replay() -> CompletionSettings {
        CompletionSettings {
            deadline: Duration::from_secs(30),
            min_confidence: None,
            hide_near_duplicates: false,
            invoked: false,
            explain: true,
            strategy: Strategy::None,
            budget: EDITOR_BUDGET,
        }
    }

    /// Settings for automatic ghost text. The engine's own setting decides how certain it has to be.
    pub fn for_editor() -> CompletionSettings {
        CompletionSettings {
            deadline: EDITOR_DEADLINE,
            strategy: Strategy::Hybrid,
            explain: false,
            ..CompletionSettings::for_replay()
        }
    }

    /// Returns these settings for an explicit invocation: no uncertain text is withheld.
    #[must_use]
    pub fn invoked(self) -> CompletionSettings {
        CompletionSettings { invoked: true, min_confidence: None, ..self }
    }

    /// Returns whether context from other files is chosen for requests to this engine.
    pub fn retrieves_for(&self, engine: &dyn Engine) -> bool {
        self.strategy != Strategy::None && engine.reads_context()
    }

    /// Returns the time limit of a task without a cursor, whose prompt has this many bytes.
    pub fn function_deadline(&self, prompt_bytes: usize) -> Duration {
        let times = u32::try_from(prompt_bytes.div_ceil(PATIENT_PROMPT_BYTES)).unwrap_or(u32::MAX);
        (self.deadline * FUNCTION_PATIENCE).saturating_mul(times.max(1))
    }

    /// Returns the time limit for choosing context: half the deadline, as the engine can answer without context.
    pub fn context_timeout(&self) -> Duration {
        self.deadline / 2
    }

    /// Returns the settings by name, as recorded in a run's description and an engine's fingerprint.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let min_confidence = self.min_confidence.map_or_else(|| "none".to_owned(), |least| least.to_string());
        [
            ("deadline_ms".to_owned(), self.deadline.as_millis().to_string()),
            ("min_confidence".to_owned(), min_confidence),
            ("hide_near_duplicates".to_owned(), self.hide_near_duplicates.to_string()),
            ("invoked".to_owned(), self.invoked.to_string()),
            ("context".to_owned(), self.strategy.name().to_owned()),
            ("context_tokens".to_owned(), self.budget.tokens.to_string()),
        ]
        .into()
    }
}
