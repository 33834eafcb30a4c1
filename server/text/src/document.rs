//! A rope-based document with line access and conversion of editor positions.

use std::borrow::Cow;
use std::ops::Range;

use ropey::Rope;

use crate::Edit;

/// Unit in which an editor counts the characters of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PositionEncoding {
    /// UTF-8 bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Unicode scalar values (UTF-32).
    Utf32,
}

/// Line and character position, as in the language server protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// 0-based.
    pub line: u32,
    /// 0-based, from the start of the line, in units of the agreed [`PositionEncoding`].
    pub character: u32,
}

/// Text that is cheap to clone, to edit and to split into lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    rope: Rope,
}

impl Document {
    /// Creates a document with the content `text`.
    pub fn new(text: &str) -> Document {
        Document { rope: Rope::from_str(text) }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// Returns whether the document is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.rope.to_string()
    }

    /// Returns the number of lines. A final line end is followed by one more, empty line.
    pub fn line_count(&self) -> usize {
        self.rope.len_lines()
    }

    /// Returns the text in `range`, or `None` if the range is reversed, out of bounds or splits a character.
    pub fn slice(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        if !self.is_boundary(range.start) || !self.is_boundary(range.end) {
            return None;
        }
        self.rope.get_byte_slice(range).map(Cow::from)
    }

    /// Applies `edit`. Returns `None` and changes nothing if its range is reversed, out of bounds or splits a character.
    #[must_use = "an edit that does not fit means that the editor and this document have parted"]
    pub fn apply(&mut self, edit: &Edit) -> Option<()> {
        let Range { start, end } = edit.range;
        if start > end || !self.is_boundary(start) || !self.is_boundary(end) {
            return None;
        }
        let start = self.rope.byte_to_char(start);
        let end = self.rope.byte_to_char(end);
        self.rope.remove(start..end);
        self.rope.insert(start, &edit.text);
        Some(())
    }

    /// Returns the byte offset of `position`, or `None` if the line does not exist or the position splits a character.
    ///
    /// As in the language server protocol, a character past the end of the line means the end of the line, before its line end.
    pub fn offset(&self, position: Position, encoding: PositionEncoding) -> Option<usize> {
        let line = self.line(position.line as usize)?;
        let start = self.rope.byte_to_char(line.start);
        let content = self.rope.byte_slice(line.clone());
        let character = position.character as usize;
        let chars = match encoding {
            PositionEncoding::Utf8 if character >= content.len_bytes() => content.len_chars(),
            PositionEncoding::Utf8 => content.byte_to_char(character),
            PositionEncoding::Utf16 if character >= content.len_utf16_cu() => content.len_chars(),
            PositionEncoding::Utf16 => content.utf16_cu_to_char(character),
            PositionEncoding::Utf32 => character.min(content.len_chars()),
        };
        let offset = self.rope.char_to_byte(start + chars);
        // Units inside a character are rounded down to its start, which is not a valid position.
        let is_exact = offset == line.end || self.units(line.start..offset, encoding) == character;
        is_exact.then_some(offset)
    }

    /// Returns the position of the byte at `offset`, or `None` if it is out of bounds or splits a character.
    ///
    /// The offset between the CR and the LF of a line end has no position either.
    pub fn position(&self, offset: usize, encoding: PositionEncoding) -> Option<Position> {
        if !self.is_boundary(offset) {
            return None;
        }
        let line = self.rope.byte_to_line(offset);
        let content = self.line(line)?;
        if offset > content.end {
            return None;
        }
        let character = self.units(content.start..offset, encoding);
        Some(Position { line: u32::try_from(line).ok()?, character: u32::try_from(character).ok()? })
    }

    /// Returns the byte range of a line without its line end.
    pub fn line(&self, line: usize) -> Option<Range<usize>> {
        if line >= self.line_count() {
            return None;
        }
        let start = self.rope.line_to_byte(line);
        let end = self.rope.line_to_byte(line + 1);
        Some(start..end - self.line_end_len(start..end))
    }

    /// Returns the length of the line end of `line`: 0, 1 or 2 bytes.
    fn line_end_len(&self, line: Range<usize>) -> usize {
        let byte = |back: usize| {
            let index = line.end.checked_sub(back)?;
            (index >= line.start).then(|| self.rope.byte(index))
        };
        match (byte(2), byte(1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (_, Some(b'\r' | b'\n')) => 1,
            _ => 0,
        }
    }

    /// Counts the units of `encoding` in `range`, whose ends are character boundaries.
    fn units(&self, range: Range<usize>, encoding: PositionEncoding) -> usize {
        let slice = self.rope.byte_slice(range);
        match encoding {
            PositionEncoding::Utf8 => slice.len_bytes(),
            PositionEncoding::Utf16 => slice.len_utf16_cu(),
            PositionEncoding::Utf32 => slice.len_chars(),
        }
    }

    /// Returns whether `offset` is a character boundary within the text.
    fn is_boundary(&self, offset: usize) -> bool {
        offset <= self.len() && self.rope.char_to_byte(self.rope.byte_to_char(offset)) == offset
    }
}
