//! Parses a file for the index of a workspace, in a third of the time: in C, definitions are outside of functions, so the insides of
//! functions are left out.
//!
//! ```text
//! static int area(struct shape *shape)
//! {                                        ─┐
//!     return shape->width * shape->height;  │ left out: nothing between the braces is parsed
//! }                                        ─┘
//! ```
//!
//! The result depends on the text alone, never on an earlier tree, so that an open document is indexed like the saved file. In code
//! without errors, its outline is that of the whole tree. An error in a function spoils no definition outside if the braces match and
//! the function has no directive.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use tree_sitter::Point;

use crate::bounded_parse::ParseBudget;
use crate::language::Language;
use crate::tree::{Tree, advance, parse_pieces};

/// Shorter bodies are parsed: leaving them out takes as long.
const MIN_BODY_BYTES: usize = 16;

/// Returns the tree for [`Tree::outline`] and [`Tree::functions_with_body`] of a file that is indexed. It has no insides of functions in
/// languages where these need none.
pub fn parse_declarations(language: Language, text: &str) -> Tree {
    let bodies = if language.spec().has_opaque_bodies { bodies(text) } else { Vec::new() };
    parse_pieces(language, text, &ranges_around(text, &bodies), ParseBudget::for_file(text.len()))
}

impl Tree {
    /// Returns the tree of [`parse_declarations`] for the text of this tree.
    pub fn declarations(&self, text: &str) -> Cow<'_, Tree> {
        match self.language.spec().has_opaque_bodies {
            true => Cow::Owned(parse_declarations(self.language, text)),
            false => Cow::Borrowed(self),
        }
    }
}

/// Returns the rest of a text; no ranges if nothing is left out.
fn ranges_around(text: &str, holes: &[Range<usize>]) -> Vec<tree_sitter::Range> {
    let mut ranges = Vec::new();
    let (mut start_byte, mut start_point) = (0, Point { row: 0, column: 0 });
    for hole in holes {
        let end_point = advance(start_point, &text[start_byte..hole.start]);
        ranges.push(tree_sitter::Range { start_byte, end_byte: hole.start, start_point, end_point });
        (start_byte, start_point) = (hole.end, advance(end_point, &text[hole.clone()]));
    }
    if !ranges.is_empty() {
        let (end_byte, end_point) = (text.len(), advance(start_point, &text[start_byte..]));
        ranges.push(tree_sitter::Range { start_byte, end_byte, start_point, end_point });
    }
    ranges
}

/// Returns the ranges between braces, the first of which follows a closing parenthesis, in order; only the outermost ones that contain no
/// directive, since braces of the arms of an `#if` need not match.
fn bodies(text: &str) -> Vec<Range<usize>> {
    let mut reader =
        BodyReader { bytes: text.as_bytes(), at: 0, directive: 0, open: Vec::new(), bodies: Vec::new() };
    while reader.go_to_sign() {
        reader.read_sign();
    }
    reader.bodies
}

/// Reads braces outside of literals, comments and directives.
struct BodyReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset after the sign of the last directive.
    directive: usize,
    open: Vec<OpenBrace>,
    bodies: Vec<Range<usize>>,
}

/// A brace that is not closed yet.
struct OpenBrace {
    /// Offset after it.
    start: usize,
    begins_body: bool,
    /// Number of bodies that were found before it.
    bodies_before: usize,
}

impl BodyReader<'_> {
    /// Moves to the next byte that matters; false at the end of the text.
    fn go_to_sign(&mut self) -> bool {
        let is_sign = |byte: &u8| matches!(byte, b'"' | b'\'' | b'/' | b'{' | b'}' | b'#');
        let next = self.bytes[self.at..].iter().position(is_sign);
        self.at = next.map_or(self.bytes.len(), |next| self.at + next);
        next.is_some()
    }

    fn read_sign(&mut self) {
        let at = self.at;
        self.at = match self.bytes[at] {
            b'{' => self.open_brace(at),
            b'}' => self.close_brace(at),
            b'/' => self.comment_end(at).unwrap_or(at + 1),
            b'#' if self.begins_line(at) => {
                self.directive = at + 1;
                self.line_end(at + 1, true)
            }
            quote @ (b'"' | b'\'') => self.literal_end(at + 1, quote),
            _ => at + 1,
        };
    }

    fn open_brace(&mut self, at: usize) -> usize {
        let begins_body = self.bytes[..at].trim_ascii_end().ends_with(b")");
        self.open.push(OpenBrace { start: at + 1, begins_body, bodies_before: self.bodies.len() });
        at + 1
    }

    fn close_brace(&mut self, at: usize) -> usize {
        // After arms of an `#if` that open more braces than they close, this may be another one. It contains as much text.
        if let Some(OpenBrace { start, begins_body, bodies_before }) = self.open.pop()
            && begins_body
            && start > self.directive
            && at - start >= MIN_BODY_BYTES
        {
            self.bodies.truncate(bodies_before);
            self.bodies.push(start..at);
        }
        at + 1
    }

    /// Returns the end of a literal whose content begins at `at`; a line end closes it, too.
    fn literal_end(&self, mut at: usize, quote: u8) -> usize {
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at = self.after_escape(at),
                _ if byte == quote || byte == b'\n' => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// Returns the end of the comment that begins at the slash; `None` if there is none.
    fn comment_end(&self, slash: usize) -> Option<usize> {
        let content = slash + 2;
        match self.bytes.get(slash + 1)? {
            b'*' => {
                let length = memmem::find(&self.bytes[content..], b"*/").map(|length| length + 2);
                Some(length.map_or(self.bytes.len(), |length| content + length))
            }
            b'/' => Some(self.line_end(content, false)),
            _ => None,
        }
    }

    /// Returns the end of a line, which a backslash continues, or if it `has_comments`, of the comment that begins in it.
    fn line_end(&self, mut at: usize, has_comments: bool) -> usize {
        while let Some(&byte) = self.bytes.get(at) {
            at = match byte {
                b'\n' => return at,
                b'\\' => self.after_escape(at),
                b'/' if has_comments => self.comment_end(at).unwrap_or(at + 1),
                _ => at + 1,
            }
        }
        self.bytes.len()
    }

    /// Returns the offset after a backslash and the line end or byte behind it.
    fn after_escape(&self, backslash: usize) -> usize {
        let is_long = self.bytes[backslash + 1..].starts_with(b"\r\n");
        (backslash + if is_long { 3 } else { 2 }).min(self.bytes.len())
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = self.bytes[..at].trim_ascii_end();
        before.is_empty() || self.bytes[before.len()..at].contains(&b'\n')
    }
}

#[cfg(test)]
mod tests;
