//! Gates: cheap reasons not to request a completion, and the final reason not to show it.

use std::fmt;

use crate::settings::CompletionSettings;
use crate::workspace_index::DocumentSnapshot;

/// Maximum size in bytes of a document with completions. Generated tables are larger, handwritten code is not.
pub const MAX_DOCUMENT_BYTES: usize = 2 << 20;

/// Why no request was made, or no text is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// The cursor is not in the document, or inside a character.
    InvalidOffset,
    /// The document is larger than [`MAX_DOCUMENT_BYTES`].
    DocumentTooLarge,
    /// The file is by now ignored, or named like a file with secrets.
    LeftOut,
    /// The cursor is inside a word, so that any text would run into the rest of it.
    InsideWord,
    /// No text of the answer is left before an invisible character, such as an escape or a bidirectional control.
    ControlCharacter(char),
    /// The engine's answer edits other text than an insertion at the cursor, which ghost text cannot show.
    EditsElsewhere,
    /// A limit of requests to the engine is reached, which the caller keeps.
    LimitReached,
    /// The probability of the least likely token is below the threshold of the settings; holds that probability.
    Unsure(f64),
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gate::InvalidOffset => f.write_str("the cursor is outside the document or inside a character"),
            Gate::DocumentTooLarge => {
                write!(f, "the document is larger than {} MiB", MAX_DOCUMENT_BYTES >> 20)
            }
            Gate::LeftOut => {
                f.write_str("the file was excluded from the workspace before the request was sent")
            }
            Gate::InsideWord => f.write_str("the cursor is inside a word"),
            Gate::ControlCharacter(character) => {
                write!(f, "the answer holds the control character U+{:04X}", u32::from(*character))
            }
            Gate::EditsElsewhere => f.write_str("the answer edits text elsewhere than at the cursor"),
            Gate::LimitReached => f.write_str("a limit of requests to the engine is reached"),
            Gate::Unsure(probability) => {
                write!(f, "the least sure token has a probability of {probability:.2}")
            }
        }
    }
}

/// Returns the gate that rejects the request before any work, if any.
pub(crate) fn gate_before(snapshot: &DocumentSnapshot, offset: usize) -> Option<Gate> {
    let text = snapshot.text();
    if text.len() > MAX_DOCUMENT_BYTES {
        return Some(Gate::DocumentTooLarge);
    }
    let (Some(before), Some(after)) = (text.get(..offset), text.get(offset..)) else {
        return Some(Gate::InvalidOffset);
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let splits_word =
        before.chars().next_back().is_some_and(is_word) && after.chars().next().is_some_and(is_word);
    splits_word.then_some(Gate::InsideWord)
}

/// Returns the gate that rejects an answer of this confidence, if any.
pub(crate) fn gate_after(settings: &CompletionSettings, confidence: Option<f64>) -> Option<Gate> {
    let (least, confidence) = (settings.min_confidence?, confidence?);
    (confidence < least).then_some(Gate::Unsure(confidence))
}
