//! An open document at one revision: immutable, cheap to clone.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use completion::TypedPassage;
use syntax::Language;
use text::{Document as Rope, PositionEncoding, Revision};

use crate::document_session::DocumentSession;
use crate::typed_ranges::TypedRanges;

/// A document at one revision. The state that outlives revisions is in its [`DocumentSession`].
#[derive(Clone)]
pub struct OpenDocument {
    /// Identifies the document while it is open.
    pub key: Arc<str>,
    /// Path, if it is a file.
    pub path: Option<PathBuf>,
    /// Language; `None` for unsupported languages.
    pub language: Option<Language>,
    /// Number of the revision that set this text.
    pub revision: u64,
    /// The text.
    pub rope: Rope,
    /// State that outlives revisions.
    pub session: Arc<DocumentSession>,
    /// The whole text, built on demand.
    full_text: Arc<OnceLock<Arc<str>>>,
    /// False after a lost edit, when the text is not what the editor shows.
    is_synchronized: bool,
    /// Recently typed ranges.
    typed_ranges: TypedRanges,
}

impl OpenDocument {
    pub(crate) fn new(
        key: Arc<str>,
        path: Option<PathBuf>,
        language: Option<Language>,
        rope: Rope,
        revision: u64,
    ) -> OpenDocument {
        OpenDocument {
            key,
            path,
            language,
            revision,
            session: Arc::new(DocumentSession::new(rope.clone(), revision)),
            rope,
            full_text: Arc::default(),
            is_synchronized: true,
            typed_ranges: TypedRanges::new(revision),
        }
    }

    /// Applies the edits of a revision. An edit that does not fit the text is lost.
    pub(crate) fn apply(&mut self, revision: Revision, is_synchronized: bool) {
        let Revision { number, time, mut edits } = revision;
        let fitting = edits.iter().take_while(|edit| self.rope.apply(edit).is_some()).count();
        self.is_synchronized = is_synchronized && fitting == edits.len();
        edits.truncate(fitting);
        self.revision = number;
        self.full_text = Arc::default();
        self.session.push(Revision { number, time, edits }, &self.rope, &mut self.typed_ranges);
        if !self.is_synchronized {
            self.session.cancel_requests();
        }
    }

    /// Marks the text as not being what the editor shows.
    pub(crate) fn desynchronize(&mut self) {
        self.is_synchronized = false;
        self.session.cancel_requests();
    }

    /// Returns whether the text is what the editor shows.
    pub fn is_synchronized(&self) -> bool {
        self.is_synchronized
    }

    /// Returns the line of the last edit, 0-based; `None` if there was none.
    pub(crate) fn edited_line(&self) -> Option<u32> {
        let start = self.session.tracked_ranges().log().last_edit(self.revision)?.range.start;
        Some(self.rope.position(start, PositionEncoding::Utf8)?.line)
    }

    /// Returns the file's path without links; `None` if it is not a file. Waits for the disk the first time.
    pub(crate) async fn real_path(&self) -> Option<Arc<Path>> {
        self.session.real_path.get(self.path.as_deref()?).await
    }

    /// Returns the file's path without links, if it was resolved before.
    pub fn known_real_path(&self) -> Option<Arc<Path>> {
        self.session.real_path.known()
    }

    /// Returns the whole text, built once per revision.
    pub fn text(&self) -> Arc<str> {
        Arc::clone(self.full_text.get_or_init(|| self.rope.text().into()))
    }

    /// Returns the recently typed ranges in bytes of `asked`, which is the document's text with or without a popup item.
    pub fn typed_ranges(&self, asked: &Arc<str>) -> Vec<Range<usize>> {
        self.typed_ranges.ranges(&self.text(), asked)
    }

    /// Returns the recently typed ranges as whole lines, each with the number of the revision that last changed it. `path` names
    /// the document.
    pub(crate) fn typed_passages(&self, path: &Arc<str>) -> Vec<(u64, TypedPassage)> {
        self.typed_ranges.passages(path, &self.text())
    }
}
