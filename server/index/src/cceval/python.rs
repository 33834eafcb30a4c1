//! Python's rules for text, on which the original's chunks and tokens rest and which differ from Rust's.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether `str.strip` removes `c` and `\s` matches it: Unicode's white space and the separators U+001C to U+001F.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Whether `str.strip` leaves nothing of `line`.
pub(super) fn is_blank(line: &str) -> bool {
    line.chars().all(is_space)
}

/// Whether `\w` matches `c`: letters, numbers and the underscore, but no combining marks.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// Whether `\d` matches `c`.
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.general_category() == GeneralCategory::DecimalNumber)
}

/// `str.splitlines()`: more line ends than an editor knows, and no empty line after the last one.
pub(super) fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(is_line_end)
        .scan(false, |after_cr, piece| {
            // The line feed of a CRLF is a piece of its own; it ends the line that was already given.
            let is_second_half = *after_cr && piece == "\n";
            *after_cr = piece.ends_with('\r');
            Some((!is_second_half).then(|| piece.strip_suffix(is_line_end).unwrap_or(piece)))
        })
        .flatten()
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_white_and_zero_width_marks_are_not() {
        assert!(is_blank(" \t\r\u{1c}\u{1f}\u{85}\u{a0}\u{3000}"));
        assert!(is_blank(""));
        assert!(!is_blank("\u{feff}"));
        assert!(!is_blank(" \u{200b}"));
    }

    #[test]
    fn word_characters_are_letters_numbers_and_underscore() {
        assert!(['a', '0', '_', 'é', '漢', 'Ⅷ', '½', '²'].into_iter().all(is_word));
        assert!(!['\u{301}', '-', '$', '😀', '\u{200d}', 'Ⓐ', ' '].into_iter().any(is_word));
        assert!(is_digit('7') && is_digit('٣') && !is_digit('²') && !is_digit('x'));
    }

    #[test]
    fn lines_end_where_python_says() {
        let lines = |text| split_lines(text).collect::<Vec<_>>();
        assert_eq!(lines("a\r\nb\rc\n\nd\u{b}e\u{2028}f\u{1d}g"), ["a", "b", "c", "", "d", "e", "f", "g"]);
        assert_eq!(lines("a\n"), ["a"]);
        assert_eq!(lines("\r\n"), [""]);
        assert_eq!(lines("\n\r\n"), ["", ""]);
        assert_eq!(lines(""), [""; 0]);
    }
}
