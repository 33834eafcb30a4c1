//! Text synchronization: turns the client's changes of documents into edits in bytes, and applies them to the open documents.
//!
//! Responsible for what only the protocol knows: positions in the client's encoding, lone surrogates in its text, and changes that
//! cannot be applied. [`Documents`] hold everything else. Nothing is parsed here, and no file is read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;
use session::{Documents, NewDocument, OpenDocument, SyncOutcome};
use syntax::Language;
use text::{Document as Rope, Edit, PositionEncoding, Revision};
use tower_lsp_server::gen_lsp_types::{self as lsp, Position, Uri};

use crate::from_proto;
use crate::surrogates::{LoneSurrogates, REPLACEMENT};

/// The open documents, and the state of their synchronization.
pub(crate) struct TextSync {
    encoding: PositionEncoding,
    documents: Arc<Documents>,
    /// Lone surrogates of the documents that have any, by key.
    surrogates: HashMap<Arc<str>, LoneSurrogates>,
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

impl TextSync {
    /// For a client that counts characters in `encoding`.
    pub(crate) fn new(encoding: PositionEncoding) -> TextSync {
        TextSync { encoding, documents: Arc::default(), surrogates: HashMap::new() }
    }

    /// Returns the open documents.
    pub(crate) fn documents(&self) -> &Arc<Documents> {
        &self.documents
    }

    /// Opens a document, replacing one that is already open.
    pub(crate) fn open(&mut self, item: DidOpenDocument, revision: u64) {
        let key = from_proto::document_key(&item.uri);
        let path = from_proto::path(&item.uri);
        let by_name = path.as_ref().and_then(|path| Language::from_path(&path.to_string_lossy()));
        let language = by_name.or_else(|| from_proto::language(&item.language_id));
        let (text, surrogates) = item.text.decode(self.encoding);
        self.set_surrogates(&key, surrogates);
        Arc::make_mut(&mut self.documents).open(NewDocument { key, path, language, text }, revision);
    }

    /// Applies changes in order; `None` is a change that cannot be decoded. After a change that cannot be applied, only a
    /// replacement of the whole text is applied. Returns `None` if the document is not open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        changes: impl IntoIterator<Item = Option<ContentChange>>,
        revision: u64,
        time: Instant,
    ) -> Option<SyncOutcome> {
        let key = from_proto::document_key(uri);
        let document = self.documents.get(&key)?;
        let mut change = DocumentChange {
            encoding: self.encoding,
            rope: document.rope.clone(),
            surrogates: self.surrogates.get(&key).cloned().unwrap_or_default(),
            is_synchronized: document.is_synchronized(),
            edits: Vec::new(),
        };
        changes.into_iter().for_each(|content| change.apply(content));
        let DocumentChange { surrogates, is_synchronized, edits, .. } = change;
        self.set_surrogates(&key, surrogates);
        let revision = Revision { number: revision, time, edits };
        Arc::make_mut(&mut self.documents).change(&key, revision, is_synchronized)
    }

    /// Returns the document and the byte offset of the cursor that a request names; `None` if they are invalid.
    pub(crate) fn cursor(&self, params: &Value) -> Option<(&OpenDocument, usize)> {
        let uri = params.pointer("/textDocument/uri")?.as_str()?;
        let position = Position::deserialize(params.get("position")?).ok()?;
        let document = self.documents.get(&from_proto::document_key(&Uri(uri.to_owned())))?;
        let offset = document.rope.offset(from_proto::position(position), self.encoding)?;
        document.is_synchronized().then_some((document, offset))
    }

    /// Marks a document as out of sync.
    pub(crate) fn mark_desynchronized(&mut self, uri: &Uri) -> SyncOutcome {
        Arc::make_mut(&mut self.documents).mark_desynchronized(&from_proto::document_key(uri))
    }

    /// Marks all documents as out of sync. Returns how many were not before.
    pub(crate) fn mark_all_desynchronized(&mut self) -> usize {
        let open: Vec<Arc<str>> = self.documents.all().map(|document| Arc::clone(&document.key)).collect();
        let documents = Arc::make_mut(&mut self.documents);
        open.iter().filter(|key| documents.mark_desynchronized(key) == SyncOutcome::Lost).count()
    }

    /// Closes a document and cancels its computations. Returns false if it was not open.
    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        let key = from_proto::document_key(uri);
        self.surrogates.remove(&key);
        Arc::make_mut(&mut self.documents).close(&key)
    }

    fn set_surrogates(&mut self, key: &Arc<str>, surrogates: LoneSurrogates) {
        if surrogates.is_empty() {
            self.surrogates.remove(key);
        } else {
            self.surrogates.insert(Arc::clone(key), surrogates);
        }
    }
}

/// Changes of one document that are being turned into edits.
struct DocumentChange {
    encoding: PositionEncoding,
    /// The text after the edits so far.
    rope: Rope,
    surrogates: LoneSurrogates,
    /// False after a change that cannot be applied.
    is_synchronized: bool,
    edits: Vec<Edit>,
}

impl DocumentChange {
    fn apply(&mut self, change: Option<ContentChange>) {
        match change {
            Some(ContentChange { range: None, text }) => {
                self.is_synchronized = self.replace_all(text).is_some();
            }
            Some(ContentChange { range: Some(range), text }) if self.is_synchronized => {
                self.is_synchronized = self.replace(range, text).is_some();
            }
            Some(_) => {}
            None => self.is_synchronized = false,
        }
    }

    fn replace_all(&mut self, text: EditorText) -> Option<()> {
        let (text, surrogates) = text.decode(self.encoding);
        // Ranges follow the actual change, also for clients that always send the whole text.
        if let Some(edit) = Edit::between(&self.rope.text(), &text) {
            self.rope.apply(&edit)?;
            self.edits.push(edit);
        }
        self.surrogates = surrogates;
        Some(())
    }

    /// `None` if the range does not fit the text.
    fn replace(&mut self, range: lsp::Range, text: EditorText) -> Option<()> {
        self.split_surrogates_at(range.end)?;
        self.split_surrogates_at(range.start)?;
        let (text, surrogates) = text.decode(self.encoding);
        let edit = Edit { range: self.edited_range(range)?, text };
        let inserted = edit.inserted_range();
        self.apply_edit(edit, surrogates)?;
        if self.encoding == PositionEncoding::Utf16 {
            self.join_surrogates_at(inserted.end)?;
            self.join_surrogates_at(inserted.start)?;
        }
        Some(())
    }

    fn apply_edit(&mut self, edit: Edit, surrogates: LoneSurrogates) -> Option<()> {
        self.rope.apply(&edit)?;
        self.surrogates.apply_edit(&edit, surrogates);
        self.edits.push(edit);
        Some(())
    }

    /// Splits the character that a UTF-16 position cuts into its surrogates, if it cuts one.
    fn split_surrogates_at(&mut self, position: Position) -> Option<()> {
        let is_cut = self.encoding == PositionEncoding::Utf16 && self.edited_offset(position).is_none();
        let Some(before) = position.character.checked_sub(1).filter(|_| is_cut) else { return Some(()) };
        let start = self.offset(Position { character: before, ..position })?;
        let line = self.rope.line(position.line as usize)?;
        let character = self.rope.slice(start..line.end)?.chars().next()?;
        let halves = LoneSurrogates::from_char(character, 0)?;
        let text = [REPLACEMENT; 2].iter().collect();
        self.apply_edit(Edit { range: start..start + character.len_utf8(), text }, halves)
    }

    fn join_surrogates_at(&mut self, offset: usize) -> Option<()> {
        match self.surrogates.join_at(offset) {
            Some(edit) => self.apply_edit(edit, LoneSurrogates::default()),
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
        if is_past_end { Some(self.rope.len()) } else { self.offset(position) }
    }

    fn offset(&self, position: Position) -> Option<usize> {
        self.rope.offset(from_proto::position(position), self.encoding)
    }
}

#[cfg(test)]
mod tests;
