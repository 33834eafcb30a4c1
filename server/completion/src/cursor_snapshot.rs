//! A cursor in a document with what an answer there rests on, and what was written at it since.
//!
//! Line ends are all alike, as an editor types its own. Brackets and quotes that an editor closes by itself, and the line it puts
//! a closing bracket on, may stand behind the cursor; any other change behind it makes another place.

use std::borrow::Cow;
use std::sync::Arc;

/// Where an answer was asked for.
#[derive(Clone, Debug)]
pub struct CursorSnapshot {
    /// The document.
    pub text: Arc<str>,
    /// The cursor, in bytes of the text.
    pub offset: usize,
    /// What else the answer rests on.
    pub cache_key: CacheKey,
}

/// What an answer rests on beside the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey {
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

impl CacheKey {
    /// Whether an answer on the other basis is one of the same engine under the same settings.
    fn is_same_engine(&self, other: &CacheKey) -> bool {
        (&self.engine, &self.fingerprint, self.settings)
            == (&other.engine, &other.fingerprint, other.settings)
    }
}

/// What was written at a place: with LF line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InsertedText<'a> {
    /// Before the cursor.
    pub(crate) typed: Cow<'a, str>,
    /// Behind it, by the editor.
    pub(crate) closed: Cow<'a, str>,
}

impl CursorSnapshot {
    /// What was written at this place if `today` is still it, going by lengths alone: [`is_around`](CursorSnapshot::has_same_surroundings) has the last
    /// word. Where nothing was written, all of the basis has to be the same; else what the engine would know by now does not count,
    /// since ghost text must not change under somebody's fingers.
    pub(crate) fn inserted_until<'t>(&self, today: &'t CursorSnapshot) -> Option<InsertedText<'t>> {
        let (before, after) = self.split_at_cursor()?;
        let (today_before, today_after) = today.split_at_cursor()?;
        let typed = today_before.get(before.len()..)?;
        let closed = today_after.get(..today_after.len().checked_sub(after.len())?)?;
        let has_basis = self.cache_key == today.cache_key
            || self.cache_key.is_same_engine(&today.cache_key) && !typed.is_empty();
        let is_written = has_basis && closed.chars().all(may_be_auto_closed);
        is_written.then(|| InsertedText { typed: with_lf(typed), closed: with_lf(closed) })
    }

    /// Whether the text around what was written is as it was. Reads both texts.
    pub(crate) fn has_same_surroundings(&self, today: &CursorSnapshot) -> bool {
        let (Some((before, after)), Some((today_before, today_after))) =
            (self.split_at_cursor(), today.split_at_cursor())
        else {
            return false;
        };
        today_before.starts_with(before) && today_after.ends_with(after)
    }

    fn split_at_cursor(&self) -> Option<(&str, &str)> {
        self.text.split_at_checked(self.offset)
    }
}

/// Whether editors put this character behind the cursor by themselves: after an opening bracket or quote, or a line end in between.
pub(crate) fn may_be_auto_closed(character: char) -> bool {
    matches!(character, ')' | ']' | '}' | '>' | '"' | '\'' | '`') || character.is_whitespace()
}

pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() }
}
