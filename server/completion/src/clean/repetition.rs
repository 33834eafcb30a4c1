//! Cuts an answer that repeats itself.

use super::{CleaningContext, is_distinctive};

/// Maximum number of lines of a repeated run: models that loop have short loops.
const MAX_RUN_LINES: usize = 8;
/// Number of consecutive repetitions that make a loop. Three also occur in tables and tests.
const MIN_REPEATS: usize = 4;

/// Number of repeated lines that make an answer endless even if it was not cut off: no useful answer has as many.
const ENDLESS_LINES: usize = 64;

/// Keeps the first of several repeated runs of lines, if the answer was cut off or is endless.
pub(super) fn cut(mut answer: String, around: &CleaningContext<'_>) -> String {
    let lines: Vec<&str> = answer.lines().map(str::trim).collect();
    let is_endless = around.is_cut_off || is_endless(&answer);
    let first_loop = (0..lines.len()).filter(|_| is_endless).find_map(|start| {
        let length = (1..=MAX_RUN_LINES).find(|&length| is_loop(&lines[start..], length))?;
        Some(start + length)
    });
    if let Some(kept) = first_loop {
        let end: usize = answer.split_inclusive('\n').take(kept).map(str::len).sum();
        answer.truncate(answer[..end].trim_end().len());
    }
    answer
}

/// Returns whether the answer ends with more repeated lines than any correct answer.
pub(super) fn is_endless(answer: &str) -> bool {
    let lines: Vec<&str> = answer.lines().rev().take(ENDLESS_LINES + MAX_RUN_LINES).map(str::trim).collect();
    let repeats = |length: usize| {
        let repeated =
            lines.iter().zip(&lines[length.min(lines.len())..]).take_while(|(line, again)| line == again);
        let repeated = repeated.map(|(line, _)| *line).collect::<Vec<_>>();
        repeated.len() >= ENDLESS_LINES && repeated.iter().any(|line| is_distinctive(line))
    };
    (1..=MAX_RUN_LINES).any(repeats)
}

fn is_loop(lines: &[&str], length: usize) -> bool {
    let Some(repeated) = lines.get(..length * MIN_REPEATS) else { return false };
    let run = &repeated[..length];
    run.iter().any(|line| is_distinctive(line)) && repeated.chunks(length).all(|again| again == run)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn endless_repetition_is_cut_after_one_round() {
        let round = "    total = left + right\n    print(total)\n";
        check(
            "a.py",
            "def f():\n    $0",
            &format!("x = 1\n{}", round.repeat(40)),
            "x = 1\n    total = left + right\n    print(total)",
        );
    }

    #[test]
    fn few_equal_lines_are_kept() {
        let thrice = "append(value_1)\n    append(value_1)\n    append(value_1)";
        check("a.py", "def f():\n    $0", thrice, thrice);
        check("a.c", "int m[] = {\n  $0", "0,\n  0,\n  0,\n  0,\n  0,", "0,\n  0,\n  0,\n  0,\n  0,");
    }
}
