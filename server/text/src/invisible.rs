//! Characters that no screen shows as what they are.

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

/// Whether a character is not shown, or changes how others are: control characters, marks of direction, characters without width.
///
/// Tabs and line ends are code. So are form feeds, which old C and Python sources have between functions and which all compilers
/// but Go's read as a blank.
pub fn is_invisible(character: char) -> bool {
    let is_code = matches!(character, '\t' | '\n' | '\r' | '\u{c}');
    (character.is_control() && !is_code)
        || DIRECTION.contains(&character)
        || INVISIBLE.contains(&character)
        || TAGS.iter().any(|range| range.contains(&character))
}
