//! Ends an answer at invisible characters: the inserted text must be the displayed text.
//!
//! An escape sequence affects a terminal, a NUL ends a file for some tools, and bidirectional controls display code in another order
//! than the compiler reads it. Removing only the character would leave code that the engine did not mean, so the answer ends before its
//! line, or right before it if only blanks and other such characters follow.

use text::is_invisible;

use super::CleaningContext;

/// Returns the first invisible character of a text.
pub(crate) fn first_control_character(text: &str) -> Option<char> {
    text.chars().find(|character| is_invisible(*character))
}

pub(super) fn truncate(mut answer: String, _around: &CleaningContext<'_>) -> String {
    let Some(at) = answer.find(is_invisible) else { return answer };
    let is_last = answer[at..].chars().all(|character| is_invisible(character) || character.is_whitespace());
    let line = answer[..at].rfind('\n').unwrap_or_default();
    answer.truncate(if is_last { at } else { line });
    answer
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, cleaned};
    use super::*;

    #[test]
    fn answer_is_cut_before_a_control_character() {
        for character in
            ['\u{1b}', '\0', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2067}', '\u{2028}', '\u{feff}', '\u{e0041}']
        {
            check("a.py", "$0", &format!("a()\nb({character}'x')\nc()"), "a()");
            check("a.py", "x = $0", &format!("{character}[31mred"), "");
            check("a.py", "x = $0", &format!("red{character}\n{character}"), "red");
            assert_eq!(first_control_character(&format!("a{character}")), Some(character));
        }
        assert_eq!(cleaned("a.py", "$0", "a()\n\u{1b}[0mb()", false).1, ["control_characters"]);
    }

    #[test]
    fn whitespace_and_joiners_are_kept() {
        for answer in ["def f():\n\ta()\n\u{c}\n\treturn 1", "x = '👩\u{200d}💻'", "s = 'نمی\u{200c}خواهم'"]
        {
            assert_eq!(cleaned("a.py", "$0", answer, false), (answer.to_owned(), vec![]));
        }
    }
}
