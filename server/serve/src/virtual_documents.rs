//! The documents that requests reveal: what an editor without our language server has open, as far as it is known.
//!
//! A request shows the text around the cursor, a save shows the whole file. Responsible for the text of each document between them, and
//! for the events that lead to it. Pure but for the clock of its edits: it neither reads files nor records anything.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use completion::WorkspaceIndex;
use session::{Documents, NewDocument, OpenDocument};
use syntax::Language;
use text::{Edit, Revision};
use trial::{DocumentKey, EventKind};

/// Most documents that are followed; the one without a request for the longest time is closed.
const MAX_DOCUMENTS: usize = 64;

/// The documents.
#[derive(Default)]
pub(crate) struct VirtualDocuments {
    documents: Arc<Documents>,
    files: HashMap<DocumentKey, OpenedFile>,
    /// Latest request last.
    recent: VecDeque<DocumentKey>,
    revision: u64,
}

struct OpenedFile {
    root: PathBuf,
    path: Arc<str>,
    /// The text on disk when it was last looked at.
    saved: Arc<str>,
}

/// A file of a folder with its text on disk.
pub(crate) struct SavedFile<'a> {
    pub(crate) root: &'a Path,
    pub(crate) path: &'a Arc<str>,
    pub(crate) text: Arc<str>,
}

impl VirtualDocuments {
    /// Returns the documents as they are.
    pub(crate) fn snapshot(&self) -> &Arc<Documents> {
        &self.documents
    }

    /// Returns the document of a file; `None` if it is not open.
    pub(crate) fn document(&self, root: &Path, path: &str) -> Option<Arc<OpenDocument>> {
        self.documents.get(&key(root, path)).cloned()
    }

    /// Sets the text of a document, which is opened first if it is not. Returns the document and the events.
    pub(crate) fn set_text(
        &mut self,
        file: &SavedFile<'_>,
        text: &str,
    ) -> Option<(Arc<OpenDocument>, Vec<EventKind>)> {
        let key = key(file.root, file.path);
        let mut events = Vec::new();
        if !self.files.contains_key(&key) {
            events.extend(self.open(&key, file));
            events.extend(self.close_oldest());
        }
        self.recent.retain(|recent| *recent != key);
        self.recent.push_back(Arc::clone(&key));
        events.extend(self.edit(&key, text));
        Some((self.documents.get(&key).cloned()?, events))
    }

    /// Follows the files of a folder that were saved since the last look, with their text on disk.
    pub(crate) fn follow_saved(&mut self, root: &Path, index: &WorkspaceIndex) -> Vec<EventKind> {
        let ours = self.files.iter().filter(|(_, file)| file.root == root);
        let changed: Vec<(DocumentKey, Option<Arc<str>>)> = ours
            .filter_map(|(key, file)| match index.file(&file.path) {
                Some(now) if *now.text == *file.saved => None,
                now => Some((Arc::clone(key), now.map(|now| now.text.to_arc()))),
            })
            .collect();
        let mut events = Vec::new();
        for (key, saved) in changed {
            let Some(saved) = saved else {
                events.extend(self.close(&key));
                continue;
            };
            events.extend(self.edit(&key, &saved));
            if let Some(file) = self.files.get_mut(&key) {
                file.saved = saved;
            }
            events.push(EventKind::Saved { document: key });
        }
        events
    }

    /// Returns the events that tell the recorder of all documents as they are, whatever it knew before.
    pub(crate) fn reopened(&self) -> Vec<EventKind> {
        let again = |document: &Arc<OpenDocument>| {
            [EventKind::Desynchronized { document: Arc::clone(&document.key) }, opened(document)]
        };
        self.documents.all().flat_map(again).collect()
    }

    fn open(&mut self, key: &DocumentKey, file: &SavedFile<'_>) -> Option<EventKind> {
        self.revision += 1;
        let document = NewDocument {
            key: Arc::clone(key),
            path: Some(file.root.join(&**file.path)),
            language: Language::from_path(file.path),
            text: file.text.to_string(),
        };
        Arc::make_mut(&mut self.documents).open(document, self.revision);
        let (root, path, saved) = (file.root.to_owned(), Arc::clone(file.path), Arc::clone(&file.text));
        self.files.insert(Arc::clone(key), OpenedFile { root, path, saved });
        self.documents.get(key).map(opened)
    }

    fn edit(&mut self, key: &DocumentKey, text: &str) -> Option<EventKind> {
        let edit = Edit::between(&self.documents.get(key)?.text(), text)?;
        self.revision += 1;
        let revision = Revision { number: self.revision, time: Instant::now(), edits: vec![edit.clone()] };
        Arc::make_mut(&mut self.documents).change(key, revision, true)?;
        Some(EventKind::Observed { document: Arc::clone(key), edit })
    }

    fn close_oldest(&mut self) -> Option<EventKind> {
        if self.files.len() <= MAX_DOCUMENTS {
            return None;
        }
        let oldest = self.recent.pop_front()?;
        self.close(&oldest)
    }

    fn close(&mut self, key: &DocumentKey) -> Option<EventKind> {
        self.files.remove(key)?;
        self.recent.retain(|recent| recent != key);
        Arc::make_mut(&mut self.documents).close(key);
        Some(EventKind::Closed { document: Arc::clone(key) })
    }
}

/// Key of the document of a file. It differs from those of editors, which are URIs.
fn key(root: &Path, path: &str) -> DocumentKey {
    format!("front-door:{}", root.join(path).display()).into()
}

fn opened(document: &Arc<OpenDocument>) -> EventKind {
    EventKind::Opened {
        document: Arc::clone(&document.key),
        language: document.language,
        text: document.rope.clone(),
        syntax: document.session.syntax.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(events: &[EventKind]) -> Vec<&'static str> {
        let name = |event: &EventKind| match event {
            EventKind::Opened { .. } => "opened",
            EventKind::Observed { .. } => "observed",
            EventKind::Saved { .. } => "saved",
            EventKind::Closed { .. } => "closed",
            _ => "other",
        };
        events.iter().map(name).collect()
    }

    fn index(text: Option<&str>) -> WorkspaceIndex {
        let file = |text: &str| syntax::SourceFile {
            path: "a.py".into(),
            language: Language::from_path("a.py").expect("Python"),
            text: text.into(),
        };
        WorkspaceIndex::new(text.map(file).into_iter().collect())
    }

    #[test]
    fn a_document_follows_requests_and_saves() {
        let mut documents = VirtualDocuments::default();
        let (root, path) = (Path::new("/w"), Arc::from("a.py"));
        let saved = || SavedFile { root, path: &path, text: "x = 1\n".into() };
        let mut set = |text: &str| documents.set_text(&saved(), text).expect("a document").1;
        assert_eq!(names(&set("x = 12\n")), ["opened", "observed"]);
        assert_eq!(names(&set("x = 12\n")), Vec::<&str>::new());
        assert_eq!(names(&set("x = 123\n")), ["observed"]);
        let text = |documents: &VirtualDocuments| documents.document(root, "a.py").map(|open| open.text());
        assert_eq!(text(&documents).as_deref(), Some("x = 123\n"));
        assert!(documents.follow_saved(root, &index(Some("x = 1\n"))).is_empty(), "not saved yet");
        assert_eq!(names(&documents.follow_saved(root, &index(Some("x = 123\n")))), ["saved"]);
        assert_eq!(names(&documents.follow_saved(root, &index(Some("x = 4\n")))), ["observed", "saved"]);
        assert!(documents.follow_saved(Path::new("/other"), &index(None)).is_empty());
        assert_eq!(names(&documents.follow_saved(root, &index(None))), ["closed"]);
        assert_eq!(text(&documents), None);
    }

    #[test]
    fn the_oldest_document_is_closed() {
        let mut documents = VirtualDocuments::default();
        let mut closed = 0;
        for number in 0..=MAX_DOCUMENTS {
            let path = Arc::from(format!("{number}.py"));
            let file = SavedFile { root: Path::new("/w"), path: &path, text: "x = 1\n".into() };
            let (_, events) = documents.set_text(&file, "x = 1\n").expect("a document");
            closed += names(&events).iter().filter(|name| **name == "closed").count();
        }
        assert_eq!((closed, documents.document(Path::new("/w"), "0.py").is_none()), (1, true));
    }
}
