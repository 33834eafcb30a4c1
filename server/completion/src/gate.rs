//! Gates: cheap reasons not to ask, and the last reason not to show.

use std::fmt;

use crate::settings::CompletionSettings;
use crate::workspace_index::DocumentSnapshot;

/// Largest document that is completed in, in bytes. Generated tables are larger, code that people write is not.
pub const MAX_DOCUMENT_BYTES: usize = 2 << 20;

/// Why nothing was asked, or nothing is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// The cursor is not in the document, or inside a character.
    InvalidOffset,
    /// The document is larger than this crate completes in.
    DocumentTooLarge,
    /// By now the file is ignored, or named like one that holds secrets.
    LeftOut,
    /// The cursor splits a word, so that any text would run into what follows.
    InsideWord,
    /// Nothing is left of the answer before a character that nobody sees, such as an escape or a mark of direction.
    ControlCharacter(char),
    /// The engine was less sure of its least sure token than the settings ask: its probability.
    Unsure(f64),
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gate::InvalidOffset => f.write_str("no such place in the document"),
            Gate::DocumentTooLarge => {
                write!(f, "the document is larger than {} MiB", MAX_DOCUMENT_BYTES >> 20)
            }
            Gate::LeftOut => {
                f.write_str("the file was left out of the workspace while the question was prepared")
            }
            Gate::InsideWord => f.write_str("the cursor is inside a word"),
            Gate::ControlCharacter(character) => {
                write!(f, "the answer holds the control character U+{:04X}", u32::from(*character))
            }
            Gate::Unsure(probability) => {
                write!(f, "the least sure token has a probability of {probability:.2}")
            }
        }
    }
}

/// The gate that is closed before anything is asked, if any.
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

/// The gate that is closed for an answer of this confidence, if any.
pub(crate) fn gate_after(settings: &CompletionSettings, confidence: Option<f64>) -> Option<Gate> {
    let (least, confidence) = (settings.min_confidence?, confidence?);
    (confidence < least).then_some(Gate::Unsure(confidence))
}
