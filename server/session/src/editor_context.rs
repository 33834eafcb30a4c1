//! The editor context of a request: the other open documents as shown on the screen, and where they were edited.
//!
//! An open document with unsaved changes replaces its file in searches and in context. Its index is derived on demand, once per
//! version: a few milliseconds for thousands of lines.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use completion::{EditorContext, RecentTyping, TypedPassage, WorkspaceIndex};
use index::{FileIndex, RecentLocation};
use stored::SharedText;
use syntax::SourceFile;

use crate::document_admission;
use crate::folder::Folder;
use crate::locks::lock;
use crate::open_document::OpenDocument;
use crate::request_snapshot::RequestSnapshot;
use crate::typed_ranges::MAX_PIECES;

/// An open document and its file.
struct OtherDocument {
    document: Arc<OpenDocument>,
    path: Arc<str>,
}

/// Returns the documents that are open besides `document` in its folder, nested folders included, and the paths of open documents
/// that must not be used, neither the buffer nor the saved file. Indexing stops after `patience`: unfinished documents are left
/// out, and the next request finds them done.
pub async fn editor_context(
    snapshot: &RequestSnapshot,
    document: &OpenDocument,
    folder: &Arc<Folder>,
    index: Arc<WorkspaceIndex>,
    patience: Duration,
) -> (EditorContext, Vec<Arc<str>>) {
    let (mut neighbours, refused) = other_documents(snapshot, document, folder).await;
    // Latest first; opening a document counts as a change.
    neighbours.sort_by_key(|neighbour| std::cmp::Reverse(neighbour.document.revision));
    // One file may be open in several windows.
    let mut paths = HashSet::new();
    neighbours.retain(|neighbour| paths.insert(Arc::clone(&neighbour.path)));
    let recent = neighbours.iter().map(OtherDocument::visit).collect();
    let typing = RecentTyping { elsewhere: typed_passages(&neighbours), ..RecentTyping::default() };
    let documents = unsaved_indexes(neighbours, index, patience).await;
    (EditorContext { documents, recent_visits: recent, recent_typing: typing }, refused)
}

/// The indexes of the documents whose text differs from the saved file.
async fn unsaved_indexes(
    neighbours: Vec<OtherDocument>,
    index: Arc<WorkspaceIndex>,
    patience: Duration,
) -> Vec<Arc<FileIndex>> {
    if neighbours.is_empty() {
        return Vec::new();
    }
    // After a timeout or a panic, the saved files are still used.
    match tokio::time::timeout(
        patience,
        tokio::task::spawn_blocking(move || {
            neighbours.iter().filter_map(|neighbour| neighbour.unsaved_index(&index)).collect()
        }),
    )
    .await
    {
        Ok(documents) => documents.unwrap_or_default(),
        Err(_) => {
            tracing::warn!("open documents are left out: reading them took too long");
            Vec::new()
        }
    }
}

/// Passages that were typed in the other documents, the latest last.
fn typed_passages(neighbours: &[OtherDocument]) -> Vec<TypedPassage> {
    let mut passages: Vec<(u64, TypedPassage)> =
        neighbours.iter().flat_map(OtherDocument::typed_passages).collect();
    passages.sort_by_key(|(revision, _)| *revision);
    let old = passages.len().saturating_sub(MAX_PIECES);
    passages.into_iter().skip(old).map(|(_, passage)| passage).collect()
}

/// The other documents that may be used as context, and the paths of those that may not. Other buffers of the document's own file
/// are excluded: they hold the text after the cursor.
async fn other_documents(
    snapshot: &RequestSnapshot,
    document: &OpenDocument,
    folder: &Arc<Folder>,
) -> (Vec<OtherDocument>, Vec<Arc<str>>) {
    let own = document.real_path().await;
    let (mut neighbours, mut refused) = (Vec::new(), Vec::new());
    let others = snapshot.documents.all().filter(|other| other.key != document.key);
    for other in others.filter(|other| other.is_synchronized()) {
        let is_own = own.is_some() && own == other.real_path().await;
        let Some(home) = folder.locate(other).await.filter(|_| !is_own) else { continue };
        match document_admission::refusal(other, &home).await {
            None => neighbours.push(OtherDocument { document: Arc::clone(other), path: home.path }),
            Some(_) => refused.push(home.path),
        }
    }
    (neighbours, refused)
}

impl OtherDocument {
    fn visit(&self) -> RecentLocation {
        RecentLocation { path: self.path.to_string(), line: self.document.edited_line().unwrap_or(0) }
    }

    fn typed_passages(&self) -> Vec<(u64, TypedPassage)> {
        self.document.typed_passages(&self.path)
    }

    /// The index of the document if its text differs from the saved file.
    fn unsaved_index(&self, index: &WorkspaceIndex) -> Option<Arc<FileIndex>> {
        let text = self.document.text();
        let saved = index.file(&self.path);
        if saved.is_some_and(|saved| *saved.text == *text) {
            return None;
        }
        let language = saved.map(|saved| saved.language).or(self.document.language)?;
        let shared = SharedText::from(&text);
        let mut indexed = lock(&self.document.session.file_index);
        let known = indexed.as_ref().filter(|known| known.file().text.is_same(&shared));
        if let Some(known) = known {
            return Some(Arc::clone(known));
        }
        let tree = self.document.session.syntax.tree(language, &text);
        let file = SourceFile { path: Arc::clone(&self.path), language, text: shared };
        let new = Arc::new(FileIndex::with_tree(file, &tree));
        *indexed = Some(Arc::clone(&new));
        Some(new)
    }
}
