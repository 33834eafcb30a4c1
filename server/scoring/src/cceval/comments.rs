//! Comment removal, the same in every language.

use std::borrow::Cow;

/// Deletes from every `#`, and then from every `//`, to the end of its line. As in the original, strings are not recognized and
/// block comments stay.
pub fn remove_comments(text: &str) -> Cow<'_, str> {
    match cut_lines(text, "#") {
        Cow::Borrowed(text) => cut_lines(text, "//"),
        Cow::Owned(text) => Cow::Owned(cut_lines(&text, "//").into_owned()),
    }
}

fn cut_lines<'t>(text: &'t str, marker: &str) -> Cow<'t, str> {
    if !text.contains(marker) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> =
        text.split('\n').map(|line| line.split_once(marker).map_or(line, |(code, _)| code)).collect();
    Cow::Owned(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_and_slash_comments_are_cut_even_in_strings() {
        assert_eq!(remove_comments("a # b\nc // d\ne"), "a \nc \ne");
        assert_eq!(remove_comments("x = \"http://y\"; this.#z"), "x = \"http:");
        assert_eq!(remove_comments("a // b # c // d"), "a ");
        assert_eq!(remove_comments("/* a */ b"), "/* a */ b");
    }

    #[test]
    fn comment_removal_includes_cr_but_keeps_lf() {
        assert_eq!(remove_comments("a # b\r\nc\r\n"), "a \nc\r\n");
        assert_eq!(remove_comments("#\u{2028}é\n"), "\n");
        assert_eq!(remove_comments(""), "");
        assert_eq!(remove_comments("/#/"), "/", "what the first cut leaves is no marker");
    }
}
