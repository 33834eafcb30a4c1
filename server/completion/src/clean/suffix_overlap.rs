//! Cuts an answer that continues into the next lines after the cursor.

use super::{CleaningContext, is_distinctive};
use crate::extent::indentation;

/// Number of consecutive distinctive lines that rule out coincidence if they also follow the cursor.
const CERTAIN_LINES: usize = 2;
/// The same for lines that are all shifted by the same indentation.
const CERTAIN_SHIFTED_LINES: usize = 4;
/// Maximum number of lines after the cursor that are compared.
const MAX_LINES: usize = 16;

/// Cuts the lines that also follow the cursor, and everything after them.
pub(super) fn cut(mut answer: String, around: &CleaningContext<'_>) -> String {
    if let Some(start) = overlap(&answer, around, false) {
        answer.truncate(answer[..start].trim_end().len());
    }
    answer
}

/// Returns whether an incomplete answer has certainly continued into these lines.
pub(super) fn overlaps_for_certain(answer: &str, around: &CleaningContext<'_>) -> bool {
    overlap(answer, around, true).is_some()
}

/// Returns the offset at which the answer begins to repeat the lines after the cursor including their indentation: up to the answer's
/// end, or for several distinctive lines.
fn overlap(answer: &str, around: &CleaningContext<'_>, is_open: bool) -> Option<usize> {
    let follows: Vec<&str> =
        around.suffix.split('\n').skip(1).map(str::trim_end).filter(is_not_blank).take(MAX_LINES).collect();
    // A short first line repeats by chance, so more of the lines after it have to follow in the answer.
    let is_short = !is_distinctive(follows.first()?);
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
    let is_repeated = |&place: &usize| {
        let overlap = Overlap::new(&lines[place..], &follows);
        match place {
            // An answer that only begins like the next lines is new code similar to them, as a test with the same annotations.
            0 => overlap.is_whole(is_open) && !is_short,
            _ if is_short => overlap.is_whole(is_open) && overlap.is_certain(),
            _ => {
                overlap.is_whole(is_open)
                    || overlap.is_certain()
                    || overlap_is_shifted(&lines[place..], &follows)
            }
        }
    };
    (0..lines.len()).find(is_repeated).map(|place| lines[place].0)
}

/// Equal lines, from a line of the answer and the first line after the cursor.
struct Overlap {
    /// Number of distinctive lines among them.
    telling: usize,
    /// Whether they reach the answer's end.
    is_to_the_end: bool,
    /// Whether they are all the compared lines.
    is_all: bool,
}

impl Overlap {
    fn new(lines: &[(usize, String)], follows: &[&str]) -> Overlap {
        let same = lines.iter().zip(follows).take_while(|((_, line), next)| line == *next).count();
        Overlap {
            telling: follows[..same].iter().filter(|line| is_distinctive(line)).count(),
            is_to_the_end: same == lines.len(),
            is_all: same == follows.len(),
        }
    }

    fn is_certain(&self) -> bool {
        self.telling >= CERTAIN_LINES
    }

    fn is_whole(&self, is_open: bool) -> bool {
        self.telling > 0 && self.is_to_the_end && !is_open || self.is_certain() && self.is_all
    }
}

/// Returns whether enough lines are repeated with another indentation to rule out coincidence.
fn overlap_is_shifted(lines: &[(usize, String)], follows: &[&str]) -> bool {
    let shift = |line: &str, next: &str| indentation(line).len() as isize - indentation(next).len() as isize;
    let same = lines.iter().zip(follows).take_while(|((_, line), next)| {
        line.trim_start() == next.trim_start() && shift(line, next) == shift(&lines[0].1, follows[0])
    });
    same.filter(|((_, line), _)| is_distinctive(line)).count() >= CERTAIN_SHIFTED_LINES
}

fn is_not_blank(line: &&str) -> bool {
    !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn answer_is_cut_before_a_line_of_the_suffix() {
        let follows = "def f():\n    $0\n    total = left + right\n";
        check("a.py", follows, "a = 1\n    total = left + right\n    return total", "a = 1");
        check("a.py", &follows.replace('\n', "\r\n"), "a = 1\r\n\r\n    total = left + right\r\n", "a = 1");
    }

    #[test]
    fn answer_equal_to_the_next_line_becomes_empty() {
        check("a.py", "$0\n\n    total = left + right\n", "    total = left + right\n", "");
    }

    #[test]
    fn single_repeated_short_line_is_kept() {
        check("a.go", "func f() {$0\nend()\n}\n", "\nx()\nend()\ny()", "\nx()\nend()\ny()");
    }

    #[test]
    fn short_line_is_cut_if_later_lines_repeat_too() {
        let next = "    this();\n    int first = tokens.previous();\n    int second = tokens.next();\n";
        let head = "A(Tokens tokens) throws TokenError {";
        check("a.java", &format!("class A {{\n  $0\n{next}  }}\n}}\n"), &format!("{head}\n{next}"), head);
    }

    #[test]
    fn new_code_that_begins_like_the_suffix_is_kept() {
        let next = "    [TestMethod]\n    [DataRow(1, 2)]\n    public void Second() { Check(2); }\n";
        let first = "[TestMethod]\n    [DataRow(1, 2)]\n    public void First() { Check(1); }";
        check("a.cs", &format!("class A\n{{\n    $0\n\n{next}}}\n"), first, first);
        check("a.cs", &format!("class A\n{{\n    $0\n\n{next}}}\n"), next.trim(), "");
    }

    #[test]
    fn repeated_lines_with_other_indentation_are_cut() {
        let next = "        onMouseLeave={leave}\n      >\n        <StyledImage\n          source={imageSource}\n          alternative='a'\n";
        let shifted: String = next.lines().map(|line| format!("{}\n", &line[2..])).collect();
        let answer = format!("    <Styled\n      onMouseEnter={{enter}}\n{shifted}");
        check("a.tsx", &format!("return (\n$0\n{next}"), &answer, "    <Styled\n      onMouseEnter={enter}");
    }

    #[test]
    fn partially_repeated_line_is_kept() {
        check(
            "a.py",
            "x = $0\ntotal = left + right\n",
            "total = left + right + c",
            "total = left + right + c",
        );
    }
}
