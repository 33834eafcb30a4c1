//! What can be set about completing.

use std::collections::BTreeMap;
use std::time::Duration;

use index::{Strategy, TokenBudget};

/// How completions are made; the same for every engine that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletionSettings {
    /// All must be done by then: choosing context and the engine.
    pub deadline: Duration,
    /// Answers whose least sure token is less probable than this are kept back; `None` shows all.
    pub min_confidence: Option<f64>,
    /// Whether files that hold a copy of the text that belongs at the cursor are kept out of the engine's sight, where they are known.
    pub hide_near_duplicates: bool,
    /// Whether a person asked by key, so that engines keep nothing back for being doubtful.
    pub invoked: bool,
    /// Whether the outcome is to say where the text comes from. Changes no answer.
    pub explain: bool,
    /// How code from elsewhere is chosen, for requests that do not bring it.
    pub strategy: Strategy,
    /// How much of it.
    pub budget: TokenBudget,
}

/// What a model of a few billion parameters reads in some ten milliseconds, and twice what strategies are measured with.
const EDITOR_BUDGET: TokenBudget = TokenBudget { tokens: 1024 };

/// Ghost text is for who pauses and looks. Ten seconds is the limit of keeping somebody's attention on one thing (J. Nielsen,
/// Usability Engineering, 1993); half of it leaves a small model on an idle processor its time, and the reader some as well.
const EDITOR_DEADLINE: Duration = Duration::from_secs(5);

impl CompletionSettings {
    /// For measuring: nothing is kept back, slow engines get their time, and cases bring the context that all engines get.
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

    /// For ghost text that comes while somebody types. How sure it has to be is the engine's own setting.
    pub fn for_editor() -> CompletionSettings {
        CompletionSettings {
            deadline: EDITOR_DEADLINE,
            strategy: Strategy::Hybrid,
            explain: false,
            ..CompletionSettings::for_replay()
        }
    }

    /// For ghost text that a person asked for by key.
    pub fn for_invoked() -> CompletionSettings {
        CompletionSettings { invoked: true, ..CompletionSettings::for_editor() }
    }

    /// How long choosing context may take: without it there is still an answer, so the other half is the engine's.
    pub fn context_timeout(&self) -> Duration {
        self.deadline / 2
    }

    /// The settings by name, as they go into a run's description and an engine's fingerprint.
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
