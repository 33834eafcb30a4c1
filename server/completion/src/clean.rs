//! Filters on an engine's answer, each a pure function of the answer and the text around it.
//!
//! Engines repeat the text before the cursor, run on into the text after it, close brackets that are closed already, repeat themselves
//! until they are stopped, and ignore the document's tabs and line ends. A filter removes such text and adapts blanks; it never writes
//! code. The trace records each change with the text before it.
//!
//! Some filters find an end of the answer that no later text can move. Reading stops there, so that streamed and complete answers
//! follow the same rule.

mod beyond_extent;
pub(crate) mod control_characters;
mod doubled_brackets;
mod indentation;
mod line_ends;
mod lost_blanks;
mod map_range;
mod prefix_echo;
mod repetition;
mod rest_of_line;
mod suffix_overlap;
mod unfinished_line;

pub(crate) use map_range::map_range;
use syntax::{Language, SyntaxCache};

use crate::extent::{CursorText, Extent};
use crate::trace::{FilterChange, KeptPart};

/// The text around the cursor, and facts about the answer besides its text.
pub(crate) struct CleaningContext<'a> {
    pub(crate) language: Language,
    pub(crate) before: CursorText<'a>,
    pub(crate) extent: Extent,
    pub(crate) suffix: &'a str,
    /// Whether the answer was cut off rather than ended.
    pub(crate) is_cut_off: bool,
}

impl<'a> CleaningContext<'a> {
    /// Returns the surroundings of a cursor between `prefix` and `suffix`, for an answer that was not cut off. `syntax` keeps the tokens of
    /// the document.
    pub(crate) fn new(
        syntax: &SyntaxCache,
        language: Language,
        prefix: &'a str,
        suffix: &'a str,
    ) -> CleaningContext<'a> {
        let before = CursorText::new(syntax, language, prefix, suffix);
        let extent = before.extent();
        CleaningContext { language, before, extent, suffix, is_cut_off: false }
    }

    /// Returns whether the document's lines end with CR LF.
    fn has_crlf(&self) -> bool {
        let mut lines =
            [self.before.text(), self.suffix].into_iter().flat_map(|text| text.split_inclusive('\n'));
        lines.find(|line| line.ends_with('\n')).is_some_and(|line| line.ends_with("\r\n"))
    }

    /// Returns the text after the cursor in its line.
    fn rest_of_line(&self) -> &'a str {
        self.suffix.split(['\n', '\r']).next().unwrap_or_default()
    }
}

/// A filter's name, the part of an answer that it keeps, and its function.
type Filter = (&'static str, KeptPart, fn(String, &CleaningContext<'_>) -> String);

/// The filters in order: each takes the output of the one before it.
const FILTERS: [Filter; 12] = [
    ("control_characters", KeptPart::Beginning, control_characters::truncate),
    ("line_ends", KeptPart::Code, line_ends::adapt),
    ("lost_blanks", KeptPart::Code, lost_blanks::restore),
    ("prefix_echo", KeptPart::End, prefix_echo::remove),
    ("indentation", KeptPart::Code, indentation::adapt),
    ("suffix_overlap", KeptPart::Beginning, suffix_overlap::cut),
    ("rest_of_line", KeptPart::Beginning, rest_of_line::cut),
    ("beyond_extent", KeptPart::Beginning, beyond_extent::cut),
    ("repetition", KeptPart::Beginning, repetition::cut),
    ("unfinished_line", KeptPart::Beginning, unfinished_line::cut),
    ("doubled_brackets", KeptPart::Beginning, doubled_brackets::cut),
    ("trailing_blanks", KeptPart::Beginning, trailing_blanks),
];

/// Runs all filters in order. Returns the cleaned answer and, for each filter that changed it, the text before the change.
pub(crate) fn clean(answer: &str, around: &CleaningContext<'_>) -> (String, Vec<FilterChange>) {
    let mut text = answer.to_owned();
    let mut cuts = Vec::new();
    for (filter, keeps, apply) in FILTERS {
        let before = text.clone();
        text = apply(text, around);
        if text != before {
            cuts.push(FilterChange { filter, kept: keeps, before });
        }
    }
    (text, cuts)
}

/// Received text is examined up to the last of these: the text behind may end inside a token.
const TOKEN_BOUNDARIES: [char; 2] = ['\n', ';'];

/// Returns whether the answer is complete, so that no later text can matter.
pub(crate) fn is_complete(received: &str, around: &CleaningContext<'_>) -> bool {
    let Some(end) = received.rfind(TOKEN_BOUNDARIES) else { return false };
    let text =
        indentation::adapt(prefix_echo::remove(with_blanks(&received[..=end], around), around), around);
    around.before.end(around.extent, &text).is_some()
        || repetition::is_endless(&text)
        || suffix_overlap::overlaps_for_certain(&text, around)
}

/// Length in bytes of the examined beginning: more than a user types while the answer is generated.
pub(crate) const MAX_BEGINNING_BYTES: usize = 1 << 10;

/// Returns the beginning of the cleaned answer as far as later text cannot change it: filters change the end of an answer when more of
/// it arrives, but not this part.
pub(crate) fn stable_beginning(received: &str, around: &CleaningContext<'_>) -> String {
    let beginning = &received[..received.floor_char_boundary(MAX_BEGINNING_BYTES)];
    // The indentation of later lines depends on all of them.
    let beginning =
        beginning.trim_start_matches(['\r', '\n']).find('\n').map_or(beginning, |_| first_line(beginning));
    // The rest of a line end or of an indentation may still arrive.
    let beginning = with_blanks(lost_blanks::settled(beginning.trim_end_matches([' ', '\t', '\r'])), around);
    if prefix_echo::may_be_echo(&beginning, around) {
        return String::new();
    }
    indentation::adapt(prefix_echo::remove(beginning, around), around)
}

/// Returns the text with line ends and blanks between tokens as in the document.
fn with_blanks(text: &str, around: &CleaningContext<'_>) -> String {
    lost_blanks::restore(line_ends::adapt(text.to_owned(), around), around)
}

/// Returns the text up to the end of its first line that is not blank.
fn first_line(text: &str) -> &str {
    let blank = text.len() - text.trim_start_matches(['\r', '\n']).len();
    let end = text[blank..].find('\n').map_or(text.len(), |at| blank + at);
    &text[..end]
}

/// Removes blanks at the end; an answer of blanks only becomes empty.
fn trailing_blanks(mut answer: String, _around: &CleaningContext<'_>) -> String {
    answer.truncate(answer.trim_end_matches([' ', '\t', '\r', '\n']).len());
    answer
}

/// Minimum number of alphanumeric characters of a distinctive line. Shorter lines repeat by chance: closing brackets, `else`, `return`.
const MIN_DISTINCTIVE_CHARACTERS: usize = 8;

/// Returns whether a line is distinctive enough that its repetition means something.
fn is_distinctive(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).nth(MIN_DISTINCTIVE_CHARACTERS - 1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that cleaning leaves `kept` of `answer` at the cursor `$0` of `document`.
    #[track_caller]
    pub(super) fn check(path: &str, document: &str, answer: &str, kept: &str) {
        assert_eq!(cleaned(path, document, answer, false).0, kept, "{answer:?}");
    }

    pub(super) fn cleaned(
        path: &str,
        document: &str,
        answer: &str,
        is_cut_off: bool,
    ) -> (String, Vec<&'static str>) {
        let (prefix, suffix) = document.split_once("$0").unwrap();
        let around =
            CleaningContext::new(&SyntaxCache::default(), Language::from_path(path).unwrap(), prefix, suffix);
        let (text, cuts) = clean(answer, &CleaningContext { is_cut_off, ..around });
        (text, cuts.into_iter().map(|cut| cut.filter).collect())
    }

    #[test]
    fn trailing_whitespace_is_cut() {
        check("a.py", "$0", "return 1\n    \n", "return 1");
        check("a.py", "$0", " \n\t", "");
    }

    #[test]
    fn clean_answer_is_unchanged() {
        for (document, answer) in [
            ("def f(x):\n    $0\n\n\nf(1)\n", "if x:\n        return 1\n\n    return 2"),
            ("x = f($0)\n", "1, g(2)"),
            ("total = $0", "a + b"),
        ] {
            assert_eq!(cleaned("a.py", document, answer, false), (answer.to_owned(), vec![]));
        }
    }

    #[test]
    fn answer_is_complete_once_later_text_would_be_cut() {
        let around = CleaningContext::new(
            &SyntaxCache::default(),
            Language::Python,
            "x = ",
            "\n\nprint(total, file=out)\n",
        );
        for (received, complete) in
            [("1", false), ("1\n", true), ("f(\n", false), ("(\nprint(total, file=out)\n", false)]
        {
            assert_eq!(is_complete(received, &around), complete, "{received:?}");
        }
    }
}
