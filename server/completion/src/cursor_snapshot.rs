//! The position and cache key of a request, and the text inserted there since.
//!
//! Line ends are compared as LF, since an editor types its own. Closing brackets and quotes inserted by the editor, and the line on
//! which it puts a closing bracket, may follow the cursor; any other change after the cursor makes a different place.

use std::borrow::Cow;
use std::sync::Arc;

/// Position and cache key of a request.
#[derive(Clone, Debug)]
pub struct CursorSnapshot {
    /// The document.
    pub text: Arc<str>,
    /// The cursor, in bytes of the text.
    pub offset: usize,
    /// The other inputs of the answer.
    pub cache_key: CacheKey,
}

/// Cache key: the inputs of an answer besides the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey {
    /// The engine's name. Answers are never shared between engines, even with equal fingerprints.
    pub engine: String,
    /// Answers of one engine with equal fingerprints are interchangeable. Explicit invocations use the fingerprint of automatic
    /// requests, so that typing can reuse their answers.
    pub fingerprint: String,
    /// Revision of the settings, which may have changed the engine's address.
    pub settings: u64,
    /// Revision of the workspace's files.
    pub workspace: u64,
    /// Revision of the other documents.
    pub documents: u64,
}

impl CacheKey {
    /// Returns whether both keys have the same engine, fingerprint and settings.
    fn is_same_engine(&self, other: &CacheKey) -> bool {
        (&self.engine, &self.fingerprint, self.settings)
            == (&other.engine, &other.fingerprint, other.settings)
    }
}

/// The text inserted at a place, with LF line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InsertedText<'a> {
    /// Before the cursor.
    pub(crate) typed: Cow<'a, str>,
    /// After the cursor, by the editor.
    pub(crate) closed: Cow<'a, str>,
}

impl CursorSnapshot {
    /// Returns the text inserted here if `today` is the same place, judged by lengths alone: [`is_around`](CursorSnapshot::has_same_surroundings) compares
    /// the texts. Without inserted text the whole cache key must match. Otherwise changes of the workspace are ignored, since ghost
    /// text must not change while the user types it.
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

    /// Returns whether the text around the inserted text is unchanged. Compares both texts.
    pub(crate) fn has_same_surroundings(&self, today: &CursorSnapshot) -> bool {
        let (Some((before, after)), Some((today_before, today_after))) =
            (self.split_at_cursor(), today.split_at_cursor())
        else {
            return false;
        };
        today_before.starts_with(before) && today_after.ends_with(after)
    }

    /// Returns whether both cursors are on a line that starts at the same byte. Compares no text.
    pub(crate) fn has_same_line(&self, today: &CursorSnapshot) -> bool {
        let start = |(before, _): (&str, &str)| before.rfind('\n').map_or(0, |end| end + 1);
        self.split_at_cursor().map(start) == today.split_at_cursor().map(start)
    }

    fn split_at_cursor(&self) -> Option<(&str, &str)> {
        self.text.split_at_checked(self.offset)
    }
}

/// Returns whether editors insert this character behind the cursor: closing brackets and quotes, and the line end between.
pub(crate) fn may_be_auto_closed(character: char) -> bool {
    matches!(character, ')' | ']' | '}' | '>' | '"' | '\'' | '`') || character.is_whitespace()
}

pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() }
}
