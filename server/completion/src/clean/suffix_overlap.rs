//! Cuts an answer that runs on into what already stands after the cursor.

use super::Surroundings;

/// Lines shorter than this repeat by chance: closing brackets, `else`, `return`.
const MIN_TELLING_CHARACTERS: usize = 8;

/// Bytes of the answer before the first whole line that equals the suffix's first line of substance.
pub(super) fn keep(answer: &str, around: &Surroundings<'_>) -> usize {
    let next_lines = around.suffix.split('\n').skip(1).map(str::trim);
    let Some(next) = next_lines.into_iter().find(|line| !line.is_empty()) else { return answer.len() };
    if next.chars().filter(|c| c.is_alphanumeric()).count() < MIN_TELLING_CHARACTERS {
        return answer.len();
    }
    let mut start = 0;
    for line in answer.split_inclusive('\n') {
        if line.trim() == next {
            return answer[..start].trim_end().len();
        }
        start += line.len();
    }
    answer.len()
}

#[cfg(test)]
mod tests {
    use super::super::{Surroundings, clean};

    #[track_caller]
    fn check(answer: &str, suffix: &str, kept: &str) {
        assert_eq!(clean(answer, &Surroundings { suffix }).0, kept);
    }

    #[test]
    fn a_line_that_already_follows_ends_the_answer() {
        check("a = 1\n    total = left + right\n    return total", "\n    total = left + right\n", "a = 1");
        check("a = 1\r\n\r\n    total = left + right\r\n", "\r\n    total = left + right\r\n", "a = 1");
    }

    #[test]
    fn an_answer_that_is_nothing_but_the_next_line_is_nothing() {
        check("    total = left + right\n", "\n\n    total = left + right\n", "");
    }

    #[test]
    fn short_lines_repeat_by_chance() {
        check("x()\n}\ny()", "\n}\n", "x()\n}\ny()");
    }

    #[test]
    fn only_whole_lines_count() {
        check("total = left + right + c", "\ntotal = left + right\n", "total = left + right + c");
    }

    #[test]
    fn blanks_at_the_end_are_cut() {
        check("return 1\n    \n", "", "return 1");
        check(" \n\t", "", "");
    }
}
