//! The documents of an editor whose language server runs in the same process: their text is known edit by edit.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use session::{Documents, OpenDocument};

/// A request of a plugin in a document that the editor has open.
pub struct EditorRequest {
    /// Its number.
    pub number: u64,
    /// The document at the request.
    pub document: Arc<OpenDocument>,
    /// The cursor in it, in bytes.
    pub offset: usize,
}

/// The editor in this process.
pub trait EditorDocuments: Send + Sync {
    /// Returns the open documents as they are; `None` if the editor is gone.
    fn documents(&self) -> BoxFuture<'_, Option<Arc<Documents>>>;

    /// Records a request between the editor's edits. Returns false if the document has changed since.
    fn request(&self, request: EditorRequest) -> BoxFuture<'_, bool>;
}
