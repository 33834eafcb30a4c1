//! Cuts an answer that runs on into the next lines after the cursor.

use super::{Surroundings, is_telling};

/// Keeps what stands before the first whole line that equals the suffix's first line of substance.
pub(super) fn cut(mut answer: String, around: &Surroundings<'_>) -> String {
    let next_lines = around.suffix.split('\n').skip(1).map(str::trim);
    let Some(next) = next_lines.into_iter().find(|line| !line.is_empty()).filter(|line| is_telling(line))
    else {
        return answer;
    };
    let mut start = 0;
    for line in answer.split_inclusive('\n') {
        if line.trim() == next {
            let kept = answer[..start].trim_end().len();
            answer.truncate(kept);
            return answer;
        }
        start += line.len();
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn a_line_that_already_follows_ends_the_answer() {
        let follows = "def f():\n    $0\n    total = left + right\n";
        check("a.py", follows, "a = 1\n    total = left + right\n    return total", "a = 1");
        check("a.py", &follows.replace('\n', "\r\n"), "a = 1\r\n\r\n    total = left + right\r\n", "a = 1");
    }

    #[test]
    fn an_answer_that_is_nothing_but_the_next_line_is_nothing() {
        check("a.py", "$0\n\n    total = left + right\n", "    total = left + right\n", "");
    }

    #[test]
    fn short_lines_repeat_by_chance() {
        check("a.go", "$0\nend()\n", "x()\nend()\ny()", "x()\nend()\ny()");
    }

    #[test]
    fn only_whole_lines_count() {
        check(
            "a.py",
            "x = $0\ntotal = left + right\n",
            "total = left + right + c",
            "total = left + right + c",
        );
    }
}
