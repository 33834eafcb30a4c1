//! Python's rules for text, which the public benchmarks' numbers rest on and which differ from Rust's.
//!
//! White space and word characters are not what `char::is_whitespace` and `char::is_alphanumeric` say, and `round` works
//! on the exact binary value.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether `str.strip` removes `c`: Unicode's white space and the four information separators U+001C to U+001F.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.rstrip()`.
pub(crate) fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Whether `\w` matches `c`: letters, numbers and the underscore, but no combining marks.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// `round(value, 2)`: correctly rounded from the exact binary value, ties to even.
pub(crate) fn round2(value: f64) -> f64 {
    format!("{value:.2}").parse().expect("a formatted number is a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_pythons() {
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
        assert_eq!(round2(0.125), 0.12);
        assert_eq!(round2(0.375), 0.38);
        assert_eq!(round2(2.675), 2.67);
        assert_eq!(round2(1.005), 1.0);
        assert_eq!(round2(100.0), 100.0);
    }
}
