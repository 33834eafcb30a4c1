//! A text without indentation, blanks at the ends of lines, and differences between line ends, and the way back.

/// Lines that are trimmed and end with LF.
#[derive(Debug)]
pub(super) struct NormalizedText {
    text: String,
    lines: Vec<TrimmedLine>,
}

/// A trimmed line, in bytes.
#[derive(Debug)]
struct TrimmedLine {
    /// Its first byte here.
    start: usize,
    /// Its first byte in the original.
    original: usize,
    /// How many blanks were there before it.
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
            // The place on a blank line is behind its blanks.
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

    /// Where a byte of the original is here. What is not here counts as the nearest end of its line.
    pub(super) fn offset(&self, original: usize) -> usize {
        let behind = self.lines.partition_point(|line| line.original <= original);
        let Some(line) = behind.checked_sub(1).and_then(|line| self.lines.get(line)) else { return 0 };
        let end = self.lines.get(behind).map_or(self.text.len(), |next| next.start - 1);
        let column = (original - line.original).saturating_sub(line.blanks);
        self.text.floor_char_boundary((line.start + column).min(end))
    }

    /// Where a byte of this text is in the original.
    pub(super) fn original(&self, offset: usize) -> usize {
        let line = self.lines.partition_point(|line| line.start <= offset).saturating_sub(1);
        self.lines.get(line).map_or(0, |line| line.original + line.blanks + (offset - line.start))
    }
}
