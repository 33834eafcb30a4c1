//! Ends an answer at characters that nobody sees: what is inserted must be what the screen shows.
//!
//! An escape sequence reaches a terminal, a NUL ends a file for some tools, and marks of direction show code in another order than
//! the compiler reads it. Removing such a character would leave code that the engine did not mean, so the answer ends before the
//! line that holds it; where nothing but blanks and other such characters follow it, right before it.

use super::Surroundings;

/// Marks that change the order in which a line is shown.
const DIRECTION: [char; 12] = [
    '\u{061c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

/// Ends of lines that compilers and editors do not agree on, and characters without width. Joiners are none of these: emoji and
/// Persian need them.
const INVISIBLE: [char; 5] = ['\u{2028}', '\u{2029}', '\u{200b}', '\u{2060}', '\u{feff}'];

/// Copies of ASCII that are not shown at all, and marks of annotations.
const TAGS: [std::ops::RangeInclusive<char>; 2] = ['\u{e0000}'..='\u{e007f}', '\u{fff9}'..='\u{fffb}'];

/// The first such character of a text.
pub(crate) fn first(text: &str) -> Option<char> {
    text.chars().find(|character| is_refused(*character))
}

pub(super) fn cut(mut answer: String, _around: &Surroundings<'_>) -> String {
    let Some(at) = answer.find(is_refused) else { return answer };
    let is_last = answer[at..].chars().all(|character| is_refused(character) || character.is_whitespace());
    let line = answer[..at].rfind('\n').unwrap_or_default();
    answer.truncate(if is_last { at } else { line });
    answer
}

/// Tabs and line ends are code. So are form feeds, which old C and Python sources have between functions and which all compilers
/// but Go's read as a blank.
fn is_refused(character: char) -> bool {
    let is_code = matches!(character, '\t' | '\n' | '\r' | '\u{c}');
    (character.is_control() && !is_code)
        || DIRECTION.contains(&character)
        || INVISIBLE.contains(&character)
        || TAGS.iter().any(|range| range.contains(&character))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, cleaned};
    use super::*;

    #[test]
    fn an_answer_ends_before_the_line_with_what_nobody_sees() {
        for character in
            ['\u{1b}', '\0', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2067}', '\u{2028}', '\u{feff}', '\u{e0041}']
        {
            check("a.py", "$0", &format!("a()\nb({character}'x')\nc()"), "a()");
            check("a.py", "x = $0", &format!("{character}[31mred"), "");
            check("a.py", "x = $0", &format!("red{character}\n{character}"), "red");
            assert_eq!(first(&format!("a{character}")), Some(character));
        }
        assert_eq!(cleaned("a.py", "$0", "a()\n\u{1b}[0mb()", false).1, ["control_characters"]);
    }

    #[test]
    fn blanks_and_joiners_are_code() {
        for answer in ["def f():\n\ta()\n\u{c}\n\treturn 1", "x = '👩\u{200d}💻'", "s = 'نمی\u{200c}خواهم'"]
        {
            assert_eq!(cleaned("a.py", "$0", answer, false), (answer.to_owned(), vec![]));
        }
    }
}
