//! The open documents, as the client's notifications leave them.
//!
//! One owner, the ordering layer, changes them in the order of arrival; everybody else gets the whole map at one moment, which
//! costs one reference count. Nothing is parsed here, and no file is read.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use syntax::Language;
use text::{Document as Rope, Edit, Encoding};
use tower_lsp_server::gen_lsp_types::{self as lsp, Position, TextDocumentItem, Uri};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::from_proto;
use crate::session::Session;
use crate::to_proto;
use crate::typed::Typed;

/// All open documents.
#[derive(Clone)]
pub(crate) struct Documents {
    encoding: Encoding,
    open: HashMap<String, Arc<OpenDocument>>,
}

/// A document in one version. What outlives versions is in its [`Session`].
#[derive(Clone)]
pub(crate) struct OpenDocument {
    /// As the client writes it.
    pub(crate) uri: Uri,
    /// The file, if it is one.
    pub(crate) path: Option<PathBuf>,
    /// By the file's name, else as the client calls it; `None` for languages that are not known here.
    pub(crate) language: Option<Language>,
    /// Number of the message that made this text.
    pub(crate) revision: u64,
    /// The text.
    pub(crate) rope: Rope,
    /// The text in one piece, once somebody wanted it.
    whole: Arc<OnceLock<Arc<str>>>,
    /// What outlives versions.
    pub(crate) session: Arc<Session>,
    /// How the client counts characters.
    pub(crate) encoding: Encoding,
    /// Whether a change did not fit, so that this text is not what the editor shows.
    has_parted: bool,
    /// Where the last edit begins, in bytes.
    pub(crate) last_edit: Option<usize>,
    /// What was typed lately.
    pub(crate) typed: Typed,
}

/// A piece of a document's text replaced, or all of it.
#[derive(Deserialize)]
pub(crate) struct Change {
    /// Nothing stands for everything.
    range: Option<lsp::Range>,
    text: String,
}

/// A change that does not fit the text it is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parted;

impl Default for Documents {
    /// Before anything is agreed on, characters are counted as every client can.
    fn default() -> Documents {
        Documents::new(Encoding::Utf16)
    }
}

impl Documents {
    pub(crate) fn new(encoding: Encoding) -> Documents {
        Documents { encoding, open: HashMap::new() }
    }

    pub(crate) fn get(&self, uri: &Uri) -> Option<Arc<OpenDocument>> {
        self.open.get(&from_proto::key(uri)).cloned()
    }

    /// All open documents, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<OpenDocument>> {
        self.open.values().cloned()
    }

    /// Takes in a document. One that is open already is replaced.
    pub(crate) fn open(&mut self, item: TextDocumentItem, revision: u64) {
        let path = from_proto::path(&item.uri);
        let by_name = path.as_ref().and_then(|path| Language::from_path(&path.to_string_lossy()));
        let rope = Rope::new(&item.text);
        let document = OpenDocument {
            language: by_name.or_else(|| from_proto::language(&String::from(item.language_id))),
            path,
            revision,
            session: Arc::new(Session::new(rope.clone(), revision)),
            rope,
            whole: Arc::default(),
            encoding: self.encoding,
            has_parted: false,
            last_edit: None,
            typed: Typed::default(),
            uri: item.uri,
        };
        if let Some(old) = self.open.insert(from_proto::key(&document.uri), Arc::new(document)) {
            old.session.close();
        }
    }

    /// Applies changes one after the other. `None` if the document is not open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        changes: Vec<Change>,
        revision: u64,
    ) -> Option<std::result::Result<(), Parted>> {
        let document = Arc::make_mut(self.open.get_mut(&from_proto::key(uri))?);
        document.revision = revision;
        document.whole = Arc::default();
        let mut edits = Vec::new();
        let applied = changes.into_iter().try_for_each(|change| document.apply(change, &mut edits));
        document.last_edit = edits.last().map(|edit| edit.range.start).or(document.last_edit);
        edits.iter().for_each(|edit| document.typed.follow(edit, revision));
        document.session.follow(&edits, &document.rope, revision);
        document.has_parted |= applied.is_err();
        Some(applied)
    }

    /// Takes note that a document's text is not known any more.
    pub(crate) fn part(&mut self, uri: &Uri) {
        if let Some(document) = self.open.get_mut(&from_proto::key(uri)) {
            Arc::make_mut(document).has_parted = true;
            document.session.end();
        }
    }

    /// Forgets a document; what is being computed for it ends. False if it was not open.
    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        let closed = self.open.remove(&from_proto::key(uri));
        if let Some(document) = &closed {
            document.session.close();
        }
        closed.is_some()
    }
}

impl OpenDocument {
    /// Applies a change, and adds the edit that it comes to.
    fn apply(&mut self, change: Change, edits: &mut Vec<Edit>) -> std::result::Result<(), Parted> {
        let edit = match change.range {
            Some(range) => Some(Edit { range: self.edited(range).ok_or(Parted)?, text: change.text }),
            None => {
                self.has_parted = false;
                // Places follow what really changed, also for clients that always send everything.
                Edit::between(&self.rope.text(), &change.text)
            }
        };
        let Some(edit) = edit else { return Ok(()) };
        self.rope.apply(&edit).ok_or(Parted)?;
        edits.push(edit);
        Ok(())
    }

    /// The bytes that a change replaces. Lines past the last one mean the end of the text: clients say so to replace all of it.
    fn edited(&self, range: lsp::Range) -> Option<Range<usize>> {
        let offset = |position: Position| {
            let is_past_end = position.line as usize >= self.rope.line_count();
            if is_past_end { Some(self.rope.len()) } else { self.offset_in_text(position) }
        };
        let (start, end) = (offset(range.start)?, offset(range.end)?);
        (start <= end).then_some(start..end)
    }

    fn offset_in_text(&self, position: Position) -> Option<usize> {
        self.rope.offset(from_proto::position(position), self.encoding)
    }

    /// The byte at a position of a request.
    pub(crate) fn offset(&self, position: Position) -> Result<usize> {
        if self.has_parted {
            let message =
                "a change did not fit this document, so its text is not known; close and open it again";
            return Err(Error::invalid_params(message));
        }
        self.offset_in_text(position).ok_or_else(|| {
            let Position { line, character } = position;
            let lines = self.rope.line_count();
            Error::invalid_params(format!("no position {line}:{character} in a document of {lines} lines"))
        })
    }

    /// The client's range for these bytes; `None` if they do not fit the text.
    pub(crate) fn range(&self, bytes: Range<usize>) -> Option<lsp::Range> {
        to_proto::range(&self.rope, bytes, self.encoding)
    }

    /// Line of the last edit, 0-based; `None` if there was none.
    pub(crate) fn edited_line(&self) -> Option<u32> {
        Some(self.rope.position(self.last_edit?, self.encoding)?.line)
    }

    /// Which file it is, whatever links its path goes through; `None` if it is none. Waits for the disk the first time.
    pub(crate) async fn real_path(&self) -> Option<Arc<Path>> {
        self.session.real_path.get(self.path.as_deref()?).await
    }

    /// Whether its text is what the editor shows.
    pub(crate) fn is_known(&self) -> bool {
        !self.has_parted
    }

    /// The whole text, put together once per version.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(self.whole.get_or_init(|| self.rope.text().into()))
    }
}
