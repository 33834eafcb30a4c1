//! What a request may know: the open document, and the rest of the workspace without it.

use std::sync::{Arc, OnceLock};

use builtin::{Corpus, MaskedCorpus};
use syntax::{Language, SourceFile};
use workspace::NearDuplicates;

use crate::trace::ContextItem;

/// The saved files of a workspace with what is derived from them. Immutable, cheap to clone, and of no use to an engine by itself:
/// only a [`Snapshot`] can be completed in.
#[derive(Clone)]
pub struct World {
    files: Arc<[SourceFile]>,
    corpus: Arc<Corpus>,
    near_duplicates: Arc<OnceLock<NearDuplicates>>,
}

impl World {
    /// Derives what requests need from `files`: about a second for a million lines.
    pub fn new(files: Arc<[SourceFile]>) -> World {
        let corpus = Arc::new(Corpus::build(&files));
        World { files, corpus, near_duplicates: Arc::default() }
    }

    /// A workspace without files.
    pub fn empty() -> World {
        World::new(Arc::default())
    }

    /// The world as seen from an open document: the document's own text as given, and no other version of it.
    pub fn open(&self, document: Document) -> Snapshot {
        Snapshot { world: self.clone(), document, context: None, hidden: Vec::new() }
    }

    /// The saved text of the file at `path`.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| *file.path == *path).map(|file| &*file.text)
    }

    /// The paths of the files that are wanted.
    pub fn paths(&self, is_wanted: impl Fn(&SourceFile) -> bool) -> Vec<Arc<str>> {
        self.files.iter().filter(|file| is_wanted(file)).map(|file| Arc::clone(&file.path)).collect()
    }

    /// Files that share much of the text that the saved version of `path` holds.
    pub fn near_duplicates(&self, path: &str) -> Vec<Arc<str>> {
        let known = self.near_duplicates.get_or_init(|| NearDuplicates::new(&self.files));
        known.of(path).into_iter().map(|duplicate| duplicate.path).collect()
    }
}

/// A document as it is on the screen.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its path, relative to the workspace root.
    pub path: Arc<str>,
    /// Its language.
    pub language: Language,
    /// Its text; in a replay, the text before the hole and the text after it.
    pub text: Arc<str>,
}

/// A document at one moment with the world around it.
#[derive(Clone)]
pub struct Snapshot {
    world: World,
    document: Document,
    context: Option<Vec<ContextItem>>,
    hidden: Vec<Arc<str>>,
}

impl Snapshot {
    /// The same moment with context that was chosen before, in place of what would be gathered now.
    pub fn with_context(self, context: Vec<ContextItem>) -> Snapshot {
        Snapshot { context: Some(context), ..self }
    }

    /// The same moment in a workspace without the files at `paths`.
    pub fn hiding(self, paths: Vec<Arc<str>>) -> Snapshot {
        Snapshot { hidden: paths, ..self }
    }

    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    pub(crate) fn text(&self) -> &str {
        &self.document.text
    }

    /// Paths of the files that the request may know nothing of, besides the document's own: the hidden ones and, where those are to
    /// be hidden too, near duplicates of the document.
    pub(crate) fn hidden(&self, hide_near_duplicates: bool) -> Vec<Arc<str>> {
        let mut hidden = self.hidden.clone();
        if hide_near_duplicates {
            hidden.extend(self.world.near_duplicates(&self.document.path));
        }
        hidden
    }

    /// The context that goes with the question, nearest first, without anything from `hidden` files.
    pub(crate) fn gather(&self, hidden: &[Arc<str>]) -> Vec<ContextItem> {
        let is_hidden = |item: &&ContextItem| hidden.iter().any(|path| **path == *item.path);
        self.context.iter().flatten().filter(|item| !is_hidden(item)).cloned().collect()
    }

    /// The workspace's tokens without the saved text of the document and of `hidden` files.
    pub(crate) fn corpus(&self, hidden: Vec<Arc<str>>) -> MaskedCorpus {
        let Document { path, language, .. } = &self.document;
        MaskedCorpus::new(Arc::clone(&self.world.corpus), Arc::clone(path), *language, hidden)
    }
}
