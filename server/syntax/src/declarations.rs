//! Parses a file for the index of a workspace, in less than a quarter of the time: in C, definitions are outside of functions and of
//! values, so the insides of both are left out, and so are macros on one line, which need no parser.
//!
//! ```text
//! #define SIDES 4                          ── left out, and added to the outline
//! static int area(struct shape *shape)
//! {                                        ─┐
//!     return shape->width * shape->height;  │ left out: nothing between the braces is parsed
//! }                                        ─┘
//! static const struct ops square = {       ─┐
//!     .area = area,                         │ left out, too
//! };                                       ─┘
//! ```
//!
//! The result depends on the text alone, never on an earlier tree, so that an open document is indexed like the saved file. In code
//! without errors, its outline is that of the whole tree. An error in a function or value spoils no definition outside if the braces
//! match in each arm of an `#if`.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use tree_sitter::Point;

use crate::bounded_parse::ParseBudget;
use crate::language::Language;
use crate::outline::Outline;
use crate::preprocessor::Directive;
use crate::tree::{Tree, advance, parse_pieces};

mod one_line_macro;

pub(crate) use one_line_macro::OneLineMacro;

/// Shorter insides are parsed: leaving them out takes as long.
const MIN_HOLE_BYTES: usize = 16;

/// Maximum number of ranges that are left out of a text: for each token, the parser goes through all before it.
const MAX_HOLES: usize = 2_000;

/// More braces than can be open: the arm is uneven, even if it opens as many again (`} else {`).
const UNEVEN: usize = usize::MAX;

/// What the index of a workspace needs of the syntax of a text.
pub struct Declarations<'t> {
    /// Has no insides of functions and values, and not all macros, in languages where these need none.
    tree: Cow<'t, Tree>,
    /// The macros that the tree lacks, in order.
    macros: Vec<OneLineMacro>,
}

/// Parses a file that is indexed.
pub fn parse_declarations(language: Language, text: &str) -> Declarations<'static> {
    let LeftOut { holes, macros } =
        if language.spec().has_opaque_bodies { LeftOut::of(text) } else { LeftOut::default() };
    let pieces = ranges_around(text, &holes);
    let tree = parse_pieces(language, text, &pieces, ParseBudget::for_file(text.len()));
    Declarations { tree: Cow::Owned(tree), macros }
}

impl Tree {
    /// Returns the result of [`parse_declarations`] for the text of this tree.
    pub fn declarations(&self, text: &str) -> Declarations<'_> {
        match self.language.spec().has_opaque_bodies {
            true => parse_declarations(self.language, text),
            false => Declarations { tree: Cow::Borrowed(self), macros: Vec::new() },
        }
    }
}

impl Declarations<'_> {
    /// Returns the definitions and imports of the parsed `text`: those of [`Tree::outline`].
    pub fn outline(&self, text: &str) -> Outline {
        // The tree is empty, and so is its outline.
        let macros = if self.is_too_complex() { &[] } else { &*self.macros };
        self.tree.outline_with(text, macros)
    }

    /// Returns the functions with a body of the parsed `text`: those of [`Tree::functions_with_body`].
    pub fn functions_with_body(&self, text: &str) -> Vec<Range<usize>> {
        self.tree.functions_with_body(text)
    }

    /// Whether parsing exceeded the time or memory budget; see [`Tree::is_too_complex`].
    pub fn is_too_complex(&self) -> bool {
        self.tree.is_too_complex()
    }
}

/// Returns the rest of a text; no ranges if nothing is left out.
fn ranges_around(text: &str, holes: &[Range<usize>]) -> Vec<tree_sitter::Range> {
    let mut ranges = Vec::new();
    let (mut start_byte, mut start_point) = (0, Point { row: 0, column: 0 });
    for hole in holes {
        let end_point = advance(start_point, &text[start_byte..hole.start]);
        if start_byte < hole.start {
            ranges.push(tree_sitter::Range { start_byte, end_byte: hole.start, start_point, end_point });
        }
        (start_byte, start_point) = (hole.end, advance(end_point, &text[hole.clone()]));
    }
    // Before an empty range, the last node would end behind the hole.
    if !holes.is_empty() && (start_byte < text.len() || ranges.is_empty()) {
        let (end_byte, end_point) = (text.len(), advance(start_point, &text[start_byte..]));
        ranges.push(tree_sitter::Range { start_byte, end_byte, start_point, end_point });
    }
    ranges
}

/// The parts of a text that are left out.
#[derive(Default)]
struct LeftOut {
    /// Ranges between braces, the first of which follows a closing parenthesis or an equals sign, and the lines of macros, in order. Of the
    /// former only the outermost ones in which each arm of an `#if` closes the braces that it opens, and no others.
    holes: Vec<Range<usize>>,
    macros: Vec<OneLineMacro>,
}

impl LeftOut {
    fn of(text: &str) -> LeftOut {
        let mut reader = HoleReader {
            text,
            at: 0,
            open: Vec::new(),
            arms: Vec::new(),
            uneven_arm: 0,
            left_out: LeftOut::default(),
        };
        while reader.go_to_sign() {
            reader.read_sign();
        }
        reader.left_out
    }

    /// Adds a range behind all others; returns false if there are too many.
    fn add_hole(&mut self, hole: Range<usize>) -> bool {
        let has_room = self.holes.len() < MAX_HOLES;
        if has_room {
            self.holes.push(hole);
        }
        has_room
    }
}

/// Reads braces outside of literals and comments, and directives.
struct HoleReader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<OpenBrace>,
    /// Number of open braces where each arm of an `#if` begins that is not at its end yet; [`UNEVEN`] once it closes one of them.
    arms: Vec<usize>,
    /// Offset after the last arm of an `#if` that opens other braces than it closes: no brace before it may match one behind it.
    uneven_arm: usize,
    left_out: LeftOut,
}

/// A brace that is not closed yet.
struct OpenBrace {
    /// Offset after it.
    start: usize,
    /// Whether it begins the body of a function or a value.
    holds_no_definition: bool,
    /// Number of ranges that were left out before it.
    holes_before: usize,
}

impl HoleReader<'_> {
    fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Moves to the next byte that matters; false at the end of the text.
    fn go_to_sign(&mut self) -> bool {
        let is_sign = |byte: &u8| matches!(byte, b'"' | b'\'' | b'/' | b'{' | b'}' | b'#');
        let next = self.bytes()[self.at..].iter().position(is_sign);
        self.at = next.map_or(self.bytes().len(), |next| self.at + next);
        next.is_some()
    }

    fn read_sign(&mut self) {
        let at = self.at;
        self.at = match self.bytes()[at] {
            b'{' => self.open_brace(at),
            b'}' => self.close_brace(at),
            b'/' => self.comment_end(at).unwrap_or(at + 1),
            b'#' if self.begins_line(at) => self.read_directive(at),
            quote @ (b'"' | b'\'') => self.literal_end(at + 1, quote),
            _ => at + 1,
        };
    }

    /// Returns the end of the directive at the sign.
    fn read_directive(&mut self, sign: usize) -> usize {
        self.follow_condition(sign);
        // Macros in types and functions are left to the parser, which knows what is around them.
        let is_outside = self.open.is_empty();
        let Some(found) = OneLineMacro::at(self.text, sign).filter(|_| is_outside) else {
            return self.line_end(sign + 1, true);
        };
        let end = found.range.end;
        let last = self.left_out.holes.last_mut();
        // Blank lines between macros are left out, too.
        let is_left_out = match last.filter(|last| self.text[last.end..sign].trim_ascii().is_empty()) {
            Some(last) => {
                last.end = end;
                true
            }
            None => self.left_out.add_hole(sign..end),
        };
        if is_left_out {
            self.left_out.macros.push(found);
        }
        end
    }

    /// Notes where the arms of an `#if` begin and end, and whether the last one closes the braces that it opens.
    fn follow_condition(&mut self, sign: usize) {
        let behind = self.text[sign + 1..].trim_start_matches([' ', '\t']);
        let name = behind.split(|sign: char| !sign.is_ascii_alphabetic()).next();
        let Some(directive) = name.and_then(Directive::named) else { return };
        let braces = self.open.len();
        if !matches!(directive, Directive::If) && self.arms.pop() != Some(braces) {
            self.uneven_arm = sign + 1;
        }
        if !matches!(directive, Directive::End) {
            self.arms.push(braces);
        }
    }

    fn open_brace(&mut self, at: usize) -> usize {
        let before = self.bytes()[..at].trim_ascii_end().last();
        let holds_no_definition = matches!(before, Some(b')' | b'='));
        let holes_before = self.left_out.holes.len();
        self.open.push(OpenBrace { start: at + 1, holds_no_definition, holes_before });
        at + 1
    }

    fn close_brace(&mut self, at: usize) -> usize {
        let braces = self.open.len();
        let arm = self.arms.last_mut().filter(|arm| **arm >= braces);
        let is_in_arm = arm.map(|arm| *arm = UNEVEN).is_some();
        // After arms of an `#if` that open more braces than they close, this may be another one. It contains as much text.
        if let Some(OpenBrace { start, holds_no_definition, holes_before }) = self.open.pop()
            && holds_no_definition
            && start > self.uneven_arm
            && !is_in_arm
            && at - start >= MIN_HOLE_BYTES
        {
            self.left_out.holes.truncate(holes_before);
            self.left_out.add_hole(start..at);
        }
        at + 1
    }

    /// Returns the end of a literal whose content begins at `at`; a line end closes it, too.
    fn literal_end(&self, mut at: usize, quote: u8) -> usize {
        while let Some(&byte) = self.bytes().get(at) {
            match byte {
                b'\\' => at = self.after_escape(at),
                _ if byte == quote || byte == b'\n' => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes().len()
    }

    /// Returns the end of the comment that begins at the slash; `None` if there is none.
    fn comment_end(&self, slash: usize) -> Option<usize> {
        let content = slash + 2;
        match self.bytes().get(slash + 1)? {
            b'*' => {
                let length = memmem::find(&self.bytes()[content..], b"*/").map(|length| length + 2);
                Some(length.map_or(self.bytes().len(), |length| content + length))
            }
            b'/' => Some(self.line_end(content, false)),
            _ => None,
        }
    }

    /// Returns the end of a line, which a backslash continues, or if it `has_comments`, of the comment that begins in it.
    fn line_end(&self, mut at: usize, has_comments: bool) -> usize {
        while let Some(&byte) = self.bytes().get(at) {
            at = match byte {
                b'\n' => return at,
                b'\\' => self.after_escape(at),
                b'/' if has_comments => self.comment_end(at).unwrap_or(at + 1),
                _ => at + 1,
            }
        }
        self.bytes().len()
    }

    /// Returns the offset after a backslash and the line end or byte behind it.
    fn after_escape(&self, backslash: usize) -> usize {
        let is_long = self.bytes()[backslash + 1..].starts_with(b"\r\n");
        (backslash + if is_long { 3 } else { 2 }).min(self.bytes().len())
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = self.bytes()[..at].trim_ascii_end();
        before.is_empty() || self.bytes()[before.len()..at].contains(&b'\n')
    }
}

#[cfg(test)]
mod tests;
