//! Rules about the shape of a response. Which of them apply depends on the file of the benchmark.

use text::python;

use crate::ScoringRules;

/// Whether each line of the response after the first is indented at least as far as the block's first line in the original file.
///
/// [`ScoringRules::Faithful`] compares lengths only, so that a tab counts as one space, and rejects blank lines that are shorter, also the
/// empty one after a final line feed. [`ScoringRules::Paper`] compares the white space itself and ignores blank lines.
pub fn has_right_indent(response: &str, block_first_line: &str, rules: ScoringRules) -> bool {
    let required = indent(block_first_line);
    response.split('\n').skip(1).all(|line| match rules {
        ScoringRules::Faithful => indent(line).chars().count() >= required.chars().count(),
        ScoringRules::Paper => python::is_blank(line) || line.starts_with(required),
    })
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(python::is_space).len()]
}

/// Whether the response does not cross a line end.
pub fn is_on_one_line(response: &str) -> bool {
    !response.contains('\n')
}

/// Whether the response is empty. [`ScoringRules::Faithful`] accepts the empty text only, [`ScoringRules::Paper`] also white space.
pub fn is_empty(response: &str, rules: ScoringRules) -> bool {
    response.is_empty() || rules == ScoringRules::Paper && python::is_blank(response)
}

/// Returns the number of lines; an empty response has one.
pub fn line_length(response: &str) -> usize {
    response.split('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indent_of_later_lines_counts() {
        for rules in [ScoringRules::Paper, ScoringRules::Faithful] {
            assert!(has_right_indent("a", "        x", rules));
            assert!(has_right_indent("a\n    b\n      c", "    x", rules));
            assert!(!has_right_indent("a\n  b", "    x", rules));
        }
    }

    #[test]
    fn original_counts_blank_lines_and_lengths() {
        assert!(has_right_indent("a\n\n    b\n", "    x", ScoringRules::Paper));
        assert!(!has_right_indent("a\n\n    b", "    x", ScoringRules::Faithful));
        assert!(!has_right_indent("a\n b", "\tx", ScoringRules::Paper));
        assert!(has_right_indent("a\n b", "\tx", ScoringRules::Faithful));
    }

    #[test]
    fn blank_responses_are_empty_by_description_only() {
        assert!(is_empty(" \n", ScoringRules::Paper) && !is_empty(" \n", ScoringRules::Faithful));
        assert_eq!((line_length(""), line_length("a\n")), (1, 2));
    }
}
