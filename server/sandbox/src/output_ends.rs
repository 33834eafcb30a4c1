//! The beginning and the end of a long output.

use std::collections::VecDeque;

/// Bytes kept of the beginning, and of the end.
const KEPT_BYTES: usize = 4 << 20;

/// Collects an output of any length in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct OutputEnds {
    start: Vec<u8>,
    end: VecDeque<u8>,
    /// Bytes in all.
    total: u64,
}

impl OutputEnds {
    /// Adds output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT_BYTES - self.start.len()));
        self.start.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(KEPT_BYTES)..];
        let excess = (self.end.len() + rest.len()).saturating_sub(KEPT_BYTES);
        self.end.drain(..excess);
        self.end.extend(rest);
    }

    /// Returns the number of bytes that were added.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the text, with a line that counts the omitted bytes.
    pub(crate) fn into_text(self) -> String {
        let left_out = self.total - (self.start.len() + self.end.len()) as u64;
        let mut bytes = self.start;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
        }
        bytes.extend(self.end);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_kept_whole() {
        let mut ends = OutputEnds::default();
        ["a", "", "bc\n"].into_iter().for_each(|part| ends.push(part.as_bytes()));
        assert_eq!((ends.total(), ends.into_text()), (4, "abc\n".to_owned()));
    }

    #[test]
    fn long_output_keeps_both_ends_however_it_is_cut() {
        let text: Vec<u8> = (0..12_000_000_u32).map(|number| b'a' + (number % 26) as u8).collect();
        for size in [1000, 5_000_000, 12_000_000] {
            let mut ends = OutputEnds::default();
            text.chunks(size).for_each(|chunk| ends.push(chunk));
            let mark = format!("\n[{} bytes left out]\n", text.len() - 2 * KEPT_BYTES);
            let expected = [&text[..KEPT_BYTES], mark.as_bytes(), &text[text.len() - KEPT_BYTES..]];
            assert_eq!(ends.into_text().into_bytes(), expected.concat(), "{size}");
        }
    }
}
