//! The open documents, as changed by the client's notifications.
//!
//! The ordering layer owns them and changes them in order of arrival; all others get a snapshot of the whole map, which costs one
//! reference count. Nothing is parsed here, and no file is read.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use syntax::Language;
use text::{Document as Rope, Edit, PositionEncoding};
use tower_lsp_server::gen_lsp_types::{self as lsp, Position, Uri};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::document_session::DocumentSession;
use crate::from_proto;
use crate::surrogates::{LoneSurrogates, REPLACEMENT};
use crate::to_proto;
use crate::typed_ranges::TypedRanges;

/// Whether a change desynchronized a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncOutcome {
    /// No: the text is current, or was out of sync before.
    Unchanged,
    /// Yes: the text is no longer what the editor shows.
    Lost,
}

impl SyncOutcome {
    fn from_flags(was_out_of_sync: bool, is_out_of_sync: bool) -> SyncOutcome {
        if is_out_of_sync && !was_out_of_sync { SyncOutcome::Lost } else { SyncOutcome::Unchanged }
    }
}

/// All open documents.
#[derive(Clone)]
pub(crate) struct Documents {
    encoding: PositionEncoding,
    open: HashMap<String, Arc<OpenDocument>>,
}

/// A document in one version. The state that outlives versions is in its [`DocumentSession`].
#[derive(Clone)]
pub(crate) struct OpenDocument {
    /// URI as written by the client.
    pub(crate) uri: Uri,
    /// Path, if it is a file.
    pub(crate) path: Option<PathBuf>,
    /// Language by the file name, otherwise by the client's language id; `None` for unsupported languages.
    pub(crate) language: Option<Language>,
    /// Number of the message that set this text.
    pub(crate) revision: u64,
    /// The text.
    pub(crate) rope: Rope,
    /// The whole text, built on demand.
    full_text: Arc<OnceLock<Arc<str>>>,
    /// State that outlives versions.
    pub(crate) session: Arc<DocumentSession>,
    /// How the client counts characters.
    pub(crate) encoding: PositionEncoding,
    /// Lone surrogates in the text.
    surrogates: LoneSurrogates,
    /// Whether a change was lost, so that the text is not what the editor shows.
    is_out_of_sync: bool,
    /// Start of the last edit, in bytes.
    pub(crate) last_edit: Option<usize>,
    /// Recently typed ranges.
    pub(crate) typed_ranges: TypedRanges,
}

/// A document as sent by `didOpen`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidOpenDocument {
    pub(crate) uri: Uri,
    language_id: String,
    #[serde(flatten)]
    text: EditorText,
}

/// A replacement of a range of a document, or of all of it.
#[derive(Deserialize)]
pub(crate) struct ContentChange {
    /// `None` replaces the whole text.
    range: Option<lsp::Range>,
    #[serde(flatten)]
    text: EditorText,
}

/// Text sent by an editor, which may contain lone surrogates.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditorText {
    text: String,
    /// Present in repaired messages.
    #[serde(default)]
    text_surrogates: LoneSurrogates,
}

impl EditorText {
    /// The text and its lone surrogates. Only for clients that count UTF-16 do two halves form one character.
    fn decode(self, encoding: PositionEncoding) -> (String, LoneSurrogates) {
        let surrogates = self.text_surrogates.validated(&self.text);
        match encoding {
            PositionEncoding::Utf16 => surrogates.joined(self.text),
            PositionEncoding::Utf8 | PositionEncoding::Utf32 => (self.text, surrogates),
        }
    }
}

impl Default for Documents {
    /// Before the negotiation, characters are counted in UTF-16, which every client supports.
    fn default() -> Documents {
        Documents::new(PositionEncoding::Utf16)
    }
}

impl Documents {
    pub(crate) fn new(encoding: PositionEncoding) -> Documents {
        Documents { encoding, open: HashMap::new() }
    }

    pub(crate) fn get(&self, uri: &Uri) -> Option<Arc<OpenDocument>> {
        self.open.get(&from_proto::document_key(uri)).cloned()
    }

    /// All open documents, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Arc<OpenDocument>> {
        self.open.values().cloned()
    }

    /// A hash of the open documents other than the one at `uri`, and of their texts.
    pub(crate) fn fingerprint_of_others(&self, uri: &Uri) -> u64 {
        let others = self.open.values().filter(|other| other.uri != *uri);
        let mut revisions: Vec<u64> = others.map(|other| other.revision).collect();
        revisions.sort_unstable();
        let mut hasher = DefaultHasher::new();
        revisions.hash(&mut hasher);
        hasher.finish()
    }

    /// Opens a document, replacing one that is already open.
    pub(crate) fn open(&mut self, item: DidOpenDocument, revision: u64) {
        let path = from_proto::path(&item.uri);
        let by_name = path.as_ref().and_then(|path| Language::from_path(&path.to_string_lossy()));
        let (text, surrogates) = item.text.decode(self.encoding);
        let rope = Rope::new(&text);
        let document = OpenDocument {
            language: by_name.or_else(|| from_proto::language(&item.language_id)),
            path,
            revision,
            session: Arc::new(DocumentSession::new(rope.clone(), revision)),
            rope,
            full_text: Arc::default(),
            encoding: self.encoding,
            surrogates,
            is_out_of_sync: false,
            last_edit: None,
            typed_ranges: TypedRanges::default(),
            uri: item.uri,
        };
        if let Some(old) = self.open.insert(from_proto::document_key(&document.uri), Arc::new(document)) {
            old.session.close();
        }
    }

    /// Applies changes in order; `None` is a change that cannot be decoded. After a change that cannot be applied, only a
    /// replacement of the whole text is applied. Returns `None` if the document is not open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        changes: impl IntoIterator<Item = Option<ContentChange>>,
        revision: u64,
    ) -> Option<SyncOutcome> {
        let document = Arc::make_mut(self.open.get_mut(&from_proto::document_key(uri))?);
        let was_out_of_sync = document.is_out_of_sync;
        document.revision = revision;
        document.full_text = Arc::default();
        let mut edits = Vec::new();
        changes.into_iter().for_each(|change| document.apply_change(change, &mut edits));
        document.last_edit = edits.last().map(|edit| edit.range.start).or(document.last_edit);
        edits.iter().for_each(|edit| document.typed_ranges.apply_edit(edit, revision));
        document.session.apply_edits(&edits, &document.rope, revision);
        if document.is_out_of_sync {
            document.session.cancel_requests();
        }
        Some(SyncOutcome::from_flags(was_out_of_sync, document.is_out_of_sync))
    }

    /// Marks a document as out of sync.
    pub(crate) fn mark_desynchronized(&mut self, uri: &Uri) -> SyncOutcome {
        let Some(document) = self.open.get_mut(&from_proto::document_key(uri)) else {
            return SyncOutcome::Unchanged;
        };
        document.session.cancel_requests();
        let was_out_of_sync = std::mem::replace(&mut Arc::make_mut(document).is_out_of_sync, true);
        SyncOutcome::from_flags(was_out_of_sync, true)
    }

    /// Closes a document and cancels its computations. Returns false if it was not open.
    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        let closed = self.open.remove(&from_proto::document_key(uri));
        if let Some(document) = &closed {
            document.session.close();
        }
        closed.is_some()
    }
}

impl OpenDocument {
    /// Applies a change and appends the resulting edits to `edits`.
    fn apply_change(&mut self, change: Option<ContentChange>, edits: &mut Vec<Edit>) {
        match change {
            Some(ContentChange { range: None, text }) => self.replace_all(text, edits),
            Some(ContentChange { range: Some(range), text }) if !self.is_out_of_sync => {
                self.is_out_of_sync = self.replace(range, text, edits).is_none();
            }
            Some(_) => {}
            None => self.is_out_of_sync = true,
        }
    }

    fn replace_all(&mut self, text: EditorText, edits: &mut Vec<Edit>) {
        let (text, surrogates) = text.decode(self.encoding);
        // Tracked ranges follow the actual change, also for clients that always send the whole text.
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
        self.split_surrogates_at(range.end, edits)?;
        self.split_surrogates_at(range.start, edits)?;
        let (text, surrogates) = text.decode(self.encoding);
        let edit = Edit { range: self.edited_range(range)?, text };
        let inserted = edit.inserted_range();
        self.apply_edit(edit, surrogates, edits)?;
        if self.encoding == PositionEncoding::Utf16 {
            self.join_surrogates_at(inserted.end, edits)?;
            self.join_surrogates_at(inserted.start, edits)?;
        }
        Some(())
    }

    fn apply_edit(&mut self, edit: Edit, surrogates: LoneSurrogates, edits: &mut Vec<Edit>) -> Option<()> {
        self.rope.apply(&edit)?;
        self.surrogates.apply_edit(&edit, surrogates);
        edits.push(edit);
        Some(())
    }

    /// Splits the character that a UTF-16 position cuts into its surrogates, if it cuts one.
    fn split_surrogates_at(&mut self, position: Position, edits: &mut Vec<Edit>) -> Option<()> {
        let is_cut = self.encoding == PositionEncoding::Utf16 && self.edited_offset(position).is_none();
        let Some(before) = position.character.checked_sub(1).filter(|_| is_cut) else { return Some(()) };
        let start = self.offset_in_text(Position { character: before, ..position })?;
        let line = self.rope.line(position.line as usize)?;
        let character = self.rope.slice(start..line.end)?.chars().next()?;
        let halves = LoneSurrogates::from_char(character, 0)?;
        let text = [REPLACEMENT; 2].iter().collect();
        self.apply_edit(Edit { range: start..start + character.len_utf8(), text }, halves, edits)
    }

    fn join_surrogates_at(&mut self, offset: usize, edits: &mut Vec<Edit>) -> Option<()> {
        match self.surrogates.join_at(offset) {
            Some(edit) => self.apply_edit(edit, LoneSurrogates::default(), edits),
            None => Some(()),
        }
    }

    /// The bytes that a change replaces. Positions past the last line mean the end of the text, since clients use them to replace
    /// all of it.
    fn edited_range(&self, range: lsp::Range) -> Option<Range<usize>> {
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

    /// Byte offset of a request's position.
    pub(crate) fn offset(&self, position: Position) -> Result<usize> {
        self.ensure_synchronized()?;
        self.offset_in_text(position).ok_or_else(|| {
            let Position { line, character } = position;
            let lines = self.rope.line_count();
            Error::invalid_params(format!(
                "invalid position {line}:{character} in a document of {lines} lines"
            ))
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

    /// The file's path without links; `None` if it is not a file. Waits for the disk the first time.
    pub(crate) async fn real_path(&self) -> Option<Arc<Path>> {
        self.session.real_path.get(self.path.as_deref()?).await
    }

    /// Whether the text is what the editor shows.
    pub(crate) fn is_synchronized(&self) -> bool {
        !self.is_out_of_sync
    }

    /// Fails for a document that is out of sync.
    pub(crate) fn ensure_synchronized(&self) -> Result<()> {
        let message = "the document is out of sync after a lost change; close and open it again";
        if self.is_synchronized() { Ok(()) } else { Err(Error::invalid_params(message)) }
    }

    /// The whole text, built once per version.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(self.full_text.get_or_init(|| self.rope.text().into()))
    }
}

#[cfg(test)]
mod tests;
