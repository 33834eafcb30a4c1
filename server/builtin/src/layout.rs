//! How a file is laid out: its indentation and its line ends.

/// The largest indentation step that is believed, in columns.
const MAX_STEP: usize = 8;
/// Lines looked at; the style shows long before.
const SAMPLED_LINES: usize = 3000;
/// Where nothing is indented.
const DEFAULT_UNIT: usize = 4;

/// A file's indentation and line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Layout {
    /// Columns of one indentation step; a tab counts as one step.
    pub(crate) unit: usize,
    pub(crate) tabs: bool,
    pub(crate) crlf: bool,
}

impl Layout {
    pub(crate) const DEFAULT: Layout = Layout { unit: DEFAULT_UNIT, tabs: false, crlf: false };

    /// The layout in a byte, never 0.
    pub(crate) fn to_byte(self) -> u8 {
        let Layout { unit, tabs, crlf } = self;
        let unit = u8::try_from(unit.min(MAX_STEP)).expect("MAX_STEP fits");
        unit << 2 | u8::from(tabs) << 1 | u8::from(crlf)
    }

    /// The layout that a byte stands for; none for 0.
    pub(crate) fn from_byte(byte: u8) -> Option<Layout> {
        let unit = usize::from(byte >> 2).min(MAX_STEP);
        (unit > 0).then_some(Layout { unit, tabs: byte & 2 != 0, crlf: byte & 1 != 0 })
    }

    /// The layout that `text` shows, `None` where no line is indented.
    pub(crate) fn detect(text: &str) -> Option<Layout> {
        let mut steps = [0usize; MAX_STEP + 1];
        let (mut previous, mut tabbed, mut spaced) = (0, 0usize, 0usize);
        for line in text.lines().take(SAMPLED_LINES).filter(|line| !line.trim().is_empty()) {
            if line.starts_with('\t') {
                tabbed += 1;
                continue;
            }
            let width = line.len() - line.trim_start_matches(' ').len();
            spaced += usize::from(width > 0);
            if width > previous && width - previous <= MAX_STEP {
                steps[width - previous] += 1;
            }
            previous = width;
        }
        let unit = [8, 3, 2, 4].into_iter().max_by_key(|&unit| steps[unit]).expect("not empty");
        let unit = if steps[unit] == 0 { DEFAULT_UNIT } else { unit };
        (tabbed + spaced > 0).then(|| Layout { unit, tabs: tabbed > spaced, crlf: is_crlf(text) })
    }

    /// The column of the first character of `line` that is no blank, in columns of this layout.
    pub(crate) fn indentation(&self, line: &str) -> usize {
        line.bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .map(|byte| if byte == b'\t' { self.unit } else { 1 })
            .sum()
    }

    /// Appends blanks up to `column`.
    pub(crate) fn indent(&self, out: &mut String, column: usize) {
        let tabs = if self.tabs { column / self.unit } else { 0 };
        out.extend(std::iter::repeat_n('\t', tabs));
        out.extend(std::iter::repeat_n(' ', column - tabs * self.unit));
    }

    pub(crate) fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

/// Whether the first line ends with `\r\n`.
pub(crate) fn is_crlf(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'))
}

/// The last line of `text` as far as it goes.
pub(crate) fn last_line(text: &str) -> &str {
    &text[text.rfind(['\n', '\r']).map_or(0, |end| end + 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(usize, bool, bool)>) {
        let found = Layout::detect(text).map(|Layout { unit, tabs, crlf }| (unit, tabs, crlf));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn the_commonest_step_wins() {
        check("a\n  b\n    c\n  d\n          e\n", Some((2, false, false)));
        check("a:\r\n    b:\r\n        c\r\n", Some((4, false, true)));
        check("a {\n\tb {\n\t\tc\n\t }\n}\n", Some((4, true, false)));
        check("a\nb\n\n", None);
    }

    #[test]
    fn a_layout_is_a_byte() {
        for unit in 1..=MAX_STEP {
            for (tabs, crlf) in [(false, false), (false, true), (true, false), (true, true)] {
                let layout = Layout { unit, tabs, crlf };
                assert_eq!(Layout::from_byte(layout.to_byte()), Some(layout));
            }
        }
        assert_eq!(Layout::from_byte(0), None);
    }

    #[test]
    fn indentation_is_read_and_written() {
        let layout = Layout { unit: 4, tabs: true, crlf: false };
        let mut out = String::new();
        layout.indent(&mut out, 10);
        assert_eq!((out.as_str(), layout.indentation(&format!("{out}x"))), ("\t\t  ", 10));
        assert_eq!(last_line("a\n  b"), "  b");
    }
}
