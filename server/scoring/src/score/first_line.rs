//! Whether the first line is right: editors show little more before it is accepted.

use text::python;

/// Whether the first non-blank lines are equal, ignoring surrounding blanks; `None` for a blank truth.
pub(super) fn exact(answer: &str, truth: &str) -> Option<bool> {
    let truth = first_line(truth)?;
    Some(first_line(answer) == Some(truth))
}

fn first_line(text: &str) -> Option<&str> {
    text.split('\n').map(python::strip).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_nonblank_lines_are_compared() {
        assert_eq!(exact("a\nb", "a\nc"), Some(true));
        assert_eq!(exact("\r\n    a \r\nb", "a"), Some(true));
        assert_eq!(exact("ab", "a"), Some(false));
        assert_eq!(exact("", "a"), Some(false));
        assert_eq!(exact("e\u{301}", "é"), Some(false));
        assert_eq!(exact("a", " \n"), None);
    }
}
