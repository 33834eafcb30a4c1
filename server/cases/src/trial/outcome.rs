//! What became of a suggestion.

use serde::{Deserialize, Serialize};

use super::truth::LossReason;
use crate::string_enum::string_enum;

string_enum! {
    /// What became of the shown answer. The last four are the reasons of the Agent Client Protocol's next-edit proposal.
    OutcomeKind {
        /// Nothing was shown: no answer, a holdout, or the developer was faster.
        NotShown = "not_shown",
        /// Shown, and not decided yet.
        Shown = "shown",
        /// Accepted, in one or several parts.
        Accepted = "accepted",
        /// The developer typed it.
        TypedThrough = "typed_through",
        /// The developer dismissed it.
        Rejected = "rejected",
        /// The developer typed something else.
        Ignored = "ignored",
        /// Another suggestion took its place.
        Replaced = "replaced",
        /// It was withdrawn before the developer could decide.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// Unit of an acceptance.
    AcceptedPart {
        /// All that was left of the suggestion.
        Full = "full",
        /// Its next line.
        Line = "line",
        /// Its next word.
        Word = "word",
    }
}

string_enum! {
    /// Age of accepted text at which its survival is measured.
    SurvivalAge {
        /// 30 seconds.
        Seconds30 = "30s",
        /// 2 minutes.
        Minutes2 = "2m",
        /// 5 minutes.
        Minutes5 = "5m",
        /// 10 minutes.
        Minutes10 = "10m",
        /// The next commit.
        Commit = "commit",
    }
}

string_enum! {
    /// What became of accepted text.
    SurvivalKind {
        /// Unchanged.
        Kept = "kept",
        /// Changed in part.
        Edited = "edited",
        /// Unchanged, in another place.
        Moved = "moved",
        /// Gone.
        Deleted = "deleted",
    }
}

/// Accepted text after some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Survival {
    /// Its age.
    pub age: SurvivalAge,
    /// What became of it.
    pub kind: SurvivalKind,
    /// Number of its characters that are still there.
    pub retained_chars: u32,
}

/// What became of the shown answer. Times are in ms since the opportunity was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferOutcome {
    /// The kind.
    pub kind: OutcomeKind,
    /// Whether it was inferred from edits and time, because the client does not report it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_inferred: bool,
    /// When the answer was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_at: Option<f64>,
    /// How long it was visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<f64>,
    /// Index of the shown answer's item, of several that were offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// Name of the arm whose item was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Accepted parts, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<AcceptedPart>,
    /// When its first part was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<f64>,
    /// Number of accepted characters.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accepted_chars: u32,
    /// Number of characters of the suggestion that the developer typed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub typed_chars: u32,
    /// Survival of the accepted text, by age.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survival: Vec<Survival>,
    /// Why it is not known at the other ages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival_lost: Option<LossReason>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl OfferOutcome {
    /// Creates the outcome of an opportunity at which nothing is shown yet.
    pub fn not_shown() -> OfferOutcome {
        OfferOutcome {
            kind: OutcomeKind::NotShown,
            is_inferred: false,
            shown_at: None,
            visible: None,
            item: None,
            arm: None,
            parts: Vec::new(),
            accepted_at: None,
            accepted_chars: 0,
            typed_chars: 0,
            survival: Vec::new(),
            survival_lost: None,
        }
    }
}
