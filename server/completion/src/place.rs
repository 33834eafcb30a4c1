//! A cursor in a document with what an answer there rests on, and what was written at it since.
//!
//! Line ends are all alike, as an editor types its own. Brackets and quotes that an editor closes by itself, and the line it puts
//! a closing bracket on, may stand behind the cursor; any other change behind it makes another place.

use std::borrow::Cow;
use std::sync::Arc;

/// Where an answer was asked for.
#[derive(Clone, Debug)]
pub struct Place {
    /// The document.
    pub text: Arc<str>,
    /// The cursor, in bytes of the text.
    pub offset: usize,
    /// What else the answer rests on.
    pub basis: Basis,
}

/// What an answer rests on beside the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Whose it is: the engine's name. No engine profits from another one's answers, however alike they are.
    pub engine: String,
    /// Answers of one engine with the same fingerprint may stand for each other. To let what a person asked for by key live on while they
    /// type, use the fingerprint of the requests that typing makes.
    pub fingerprint: String,
    /// Another number for every state of the settings, which may have moved the engine elsewhere.
    pub settings: u64,
    /// Another number for every state of the workspace's files.
    pub workspace: u64,
    /// Another number for every state of the other documents.
    pub documents: u64,
}

impl Basis {
    /// Whether an answer on the other basis is one of the same engine under the same settings.
    fn is_same_arm(&self, other: &Basis) -> bool {
        (&self.engine, &self.fingerprint, self.settings)
            == (&other.engine, &other.fingerprint, other.settings)
    }
}

/// What was written at a place: with LF line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    /// Before the cursor.
    pub(crate) typed: Cow<'a, str>,
    /// Behind it, by the editor.
    pub(crate) closed: Cow<'a, str>,
}

impl Place {
    /// What was written at this place if `today` is still it, going by lengths alone: [`is_around`](Place::is_around) has the last
    /// word. Where nothing was written, all of the basis has to be the same; else what the engine would know by now does not count,
    /// since ghost text must not change under somebody's fingers.
    pub(crate) fn written<'t>(&self, today: &'t Place) -> Option<Written<'t>> {
        let (before, after) = self.sides()?;
        let (today_before, today_after) = today.sides()?;
        let typed = today_before.get(before.len()..)?;
        let closed = today_after.get(..today_after.len().checked_sub(after.len())?)?;
        let has_basis =
            self.basis == today.basis || self.basis.is_same_arm(&today.basis) && !typed.is_empty();
        let is_written = has_basis && closed.chars().all(closes);
        is_written.then(|| Written { typed: with_lf(typed), closed: with_lf(closed) })
    }

    /// Whether the text around what was written is as it was. Reads both texts.
    pub(crate) fn is_around(&self, today: &Place) -> bool {
        let (Some((before, after)), Some((today_before, today_after))) = (self.sides(), today.sides()) else {
            return false;
        };
        today_before.starts_with(before) && today_after.ends_with(after)
    }

    fn sides(&self) -> Option<(&str, &str)> {
        self.text.split_at_checked(self.offset)
    }
}

/// Whether editors put this character behind the cursor by themselves: after an opening bracket or quote, or a line end in between.
pub(crate) fn closes(character: char) -> bool {
    matches!(character, ')' | ']' | '}' | '>' | '"' | '\'' | '`') || character.is_whitespace()
}

pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() }
}
