//! The text that the developer wrote, stage by stage.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::string_enum::string_enum;

string_enum! {
    /// Moment at which a truth was taken, earliest first; a later stage replaces an earlier one.
    TruthStage {
        /// No edit in the region for a while.
        Settled = "settled",
        /// The cursor left the block, which parses.
        LeaveBlock = "leave_block",
        /// No edit in the document for a while.
        Idle = "idle",
        /// The document was saved.
        Save = "save",
        /// The document was closed.
        Close = "close",
        /// The text was found again after a commit.
        Commit = "commit",
    }
}

string_enum! {
    /// How a piece of text came into the document.
    Provenance {
        /// Typed.
        Typed = "typed",
        /// Accepted from a suggestion.
        Accepted = "accepted",
        /// Completed by the editor's popup menu.
        Popup = "popup",
        /// Pasted.
        Pasted = "pasted",
        /// Restored by undo or redo.
        Undo = "undo",
        /// Written by a formatter.
        Formatter = "formatter",
        /// Accepted from another provider of inline completions.
        OtherProvider = "other_provider",
        /// Changed on disk: a checkout, or an agent.
        External = "external",
        /// Written between two looks at the document: by whatever means, since the front door sees no single edits.
        Unobserved = "unobserved",
    }
}

string_enum! {
    /// Why an opportunity gets no further truth.
    LossReason {
        /// The region was replaced as a whole, so that its text cannot be told from other text.
        Replaced = "replaced",
        /// The file changed on disk.
        External = "external",
        /// The file was deleted or renamed and not found again.
        FileGone = "file_gone",
        /// The server ended before the first stage, and the text was not found again.
        Interrupted = "interrupted",
        /// More was going on than is tracked.
        Evicted = "evicted",
        /// It took longer than a region is tracked.
        Expired = "expired",
        /// The message order or positions of the editor did not fit together.
        Inconsistent = "inconsistent",
    }
}

/// A part of a truth with one provenance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvenanceSpan {
    /// Its range, in UTF-8 bytes of the truth's text.
    pub range: Range<usize>,
    /// How it came into the document.
    pub provenance: Provenance,
    /// Name of the arm, for accepted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
}

/// The text that the developer wrote at the cursor, at one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The stage.
    pub stage: TruthStage,
    /// When it was taken, in ms since the opportunity was opened.
    pub at: f64,
    /// The text, cut to the unit of its scenario; empty if nothing was needed.
    pub text: String,
    /// All text of the region, from which `text` was cut.
    pub region: String,
    /// Text after the cursor that the developer deleted: it was wrong, or not needed any more.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub deleted: String,
    /// Text before the cursor that the developer replaced: it was wrong, so that no completion was right. `text` is empty then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub deleted_before: String,
    /// How the parts of `text` came into the document, in order and without gaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<ProvenanceSpan>,
    /// Number of edits that undid an earlier edit of the region.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reversals: u32,
    /// Edit distance to the truth of the previous stage, in characters; absent at the first stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl Truth {
    /// Returns the share of its bytes that the developer typed, completed in the popup or restored by undo, from 0 to 1; an empty
    /// truth is typed.
    pub fn share_typed(&self) -> f64 {
        let by_hand = [Provenance::Typed, Provenance::Popup, Provenance::Undo];
        let typed: usize = self
            .provenance
            .iter()
            .filter(|span| by_hand.contains(&span.provenance))
            .map(|span| span.range.len())
            .sum();
        if self.text.is_empty() { 1.0 } else { typed as f64 / self.text.len() as f64 }
    }
}
