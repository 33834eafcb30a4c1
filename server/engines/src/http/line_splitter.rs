//! Splits a byte stream into lines, independent of chunk boundaries.

/// Splits chunks into lines. A line ends with LF, CR or CRLF; a byte order mark at the very start is skipped.
///
/// Bytes are buffered until their line is complete, so chunk boundaries split neither a line end nor a character.
pub(super) struct LineSplitter {
    buffer: Vec<u8>,
    /// Number of consumed bytes of the buffer.
    taken: usize,
    /// Number of bytes of the buffer known to contain no line end.
    seen: usize,
    /// Whether the last line ended with CR, so that a following LF belongs to it.
    after_cr: bool,
    is_start: bool,
}

/// The byte order mark in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

impl LineSplitter {
    pub(super) fn new() -> LineSplitter {
        LineSplitter { buffer: Vec::new(), taken: 0, seen: 0, after_cr: false, is_start: true }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.buffer.drain(..self.taken);
        self.seen -= self.taken;
        self.taken = 0;
        self.buffer.extend_from_slice(chunk);
    }

    /// Number of bytes of the incomplete line.
    pub(super) fn pending_bytes(&self) -> usize {
        self.buffer.len() - self.taken
    }

    /// Returns the next complete line, without its end.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        if self.after_cr && self.taken < self.buffer.len() {
            self.after_cr = false;
            if self.buffer[self.taken] == b'\n' {
                self.taken += 1;
            }
        }
        self.seen = self.seen.max(self.taken);
        let Some(length) = self.buffer[self.seen..].iter().position(|byte| matches!(byte, b'\n' | b'\r'))
        else {
            self.seen = self.buffer.len();
            return None;
        };
        let (start, end) = (self.taken, self.seen + length);
        self.after_cr = self.buffer[end] == b'\r';
        self.taken = end + 1;
        self.seen = self.taken;
        let start = self.without_mark(start, end);
        Some(&self.buffer[start..end])
    }

    /// Returns the text after the last line end, at the end of the stream.
    pub(super) fn remainder(&mut self) -> &[u8] {
        let mut start = self.taken;
        if self.after_cr && self.buffer.get(start) == Some(&b'\n') {
            start += 1;
        }
        let start = self.without_mark(start, self.buffer.len());
        self.taken = self.buffer.len();
        self.seen = self.taken;
        &self.buffer[start..]
    }

    fn without_mark(&mut self, start: usize, end: usize) -> usize {
        let is_first = std::mem::replace(&mut self.is_start, false);
        if is_first && self.buffer[start..end].starts_with(BOM) { start + BOM.len() } else { start }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines of `text` when it comes in chunks of these sizes, and the rest.
    fn cut(text: &[u8], sizes: &[usize]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let (mut lines, mut found, mut rest) = (LineSplitter::new(), Vec::new(), text);
        for size in sizes {
            let (chunk, behind) = rest.split_at((*size).min(rest.len()));
            rest = behind;
            lines.push(chunk);
            while let Some(line) = lines.next() {
                found.push(line.to_vec());
            }
        }
        lines.push(rest);
        while let Some(line) = lines.next() {
            found.push(line.to_vec());
        }
        (found, lines.remainder().to_vec())
    }

    #[test]
    fn lf_crlf_and_cr_end_lines() {
        let (lines, rest) = cut(b"\xef\xbb\xbfa\nb\r\nc\r\n\r\rd", &[]);
        assert_eq!(lines, [&b"a"[..], b"b", b"c", b"", b""]);
        assert_eq!(rest, b"d");
        assert_eq!(cut(b"", &[]), (Vec::new(), Vec::new()));
        assert_eq!(cut(b"\xef\xbb\xbf", &[]), (Vec::new(), Vec::new()));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_change_lines(
            text in "(\u{feff})?[aé\r\n]{0,20}",
            sizes in prop::collection::vec(0_usize..4, 0..20),
        ) {
            prop_assert_eq!(cut(text.as_bytes(), &sizes), cut(text.as_bytes(), &[]));
        }
    }
}
