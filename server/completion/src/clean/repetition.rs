//! Cuts an answer that repeats itself.

use super::{Surroundings, is_telling};

/// Lines of a run that is looked for at most: models that loop have short loops.
const MAX_RUN_LINES: usize = 8;
/// A run that comes so often in a row is a loop. Three also stand in tables and tests.
const TIMES: usize = 4;

/// Keeps the first of runs of lines that come again and again.
pub(super) fn cut(mut answer: String, _around: &Surroundings<'_>) -> String {
    let lines: Vec<&str> = answer.lines().map(str::trim).collect();
    let first_loop = (0..lines.len()).find_map(|start| {
        let length = (1..=MAX_RUN_LINES).find(|&length| loops(&lines[start..], length))?;
        Some(start + length)
    });
    if let Some(kept) = first_loop {
        let end: usize = answer.split_inclusive('\n').take(kept).map(str::len).sum();
        answer.truncate(answer[..end].trim_end().len());
    }
    answer
}

fn loops(lines: &[&str], length: usize) -> bool {
    let Some(repeated) = lines.get(..length * TIMES) else { return false };
    let run = &repeated[..length];
    run.iter().any(|line| is_telling(line)) && repeated.chunks(length).all(|again| again == run)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn a_loop_is_left_after_its_first_round() {
        let round = "total = left + right\nprint(total)\n";
        check(
            "a.py",
            "$0",
            &format!("x = 1\n{}", round.repeat(5)),
            "x = 1\ntotal = left + right\nprint(total)",
        );
    }

    #[test]
    fn a_few_equal_lines_are_code() {
        check(
            "a.py",
            "$0",
            "append(value_1)\nappend(value_1)\nappend(value_1)",
            "append(value_1)\nappend(value_1)\nappend(value_1)",
        );
        check("a.c", "int m[] = {\n  $0", "0,\n  0,\n  0,\n  0,\n  0,", "0,\n  0,\n  0,\n  0,\n  0,");
    }
}
