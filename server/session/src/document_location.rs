//! Which workspace folder a document belongs to, and its path there.

use std::path::Path;
use std::sync::Arc;

use crate::folder::Folder;
use crate::folders::Folders;
use crate::open_document::OpenDocument;

/// Location of a document.
#[derive(Clone)]
pub struct DocumentLocation {
    /// The folder that contains it; the first folder for documents outside of all folders.
    pub folder: Option<Arc<Folder>>,
    /// Path in that folder, with `/` as separator; outside of it the document's key.
    pub path: Arc<str>,
    /// Whether the folder contains the document.
    pub is_inside: bool,
}

impl DocumentLocation {
    fn inside(folder: &Arc<Folder>, path: Arc<str>) -> DocumentLocation {
        DocumentLocation { folder: Some(Arc::clone(folder)), path, is_inside: true }
    }
}

impl Folders {
    /// Returns the location of a document: the innermost folder that contains it. A folder that contains the file itself takes
    /// precedence over one that contains a link to it.
    pub async fn locate(&self, document: &OpenDocument) -> DocumentLocation {
        let all = self.all();
        let mut best: Option<(FolderMatch, &Arc<Folder>)> = None;
        for folder in &all {
            let Some(found) = FolderMatch::find(folder, document).await else { continue };
            if best.as_ref().is_none_or(|(other, _)| found.rank() >= other.rank()) {
                best = Some((found, folder));
            }
        }
        match best {
            Some((found, folder)) => {
                folder.mark_active();
                DocumentLocation::inside(folder, found.path)
            }
            None => {
                let path = Arc::clone(&document.key);
                DocumentLocation { folder: all.first().cloned(), path, is_inside: false }
            }
        }
    }
}

impl Folder {
    /// Returns the location of a document in this folder, even if it belongs to a nested folder; `None` if it is not below this
    /// one.
    pub async fn locate(self: &Arc<Folder>, document: &OpenDocument) -> Option<DocumentLocation> {
        Some(DocumentLocation::inside(self, FolderMatch::find(self, document).await?.path))
    }
}

/// How a folder contains a document.
struct FolderMatch {
    /// Path of the document in the folder, with `/` as separator.
    path: Arc<str>,
    /// Whether the folder contains the file itself, not a link to it.
    is_real: bool,
    /// Whether the editor's path of the document begins with the editor's path of the folder.
    is_as_written: bool,
    /// Depth of the folder.
    depth: usize,
}

impl FolderMatch {
    /// Returns how the folder contains a document. The index knows each file by one path only, so the path without links is used,
    /// and the editor's path only if there is no other.
    async fn find(folder: &Folder, document: &OpenDocument) -> Option<FolderMatch> {
        let written = document.path.as_deref().and_then(|path| path.strip_prefix(&folder.root).ok());
        let (real_path, real_root) = (document.real_path().await, folder.real_root().await);
        let real = real_path.as_deref().zip(real_root.as_deref());
        let real = real.and_then(|(path, root)| path.strip_prefix(root).ok());
        let root: &Path = if real.is_some() { real_root.as_deref()? } else { &folder.root };
        Some(FolderMatch {
            path: workspace::path_text(real.or(written)?).into(),
            is_real: real.is_some(),
            is_as_written: written.is_some(),
            depth: root.components().count(),
        })
    }

    /// A document belongs to the folder with the larger rank.
    fn rank(&self) -> (bool, usize, bool) {
        (self.is_real, self.depth, self.is_as_written)
    }
}
