//! The open documents, as the client's notifications leave them.
//!
//! One owner, the ordering layer, changes them in the order of arrival; everybody else gets the whole map at one moment, which
//! costs one reference count. Nothing is parsed here, and no file is read.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use syntax::Language;
use text::{Document as Rope, Edit, Encoding};
use tower_lsp_server::gen_lsp_types::{self as lsp, Position, Uri};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::from_proto;
use crate::session::Session;
use crate::surrogates::{LoneSurrogates, REPLACEMENT};
use crate::to_proto;
use crate::typed::Typed;

/// Whether a document's text is still what the editor shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncState {
    /// It is, or was not before either.
    Kept,
    /// It is not any more.
    Lost,
}

impl SyncState {
    fn of(was_out_of_sync: bool, is_out_of_sync: bool) -> SyncState {
        if is_out_of_sync && !was_out_of_sync { SyncState::Lost } else { SyncState::Kept }
    }
}

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
    /// The halves of surrogate pairs in it.
    surrogates: LoneSurrogates,
    /// Whether a change was lost, so that this text is not what the editor shows.
    is_out_of_sync: bool,
    /// Where the last edit begins, in bytes.
    pub(crate) last_edit: Option<usize>,
    /// What was typed lately.
    pub(crate) typed: Typed,
}

/// A document as `didOpen` brings it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenedDocument {
    pub(crate) uri: Uri,
    language_id: String,
    #[serde(flatten)]
    text: EditorText,
}

/// A piece of a document's text replaced, or all of it.
#[derive(Deserialize)]
pub(crate) struct Change {
    /// Nothing means everything.
    range: Option<lsp::Range>,
    #[serde(flatten)]
    text: EditorText,
}

/// Text of an editor, which may hold halves of surrogate pairs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditorText {
    text: String,
    /// Present in messages that were repaired.
    #[serde(default)]
    text_surrogates: LoneSurrogates,
}

impl EditorText {
    /// The text, and the halves in it. Only clients that count UTF-16 mean one character by two halves.
    fn decoded(self, encoding: Encoding) -> (String, LoneSurrogates) {
        let surrogates = self.text_surrogates.checked(&self.text);
        match encoding {
            Encoding::Utf16 => surrogates.joined(self.text),
            Encoding::Utf8 | Encoding::Utf32 => (self.text, surrogates),
        }
    }
}

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

    /// A number for which documents are open beside the one at `uri`, and for their texts.
    pub(crate) fn state_beside(&self, uri: &Uri) -> u64 {
        let others = self.open.values().filter(|other| other.uri != *uri);
        let mut revisions: Vec<u64> = others.map(|other| other.revision).collect();
        revisions.sort_unstable();
        let mut hasher = DefaultHasher::new();
        revisions.hash(&mut hasher);
        hasher.finish()
    }

    /// Takes in a document. One that is open already is replaced.
    pub(crate) fn open(&mut self, item: OpenedDocument, revision: u64) {
        let path = from_proto::path(&item.uri);
        let by_name = path.as_ref().and_then(|path| Language::from_path(&path.to_string_lossy()));
        let (text, surrogates) = item.text.decoded(self.encoding);
        let rope = Rope::new(&text);
        let document = OpenDocument {
            language: by_name.or_else(|| from_proto::language(&item.language_id)),
            path,
            revision,
            session: Arc::new(Session::new(rope.clone(), revision)),
            rope,
            whole: Arc::default(),
            encoding: self.encoding,
            surrogates,
            is_out_of_sync: false,
            last_edit: None,
            typed: Typed::default(),
            uri: item.uri,
        };
        if let Some(old) = self.open.insert(from_proto::key(&document.uri), Arc::new(document)) {
            old.session.close();
        }
    }

    /// Applies changes one after the other; `None` is one that cannot be read. After one that cannot be applied only a change of the
    /// whole text is. `None` if the document is not open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        changes: impl IntoIterator<Item = Option<Change>>,
        revision: u64,
    ) -> Option<SyncState> {
        let document = Arc::make_mut(self.open.get_mut(&from_proto::key(uri))?);
        let was_out_of_sync = document.is_out_of_sync;
        document.revision = revision;
        document.whole = Arc::default();
        let mut edits = Vec::new();
        changes.into_iter().for_each(|change| document.apply(change, &mut edits));
        document.last_edit = edits.last().map(|edit| edit.range.start).or(document.last_edit);
        edits.iter().for_each(|edit| document.typed.follow(edit, revision));
        document.session.follow(&edits, &document.rope, revision);
        if document.is_out_of_sync {
            document.session.end();
        }
        Some(SyncState::of(was_out_of_sync, document.is_out_of_sync))
    }

    /// Takes note that a document's text is not known any more.
    pub(crate) fn lose(&mut self, uri: &Uri) -> SyncState {
        let Some(document) = self.open.get_mut(&from_proto::key(uri)) else { return SyncState::Kept };
        document.session.end();
        let was_out_of_sync = std::mem::replace(&mut Arc::make_mut(document).is_out_of_sync, true);
        SyncState::of(was_out_of_sync, true)
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
    /// Applies a change, and adds the edits that it comes to.
    fn apply(&mut self, change: Option<Change>, edits: &mut Vec<Edit>) {
        match change {
            Some(Change { range: None, text }) => self.replace_all(text, edits),
            Some(Change { range: Some(range), text }) if !self.is_out_of_sync => {
                self.is_out_of_sync = self.replace(range, text, edits).is_none();
            }
            Some(_) => {}
            None => self.is_out_of_sync = true,
        }
    }

    fn replace_all(&mut self, text: EditorText, edits: &mut Vec<Edit>) {
        let (text, surrogates) = text.decoded(self.encoding);
        // Places follow what really changed, also for clients that always send everything.
        if let Some(edit) = Edit::between(&self.rope.text(), &text) {
            if self.rope.apply(&edit).is_none() {
                self.rope = Rope::new(&text);
            }
            edits.push(edit);
        }
        self.surrogates = surrogates;
        self.is_out_of_sync = false;
    }

    /// `None` if the range does not fit the text.
    fn replace(&mut self, range: lsp::Range, text: EditorText, edits: &mut Vec<Edit>) -> Option<()> {
        self.split_at(range.end, edits)?;
        self.split_at(range.start, edits)?;
        let (text, surrogates) = text.decoded(self.encoding);
        let edit = Edit { range: self.edited(range)?, text };
        let inserted = edit.inserted();
        self.commit(edit, surrogates, edits)?;
        if self.encoding == Encoding::Utf16 {
            self.join_at(inserted.end, edits)?;
            self.join_at(inserted.start, edits)?;
        }
        Some(())
    }

    fn commit(&mut self, edit: Edit, surrogates: LoneSurrogates, edits: &mut Vec<Edit>) -> Option<()> {
        self.rope.apply(&edit)?;
        self.surrogates.follow(&edit, surrogates);
        edits.push(edit);
        Some(())
    }

    /// Makes two halves of the character that a position of UTF-16 cuts, if it cuts one.
    fn split_at(&mut self, position: Position, edits: &mut Vec<Edit>) -> Option<()> {
        let is_cut = self.encoding == Encoding::Utf16 && self.edited_offset(position).is_none();
        let Some(before) = position.character.checked_sub(1).filter(|_| is_cut) else { return Some(()) };
        let start = self.offset_in_text(Position { character: before, ..position })?;
        let line = self.rope.line(position.line as usize)?;
        let character = self.rope.slice(start..line.end)?.chars().next()?;
        let halves = LoneSurrogates::of(character, 0)?;
        let text = [REPLACEMENT; 2].iter().collect();
        self.commit(Edit { range: start..start + character.len_utf8(), text }, halves, edits)
    }

    fn join_at(&mut self, offset: usize, edits: &mut Vec<Edit>) -> Option<()> {
        match self.surrogates.join_at(offset) {
            Some(edit) => self.commit(edit, LoneSurrogates::default(), edits),
            None => Some(()),
        }
    }

    /// The bytes that a change replaces. Lines past the last one mean the end of the text: clients say so to replace all of it.
    fn edited(&self, range: lsp::Range) -> Option<Range<usize>> {
        let (start, end) = (self.edited_offset(range.start)?, self.edited_offset(range.end)?);
        (start <= end).then_some(start..end)
    }

    fn edited_offset(&self, position: Position) -> Option<usize> {
        let is_past_end = position.line as usize >= self.rope.line_count();
        if is_past_end { Some(self.rope.len()) } else { self.offset_in_text(position) }
    }

    fn offset_in_text(&self, position: Position) -> Option<usize> {
        self.rope.offset(from_proto::position(position), self.encoding)
    }

    /// The byte at a position of a request.
    pub(crate) fn offset(&self, position: Position) -> Result<usize> {
        self.known()?;
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
        !self.is_out_of_sync
    }

    /// The answer to requests for a document whose text is not known.
    pub(crate) fn known(&self) -> Result<()> {
        let message = "a change of this document was lost, so its text is not known; close and open it again";
        if self.is_known() { Ok(()) } else { Err(Error::invalid_params(message)) }
    }

    /// The whole text, put together once per version.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(self.whole.get_or_init(|| self.rope.text().into()))
    }
}

#[cfg(test)]
mod tests;
