//! The naive model, written from the text of the protocol, not for speed.

use proptest::prelude::*;
use text::{Edit, Position, PositionEncoding};

pub(crate) const ENCODINGS: [PositionEncoding; 3] =
    [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

/// Texts with many line ends and characters whose lengths differ between the encodings.
pub(crate) fn texts() -> impl Strategy<Value = String> {
    let pieces = ["a", "bc", " ", "\n", "\r\n", "\r", "é", "😀", "\u{2028}", "\u{b}", "e\u{301}", "\t"];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..24)
        .prop_map(|pieces| pieces.concat())
}

/// Makes an edit of `text` on character boundaries from two random numbers.
pub(crate) fn edit_of(text: &str, a: usize, b: usize, inserted: &str) -> Edit {
    let boundary = |at: usize| text.floor_char_boundary(at % (text.len() + 1));
    let (a, b) = (boundary(a), boundary(b));
    Edit { range: a.min(b)..a.max(b), text: inserted.to_owned() }
}

/// Start and end of the content of each line of `text`.
pub(crate) fn lines(text: &str) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let end = match char {
            '\r' if chars.next_if(|&(_, next)| next == '\n').is_some() => at + 2,
            '\r' | '\n' => at + 1,
            _ => continue,
        };
        lines.push((start, at));
        start = end;
    }
    lines.push((start, text.len()));
    lines
}

/// All offsets that have a position, with that position.
pub(crate) fn positions(text: &str, encoding: PositionEncoding) -> Vec<(usize, Position)> {
    let mut positions = Vec::new();
    for (line, (start, end)) in lines(text).into_iter().enumerate() {
        let mut character = 0;
        for (at, char) in text[start..end].char_indices() {
            positions.push((start + at, Position { line: line as u32, character }));
            character += match encoding {
                PositionEncoding::Utf8 => char.len_utf8(),
                PositionEncoding::Utf16 => char.len_utf16(),
                PositionEncoding::Utf32 => 1,
            } as u32;
        }
        positions.push((end, Position { line: line as u32, character }));
    }
    positions
}
