//! Detects a file's code style: its indentation and its line ends.

/// Maximum indentation step in columns; larger ones are ignored.
const MAX_STEP: usize = 8;
/// Maximum number of sampled lines, far more than necessary.
const SAMPLED_LINES: usize = 3000;
/// Indentation step if no line is indented.
const DEFAULT_UNIT: usize = 4;
/// Distance of tab stops in columns.
const TAB_COLUMNS: usize = 8;
/// Factor by which the style of a file outnumbers exceptions.
const RARE_FACTOR: usize = 10;

/// A file's indentation and line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CodeStyle {
    /// Indentation step in columns.
    pub(crate) unit: usize,
    /// Whether indentation uses tabs. Blanks behind tabs then belong to an alignment or to a step smaller than a tab.
    pub(crate) tabs: bool,
    pub(crate) crlf: bool,
}

impl CodeStyle {
    pub(crate) const DEFAULT: CodeStyle = CodeStyle { unit: DEFAULT_UNIT, tabs: false, crlf: false };

    /// Encodes the style in a byte, never 0.
    pub(crate) fn to_byte(self) -> u8 {
        let CodeStyle { unit, tabs, crlf } = self;
        let unit = u8::try_from(unit.min(MAX_STEP)).expect("MAX_STEP fits");
        unit << 2 | u8::from(tabs) << 1 | u8::from(crlf)
    }

    /// Decodes a byte; `None` for 0.
    pub(crate) fn from_byte(byte: u8) -> Option<CodeStyle> {
        let unit = usize::from(byte >> 2).min(MAX_STEP);
        (unit > 0).then_some(CodeStyle { unit, tabs: byte & 2 != 0, crlf: byte & 1 != 0 })
    }

    /// Detects the style of `text`; `None` if no line is indented.
    pub(crate) fn detect(text: &str) -> Option<CodeStyle> {
        CodeStyle::of_lines(text.lines()).map(|layout| CodeStyle { crlf: is_crlf(text), ..layout })
    }

    /// Detects the indentation of `lines`, which have no line ends.
    pub(crate) fn of_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Option<CodeStyle> {
        let mut seen = IndentationSamples::default();
        lines.take(SAMPLED_LINES).for_each(|line| seen.add(line));
        let (unit, tabs) = (seen.unit()?, seen.has_tabs());
        Some(CodeStyle { unit, tabs, crlf: false })
    }

    /// Returns the column of the first non-blank character of `line`, in this style.
    pub(crate) fn indentation(&self, line: &str) -> usize {
        column(line, if self.tabs { TAB_COLUMNS } else { self.unit })
    }

    /// Appends indentation up to `column`.
    pub(crate) fn indent(&self, out: &mut String, column: usize) {
        let tabs = if self.tabs { column / TAB_COLUMNS } else { 0 };
        out.extend(std::iter::repeat_n('\t', tabs));
        out.extend(std::iter::repeat_n(' ', column - tabs * TAB_COLUMNS));
    }

    pub(crate) fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

/// Returns the column of the first non-blank character of `line`, with tab stops at multiples of `tab`.
fn column(line: &str, tab: usize) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, blank| if blank == b'\t' { (column / tab + 1) * tab } else { column + 1 })
}

/// Statistics of a file's indentation.
#[derive(Default)]
struct IndentationSamples {
    /// Number of lines by increase of indentation over the previous line, in columns.
    steps: [usize; MAX_STEP + 1],
    /// Column of the last line.
    last: usize,
    /// Number of lines that begin with a tab.
    tabbed: usize,
    /// Number of lines that begin with a blank.
    spaced: usize,
    /// Number of the latter that have blanks where a tab could be.
    wide: usize,
}

impl IndentationSamples {
    fn add(&mut self, line: &str) {
        let code = line.trim_start();
        // Lines within a comment often begin with a star, one column to the right.
        if code.is_empty() || code.starts_with('*') {
            return;
        }
        let column = column(line, TAB_COLUMNS);
        self.tabbed += usize::from(line.starts_with('\t'));
        self.spaced += usize::from(line.starts_with(' '));
        self.wide += usize::from(line.starts_with(' ') && column >= TAB_COLUMNS);
        if let Some(step) = column.checked_sub(self.last).and_then(|step| self.steps.get_mut(step)) {
            *step += 1;
        }
        self.last = column;
    }

    /// In some files with a step smaller than a tab, tabs replace the same width of blanks.
    fn has_tabs(&self) -> bool {
        let replace_blanks = self.wide * RARE_FACTOR <= self.tabbed && self.tabbed * 4 > self.spaced;
        self.tabbed > self.spaced || replace_blanks
    }

    /// Returns the most frequent step. A tab is preferred if it is at all frequent: continuation lines are often indented by less.
    fn unit(&self) -> Option<usize> {
        let unit = [8, 3, 2, 4].into_iter().max_by_key(|&unit| self.steps[unit])?;
        let is_tab = self.has_tabs() && self.steps[TAB_COLUMNS] * 2 >= self.steps[unit];
        let is_known = self.steps[unit] > 0;
        if is_tab { Some(TAB_COLUMNS) } else { is_known.then_some(unit) }
    }
}

/// Returns whether the first line ends with `\r\n`.
pub(crate) fn is_crlf(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'))
}

/// Returns the last line of `text`, possibly incomplete.
pub(crate) fn last_line(text: &str) -> &str {
    &text[text.rfind(['\n', '\r']).map_or(0, |end| end + 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(usize, bool, bool)>) {
        let found = CodeStyle::detect(text).map(|CodeStyle { unit, tabs, crlf }| (unit, tabs, crlf));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn most_common_indentation_step_is_detected() {
        check("a\n  b\n    c\n  d\n          e\n", Some((2, false, false)));
        check("a:\r\n    b:\r\n        c\r\n", Some((4, false, true)));
        check("a {\n\tb {\n\t\tc\n\t }\n}\n", Some((8, true, false)));
        check("a\nb\n\n", None);
        check("/*\n * a\n * b\n */\nc {\n  d\n}\n", Some((2, false, false)));
        check("/*\n * a\n */\n", None);
    }

    #[test]
    fn tab_may_be_one_or_several_indentation_steps() {
        check("a {\n\tb(\n\t    c);\n\td(\n\t    e);\n}\n", Some((8, true, false)));
        check("a\n{\n  b\n    {\n      c\n\t{\n\t  d\n", Some((2, true, false)));
        check("a:\n    b:\n        c:\n            d\n\te\n", Some((4, false, false)));
    }

    #[test]
    fn code_style_round_trips_through_a_byte() {
        for unit in 1..=MAX_STEP {
            for (tabs, crlf) in [(false, false), (false, true), (true, false), (true, true)] {
                let layout = CodeStyle { unit, tabs, crlf };
                assert_eq!(CodeStyle::from_byte(layout.to_byte()), Some(layout));
            }
        }
        assert_eq!(CodeStyle::from_byte(0), None);
    }

    #[test]
    fn indentation_round_trips_with_spaces_and_tabs() {
        let indented = |unit, tabs, column| {
            let layout = CodeStyle { unit, tabs, crlf: false };
            let mut out = String::new();
            layout.indent(&mut out, column);
            assert_eq!(layout.indentation(&format!("{out}x")), column);
            out
        };
        assert_eq!(indented(4, false, 10), "          ");
        assert_eq!(indented(8, true, 18), "\t\t  ");
        assert_eq!(indented(2, true, 12), "\t    ");
        assert_eq!(CodeStyle::DEFAULT.indentation("\t x"), 5);
        assert_eq!(last_line("a\n  b"), "  b");
    }
}
