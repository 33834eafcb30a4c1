//! How a file is laid out: its indentation and its line ends.

/// The largest indentation step that is believed, in columns.
const MAX_STEP: usize = 8;
/// Lines looked at; the style shows long before.
const SAMPLED_LINES: usize = 3000;
/// Where nothing is indented.
const DEFAULT_UNIT: usize = 4;
/// Columns from one tab stop to the next.
const TAB: usize = 8;
/// What is so many times less is not what a file is like.
const RARE: usize = 10;

/// A file's indentation and line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Layout {
    /// Columns of one indentation step.
    pub(crate) unit: usize,
    /// Whether there is a tab where there can be one. Blanks behind tabs are those of an alignment, or of a step that is less than a tab.
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
        Layout::of_lines(text.lines()).map(|layout| Layout { crlf: is_crlf(text), ..layout })
    }

    /// The indentation of `lines`, which have no ends.
    pub(crate) fn of_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Layout> {
        let mut seen = Seen::default();
        lines.take(SAMPLED_LINES).for_each(|line| seen.add(line));
        let (unit, tabs) = (seen.unit()?, seen.has_tabs());
        Some(Layout { unit, tabs, crlf: false })
    }

    /// The column of the first character of `line` that is no blank, in columns of this layout.
    pub(crate) fn indentation(&self, line: &str) -> usize {
        column(line, if self.tabs { TAB } else { self.unit })
    }

    /// Appends blanks up to `column`.
    pub(crate) fn indent(&self, out: &mut String, column: usize) {
        let tabs = if self.tabs { column / TAB } else { 0 };
        out.extend(std::iter::repeat_n('\t', tabs));
        out.extend(std::iter::repeat_n(' ', column - tabs * TAB));
    }

    pub(crate) fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

/// The column of the first character of `line` that is no blank, with tab stops at the multiples of `tab`.
fn column(line: &str, tab: usize) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, blank| if blank == b'\t' { (column / tab + 1) * tab } else { column + 1 })
}

/// What lines show of the indentation of their file.
#[derive(Default)]
struct Seen {
    /// How often a line goes so many columns further than the one before.
    steps: [usize; MAX_STEP + 1],
    /// Column of the last line.
    last: usize,
    /// Lines that begin with a tab.
    tabbed: usize,
    /// Lines that begin with a blank.
    spaced: usize,
    /// Those of them that have blanks where a tab could be.
    wide: usize,
}

impl Seen {
    fn add(&mut self, line: &str) {
        let code = line.trim_start();
        // Lines within a comment often begin with a star, one column further.
        if code.is_empty() || code.starts_with('*') {
            return;
        }
        let column = column(line, TAB);
        self.tabbed += usize::from(line.starts_with('\t'));
        self.spaced += usize::from(line.starts_with(' '));
        self.wide += usize::from(line.starts_with(' ') && column >= TAB);
        if let Some(step) = column.checked_sub(self.last).and_then(|step| self.steps.get_mut(step)) {
            *step += 1;
        }
        self.last = column;
    }

    /// Tabs take the place of as many blanks in some files that are indented by less than a tab.
    fn has_tabs(&self) -> bool {
        let replace_blanks = self.wide * RARE <= self.tabbed && self.tabbed * 4 > self.spaced;
        self.tabbed > self.spaced || replace_blanks
    }

    /// The commonest step. A tab is one where it is at all common: lines that go on are often indented by less.
    fn unit(&self) -> Option<usize> {
        let unit = [8, 3, 2, 4].into_iter().max_by_key(|&unit| self.steps[unit])?;
        let is_tab = self.has_tabs() && self.steps[TAB] * 2 >= self.steps[unit];
        let is_known = self.steps[unit] > 0;
        if is_tab { Some(TAB) } else { is_known.then_some(unit) }
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
        check("a {\n\tb {\n\t\tc\n\t }\n}\n", Some((8, true, false)));
        check("a\nb\n\n", None);
        check("/*\n * a\n * b\n */\nc {\n  d\n}\n", Some((2, false, false)));
        check("/*\n * a\n */\n", None);
    }

    #[test]
    fn a_tab_is_a_step_or_two() {
        check("a {\n\tb(\n\t    c);\n\td(\n\t    e);\n}\n", Some((8, true, false)));
        check("a\n{\n  b\n    {\n      c\n\t{\n\t  d\n", Some((2, true, false)));
        check("a:\n    b:\n        c:\n            d\n\te\n", Some((4, false, false)));
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
        let indented = |unit, tabs, column| {
            let layout = Layout { unit, tabs, crlf: false };
            let mut out = String::new();
            layout.indent(&mut out, column);
            assert_eq!(layout.indentation(&format!("{out}x")), column);
            out
        };
        assert_eq!(indented(4, false, 10), "          ");
        assert_eq!(indented(8, true, 18), "\t\t  ");
        assert_eq!(indented(2, true, 12), "\t    ");
        assert_eq!(Layout::DEFAULT.indentation("\t x"), 5);
        assert_eq!(last_line("a\n  b"), "  b");
    }
}
