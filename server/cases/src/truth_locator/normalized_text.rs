//! A text without indentation, trailing blanks and differences between line ends, with offsets mapped in both directions.

/// A text of trimmed lines that end with LF.
#[derive(Debug)]
pub(super) struct NormalizedText {
    text: String,
    lines: Vec<TrimmedLine>,
}

/// A trimmed line, in bytes.
#[derive(Debug)]
struct TrimmedLine {
    /// Offset of its first byte in the normalized text.
    start: usize,
    /// Offset of its first byte in the original.
    original: usize,
    /// Number of blanks before it in the original.
    blanks: usize,
}

impl NormalizedText {
    pub(super) fn new(original: &str) -> NormalizedText {
        let mut text = String::with_capacity(original.len());
        let mut lines = Vec::new();
        let mut at = 0;
        for line in original.split('\n') {
            if at > 0 {
                text.push('\n');
            }
            let line_end = line.strip_suffix('\r').unwrap_or(line);
            // The offset on a blank line is after its blanks.
            let blanks = line_end.len() - line_end.trim_start().len();
            lines.push(TrimmedLine { start: text.len(), original: at, blanks });
            text.push_str(line.trim());
            at += line.len() + 1;
        }
        NormalizedText { text, lines }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Maps an offset in the original to this text. Removed bytes map to the nearest end of their line.
    pub(super) fn offset(&self, original: usize) -> usize {
        let behind = self.lines.partition_point(|line| line.original <= original);
        let Some(line) = behind.checked_sub(1).and_then(|line| self.lines.get(line)) else { return 0 };
        let end = self.lines.get(behind).map_or(self.text.len(), |next| next.start - 1);
        let column = (original - line.original).saturating_sub(line.blanks);
        self.text.floor_char_boundary((line.start + column).min(end))
    }

    /// Maps an offset in this text to the original.
    pub(super) fn original(&self, offset: usize) -> usize {
        let line = self.lines.partition_point(|line| line.start <= offset).saturating_sub(1);
        self.lines.get(line).map_or(0, |line| line.original + line.blanks + (offset - line.start))
    }
}
