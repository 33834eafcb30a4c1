//! The client's copy of a document: a plain string, and edits in the protocol's form.

use std::ops::Range;

use serde_json::{Value, json};

/// Unit of a position's `character`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    /// Returns the protocol's name.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    /// Returns the length of a text.
    pub fn length(self, text: &str) -> u64 {
        text.chars().map(|c| self.length_of(c)).sum()
    }

    fn length_of(self, c: char) -> u64 {
        match self {
            Encoding::Utf8 => c.len_utf8() as u64,
            Encoding::Utf16 => c.len_utf16() as u64,
            Encoding::Utf32 => 1,
        }
    }
}

/// An open document of the client. Offsets are in bytes.
#[derive(Clone, Debug)]
pub struct Buffer {
    uri: String,
    language: String,
    encoding: Encoding,
    version: i64,
    text: String,
}

impl Buffer {
    /// Creates a document at version 0.
    pub fn new(uri: impl Into<String>, language: &str, encoding: Encoding, text: &str) -> Buffer {
        Buffer { uri: uri.into(), language: language.to_owned(), encoding, version: 0, text: text.to_owned() }
    }

    /// Returns its URI.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the version.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Returns its `TextDocumentIdentifier`.
    pub fn id(&self) -> Value {
        json!({"uri": self.uri})
    }

    /// Returns the parameters of `textDocument/didOpen`.
    pub fn did_open(&self) -> Value {
        let Buffer { uri, language, version, text, .. } = self;
        json!({"textDocument": {"uri": uri, "languageId": language, "version": version, "text": text}})
    }

    /// Returns the parameters of `textDocument/didClose`.
    pub fn did_close(&self) -> Value {
        json!({"textDocument": self.id()})
    }

    /// Replaces a range; returns the parameters of `textDocument/didChange`.
    ///
    /// # Panics
    ///
    /// If the range is not in the text or splits a character.
    #[track_caller]
    pub fn edit(&mut self, range: Range<usize>, new: &str) -> Value {
        let change = self.change(range, new);
        self.did_change(vec![change])
    }

    /// Appends text.
    pub fn append(&mut self, new: &str) -> Value {
        self.edit(self.text.len()..self.text.len(), new)
    }

    /// Applies one of several changes of a notification; [`Buffer::did_change`] creates the notification. Each change refers to
    /// the text after the previous one.
    ///
    /// # Panics
    ///
    /// If the range is not in the text or splits a character.
    #[track_caller]
    pub fn change(&mut self, range: Range<usize>, new: &str) -> Value {
        let change = json!({"range": self.range(range.clone()), "text": new});
        self.text.replace_range(range, new);
        change
    }

    /// As [`Buffer::change`], for the whole text.
    pub fn change_all(&mut self, new: &str) -> Value {
        self.text = new.to_owned();
        json!({"text": new})
    }

    /// Returns the parameters of `textDocument/didChange` with the next version.
    pub fn did_change(&mut self, changes: Vec<Value>) -> Value {
        self.version += 1;
        json!({"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes})
    }

    /// Returns the position after the last character.
    pub fn end(&self) -> Value {
        self.position(self.text.len())
    }

    /// Converts a byte range to the protocol's range.
    #[track_caller]
    pub fn range(&self, range: Range<usize>) -> Value {
        json!({"start": self.position(range.start), "end": self.position(range.end)})
    }

    /// Converts a byte offset to the protocol's position.
    ///
    /// # Panics
    ///
    /// If it is not in the text, or inside a character or a line break.
    #[track_caller]
    pub fn position(&self, offset: usize) -> Value {
        let splits_line_break = self.text[..offset].ends_with('\r') && self.text[offset..].starts_with('\n');
        assert!(!splits_line_break, "no position lies inside a line break");
        let starts: Vec<_> = line_starts(&self.text).take_while(|&start| start <= offset).collect();
        let line = starts.len() - 1;
        json!({"line": line, "character": self.encoding.length(&self.text[starts[line]..offset])})
    }

    /// Converts a position to a byte offset.
    ///
    /// # Panics
    ///
    /// If it is not in the text.
    #[track_caller]
    pub fn offset(&self, position: &Value) -> usize {
        let number = |key: &str| position[key].as_u64().unwrap_or_else(|| panic!("no position: {position}"));
        let mut starts = line_starts(&self.text).skip(number("line") as usize);
        let start = starts.next().unwrap_or_else(|| panic!("{position} is below the text"));
        let line = &self.text[start..starts.next().unwrap_or(self.text.len())];
        let mut rest = line.chars();
        let mut characters = 0;
        while characters < number("character") {
            let c = rest.next().unwrap_or_else(|| panic!("{position} is past the end of the line"));
            characters += self.encoding.length_of(c);
        }
        assert_eq!(characters, number("character"), "{position} is inside a character");
        start + line.len() - rest.as_str().len()
    }

    /// Returns the ghost text of a completion item: its text without the part of its range before the cursor.
    ///
    /// # Panics
    ///
    /// If an editor could not draw it: the range spans lines, does not touch the cursor, or its text does not begin with the
    /// text before the cursor.
    #[track_caller]
    pub fn ghost_text(&self, cursor: usize, item: &Value) -> String {
        let text = item["insertText"].as_str().unwrap_or_else(|| panic!("no plain text: {item}"));
        let Some(range) = item.get("range") else { return text.to_owned() };
        assert_eq!(range["start"]["line"], range["end"]["line"], "an item's range lies on one line");
        let (start, end) = (self.offset(&range["start"]), self.offset(&range["end"]));
        assert!(start <= cursor && cursor <= end, "{range} does not touch the cursor");
        let typed = &self.text[start..cursor];
        let ghost = text.strip_prefix(typed);
        ghost.unwrap_or_else(|| panic!("`{text}` does not begin with the typed text, `{typed}`")).to_owned()
    }
}

/// Starts of lines. A line ends with a line feed, a carriage return, or both.
fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let ends =
        move |&at: &usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    std::iter::once(0).chain((0..bytes.len()).filter(ends).map(|at| at + 1))
}
