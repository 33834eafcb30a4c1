//! The input of a prompt: a document with a cursor, and code from other files.

use std::sync::Arc;

use syntax::Language;
use text::Snippet;

/// A document to complete, and the context of its completion; cheap to clone.
#[derive(Clone, Debug)]
pub struct PromptInput {
    /// Path of the file relative to the workspace root, with `/` separators; empty if it has none.
    pub path: Arc<str>,
    /// Language of the file.
    pub language: Language,
    /// The document; in a replay, the text before the hole and the text after it.
    pub text: Arc<str>,
    /// Cursor: byte offset in the text, on a character boundary.
    pub cursor: usize,
    /// Code from other files, the nearest first.
    pub context: Arc<[Snippet]>,
}

impl PromptInput {
    /// Returns the text before the cursor.
    pub fn prefix(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Returns the text after the cursor.
    pub fn suffix(&self) -> &str {
        &self.text[self.cursor..]
    }
}
