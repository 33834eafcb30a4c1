//! A piece of a file's text.

use std::ops::Range;
use std::sync::Arc;

/// A piece of the text of a file: context of a completion, from retrieval to the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// Its file, relative to the workspace root, with `/` separators.
    pub path: Arc<str>,
    /// The text.
    pub text: String,
    /// Its first line in that file, 0-based; `None` if it is unknown, or if the text is assembled from several places.
    pub first_line: Option<u32>,
}

impl Snippet {
    /// Returns a snippet of an unknown place in a file.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<String>) -> Snippet {
        Snippet { path: path.into(), text: text.into(), first_line: None }
    }

    /// Returns the snippet with this text, which is taken from `lines` of a file. A text with another number of lines is assembled
    /// from a part of them.
    pub fn of_lines(path: impl Into<Arc<str>>, lines: Range<u32>, text: String) -> Snippet {
        let count = usize::try_from(lines.end.saturating_sub(lines.start));
        let is_whole = count.is_ok_and(|count| count == text.lines().count());
        Snippet { first_line: is_whole.then_some(lines.start), ..Snippet::new(path, text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_assembled_from_several_places_has_no_first_line() {
        let first_line = |text: &str| Snippet::of_lines("a.py", 3..5, text.to_owned()).first_line;
        assert_eq!((first_line("a\nb"), first_line("a\nb\n"), first_line("a")), (Some(3), Some(3), None));
    }
}
