//! Python's string rules, on which the public benchmarks are based and which differ from Rust's.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Returns whether `str.strip` removes `c` and `\s` matches it: Unicode white space and the separators U+001C to U+001F.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Returns whether `str.strip` leaves nothing of `text`.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.rstrip()`.
pub fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Returns whether `\w` matches `c`: letters, numbers and the underscore, but no combining marks.
pub fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// `round(value, digits)`: correctly rounded from the exact binary value, ties to even.
pub fn round(value: f64, digits: usize) -> f64 {
    format!("{value:.digits$}").parse().unwrap_or(value)
}

/// Returns whether `\d` matches `c`.
pub fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.general_category() == GeneralCategory::DecimalNumber)
}

/// `str.splitlines()`: recognizes more line ends than editors do, and adds no empty line after the last one.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(is_line_end)
        .scan(false, |after_cr, piece| {
            // The LF of a CRLF is a separate piece that ends the line already returned.
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
    fn whitespace_matches_python() {
        let white: Vec<u32> =
            (0..=0x10FFFF).filter_map(char::from_u32).filter(|&c| is_space(c)).map(u32::from).collect();
        let mut expected: Vec<u32> = (0x9..=0xD).chain(0x1C..=0x20).chain([0x85, 0xA0, 0x1680]).collect();
        expected.extend((0x2000..=0x200A).chain([0x2028, 0x2029, 0x202F, 0x205F, 0x3000]));
        assert_eq!(white, expected);
    }

    #[test]
    fn stripping_keeps_inner_and_zero_width_blanks() {
        assert_eq!(strip("\u{1f} a\u{a0}b\r\n\u{85}"), "a\u{a0}b");
        assert_eq!(strip("\u{feff}x\u{200b}"), "\u{feff}x\u{200b}");
        assert_eq!(rstrip(" a \u{2029}"), " a");
        assert_eq!(strip(" \t"), "");
        assert!(is_blank("\u{3000}\u{1c}") && !is_blank("\u{feff}"));
    }

    #[test]
    fn word_characters_are_letters_numbers_and_underscore() {
        for c in ['a', 'Z', '0', '_', 'é', 'ß', '漢', 'Ⅷ', '½', '²', '𝒳', 'ª'] {
            assert!(is_word(c), "{c:?} is a word character");
        }
        for c in ['\u{301}', '\u{94d}', '-', '$', '😀', '\u{200d}', 'Ⓐ', ' '] {
            assert!(!is_word(c), "{c:?} is no word character");
        }
    }

    #[test]
    fn rounding_is_exact_with_ties_to_even() {
        assert_eq!(round(0.125, 2), 0.12);
        assert_eq!(round(0.375, 2), 0.38);
        assert_eq!(round(2.675, 2), 2.67);
        assert_eq!(round(1.005, 2), 1.0);
        assert_eq!(round(100.0, 2), 100.0);
        assert!(round(f64::NAN, 2).is_nan());
    }

    #[test]
    fn only_decimal_digits_are_digits() {
        assert!(is_digit('7') && is_digit('٣') && !is_digit('²') && !is_digit('x'));
    }

    #[test]
    fn lines_split_as_in_python() {
        let lines = |text| split_lines(text).collect::<Vec<_>>();
        assert_eq!(lines("a\r\nb\rc\n\nd\u{b}e\u{2028}f\u{1d}g"), ["a", "b", "c", "", "d", "e", "f", "g"]);
        assert_eq!(lines("a\n"), ["a"]);
        assert_eq!(lines("\r\n"), [""]);
        assert_eq!(lines("\n\r\n"), ["", ""]);
        assert_eq!(lines(""), [""; 0]);
    }
}
