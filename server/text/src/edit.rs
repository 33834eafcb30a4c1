//! Edits: one range of a text replaced by another text.

use std::iter;
use std::ops::Range;

/// Size of the pieces in which texts are compared. Comparing whole pieces is fast; only the first piece that differs is compared
/// byte by byte.
const PIECE_BYTES: usize = 256;

/// Replacement of one range of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Removed range: half-open, UTF-8 bytes of the text before the edit.
    pub range: Range<usize>,
    /// Replacement text.
    pub text: String,
}

impl Edit {
    /// Returns the smallest edit that turns `old` into `new`, or `None` if they are equal.
    ///
    /// It splits neither a character nor a CRLF, in the old text or the new one, because there is no position inside a CRLF.
    pub fn between(old: &str, new: &str) -> Option<Edit> {
        if old == new {
            return None;
        }
        let start = common_prefix(old, new);
        let kept = common_suffix(old, new, start);
        Some(Edit { range: start..old.len() - kept, text: new[start..new.len() - kept].to_owned() })
    }

    /// Returns the range of the new text after the edit.
    pub fn inserted_range(&self) -> Range<usize> {
        self.range.start..self.range.start + self.text.len()
    }
}

/// Returns the length of the common prefix, in bytes.
fn common_prefix(old: &str, new: &str) -> usize {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let whole = equal_pieces(a.chunks(PIECE_BYTES).zip(b.chunks(PIECE_BYTES)));
    let length = whole + equal_bytes(iter::zip(&a[whole..], &b[whole..]));
    let length = old.floor_char_boundary(length);
    let cuts_crlf = [old, new].into_iter().any(|text| is_inside_crlf(text, length));
    length - usize::from(cuts_crlf)
}

/// Returns the length of the common suffix behind the first `start` bytes, in bytes.
fn common_suffix(old: &str, new: &str, start: usize) -> usize {
    let (a, b) = (&old.as_bytes()[start..], &new.as_bytes()[start..]);
    let whole = equal_pieces(a.rchunks(PIECE_BYTES).zip(b.rchunks(PIECE_BYTES)));
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    let length = whole + equal_bytes(iter::zip(a.iter().rev(), b.iter().rev()));
    let length = old.len() - old.ceil_char_boundary(old.len() - length);
    let cuts_crlf = [old, new].into_iter().any(|text| is_inside_crlf(text, text.len() - length));
    length - usize::from(cuts_crlf)
}

/// Returns the number of bytes in the pairs of pieces before the first pair that differs.
fn equal_pieces<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> usize {
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum()
}

fn equal_bytes<'a>(pairs: impl Iterator<Item = (&'a u8, &'a u8)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

fn is_inside_crlf(text: &str, offset: usize) -> bool {
    text[..offset].ends_with('\r') && text[offset..].starts_with('\n')
}
