//! Removal of comments before a comparison.

use std::borrow::Cow;
use std::ops::Range;

use syntax::{Language, Tree, may_have_comments};

/// Returns `text` without its comments, and without Python's docstrings of functions and classes. Line ends stay.
pub fn remove_comments(language: Language, text: &str) -> Cow<'_, str> {
    if !may_have_comments(language, text) {
        return Cow::Borrowed(text);
    }
    let tree = syntax::parse(language, text);
    let mut kept = String::with_capacity(text.len());
    let mut end = 0;
    for range in comment_ranges(&tree, text) {
        kept.push_str(&text[end..range.start.max(end)]);
        end = end.max(range.end);
    }
    kept.push_str(&text[end..]);
    Cow::Owned(kept)
}

/// Returns the ranges of the comments and docstrings of `text`, in order.
pub(super) fn comment_ranges(tree: &Tree, text: &str) -> Vec<Range<usize>> {
    let mut ranges = tree.comments(text);
    // A line comment extends to the line feed, so it includes the CR of a CRLF.
    for range in &mut ranges {
        let (comment, after) = (&text[range.clone()], &text[range.end..]);
        if !comment.starts_with("/*") && after.starts_with("\r\n") {
            range.end += 1;
        }
    }
    ranges.extend(tree.strings_as_statements());
    ranges.sort_by_key(|range| range.start);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_docstrings_leave_their_line_ends() {
        let python = "# a\ndef f():\n    '''doc\n    more'''\n    return 1  # é\n";
        assert_eq!(remove_comments(Language::Python, python), "\ndef f():\n    \n    return 1  \n");
        assert_eq!(remove_comments(Language::Rust, "/// doc\nfn f() { /* x */ }"), "\nfn f() {  }");
        assert_eq!(remove_comments(Language::Go, "x // a\r\ny /* b */\r\n"), "x \ny \r\n");
        assert_eq!(remove_comments(Language::Go, ""), "");
    }
}
