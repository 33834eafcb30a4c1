//! Cuts an answer that runs on into the next lines after the cursor.

use super::{Surroundings, is_telling};

/// Telling lines in a row that also stand after the cursor: so many are no chance.
const CERTAIN_LINES: usize = 2;
/// Most lines after the cursor that are compared.
const MAX_LINES: usize = 16;

/// Keeps what stands before the lines that stand after the cursor as well.
pub(super) fn cut(mut answer: String, around: &Surroundings<'_>) -> String {
    if let Some(start) = overlap(&answer, around, false) {
        answer.truncate(answer[..start].trim_end().len());
    }
    answer
}

/// Whether an answer that is not complete yet has run on into these lines for certain.
pub(super) fn runs_on(answer: &str, around: &Surroundings<'_>) -> bool {
    overlap(answer, around, true).is_some()
}

/// Where the answer begins to repeat the lines after the cursor, indentation and all: to its end, or for several telling lines.
fn overlap(answer: &str, around: &Surroundings<'_>, is_open: bool) -> Option<usize> {
    let follows: Vec<&str> =
        around.suffix.split('\n').skip(1).map(str::trim_end).filter(is_not_blank).take(MAX_LINES).collect();
    if !follows.first().is_some_and(|line| is_telling(line)) {
        return None;
    }
    let line = around.before.line();
    let own = if line.trim().is_empty() { line } else { "" };
    let mut start = 0;
    let mut lines = Vec::new();
    for line in answer.split_inclusive('\n') {
        let indentation = if start == 0 { own } else { "" };
        lines.push((start, [indentation, line.trim_end()].concat()));
        start += line.len();
    }
    lines.retain(|(_, line)| is_not_blank(&line.as_str()));
    (0..lines.len()).find(|&place| repeats(&lines[place..], &follows, is_open)).map(|place| lines[place].0)
}

fn repeats(lines: &[(usize, String)], follows: &[&str], is_open: bool) -> bool {
    let same = lines.iter().zip(follows).take_while(|((_, line), next)| line == *next).count();
    let telling = follows[..same].iter().filter(|line| is_telling(line)).count();
    let is_to_the_end = same > 0 && same == lines.len() && !is_open;
    telling >= CERTAIN_LINES || is_to_the_end && telling > 0
}

fn is_not_blank(line: &&str) -> bool {
    !line.trim().is_empty()
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
        check("a.go", "func f() {$0\nend()\n}\n", "\nx()\nend()\ny()", "\nx()\nend()\ny()");
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
