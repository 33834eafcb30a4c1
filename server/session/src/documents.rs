//! The open documents, as changed by the editor.
//!
//! The map is immutable where it is shared, not a concurrent one: a request must see all documents of one moment, which costs a
//! reference count here and a copy of all entries there. One owner applies the changes, in their order. Nothing is parsed here,
//! and no file is read.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use syntax::Language;
use text::{Document as Rope, Revision};

use crate::open_document::OpenDocument;

/// Whether a change desynchronized a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOutcome {
    /// No: the text is current, or was out of sync before.
    Unchanged,
    /// Yes: the text is no longer what the editor shows.
    Lost,
}

/// A document that the editor opens.
pub struct NewDocument {
    /// Identifies the document while it is open.
    pub key: Arc<str>,
    /// Path, if it is a file.
    pub path: Option<PathBuf>,
    /// Language; `None` for unsupported languages.
    pub language: Option<Language>,
    /// The text.
    pub text: String,
}

/// All open documents.
#[derive(Clone, Default)]
pub struct Documents {
    open: HashMap<Arc<str>, Arc<OpenDocument>>,
}

impl Documents {
    /// Returns the open document with this key.
    pub fn get(&self, key: &str) -> Option<&Arc<OpenDocument>> {
        self.open.get(key)
    }

    /// Returns all open documents, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<OpenDocument>> {
        self.open.values()
    }

    /// Returns a hash of the open documents other than the one at `key`, and of their texts.
    pub fn fingerprint_of_others(&self, key: &str) -> u64 {
        let others = self.open.values().filter(|other| *other.key != *key);
        let mut revisions: Vec<u64> = others.map(|other| other.revision).collect();
        revisions.sort_unstable();
        let mut hasher = DefaultHasher::new();
        revisions.hash(&mut hasher);
        hasher.finish()
    }

    /// Opens a document at `revision`, replacing one that is already open.
    pub fn open(&mut self, document: NewDocument, revision: u64) {
        let NewDocument { key, path, language, text } = document;
        let document = OpenDocument::new(Arc::clone(&key), path, language, Rope::new(&text), revision);
        if let Some(old) = self.open.insert(key, Arc::new(document)) {
            old.session.close();
        }
    }

    /// Applies the edits of a revision. `is_synchronized` is false if another edit of it is lost. Returns `None` if the document
    /// is not open.
    pub fn change(&mut self, key: &str, revision: Revision, is_synchronized: bool) -> Option<SyncOutcome> {
        let document = Arc::make_mut(self.open.get_mut(key)?);
        let was_synchronized = document.is_synchronized();
        document.apply(revision, is_synchronized);
        Some(outcome(was_synchronized, document))
    }

    /// Marks a document as out of sync.
    pub fn mark_desynchronized(&mut self, key: &str) -> SyncOutcome {
        let Some(document) = self.open.get_mut(key) else { return SyncOutcome::Unchanged };
        let document = Arc::make_mut(document);
        let was_synchronized = document.is_synchronized();
        document.desynchronize();
        outcome(was_synchronized, document)
    }

    /// Closes a document and cancels its computations. Returns false if it was not open.
    pub fn close(&mut self, key: &str) -> bool {
        let closed = self.open.remove(key);
        if let Some(document) = &closed {
            document.session.close();
        }
        closed.is_some()
    }
}

fn outcome(was_synchronized: bool, document: &OpenDocument) -> SyncOutcome {
    if was_synchronized && !document.is_synchronized() { SyncOutcome::Lost } else { SyncOutcome::Unchanged }
}

#[cfg(test)]
mod tests;
