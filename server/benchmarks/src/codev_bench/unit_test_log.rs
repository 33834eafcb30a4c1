//! The verdict of a unit test from the log of pytest.

use text::python;

use crate::ScoringRules;

/// Whether the log ends with pytest's summary of passed tests only.
///
/// [`ScoringRules::Faithful`] requires the last line to contain `===== N passed in` or the same with warnings, so skipped or expectedly
/// failing tests and colours fail, and text before or after is overlooked. [`ScoringRules::Paper`] reads the last summary line: at
/// least one test passed, none failed and none had an error.
pub fn unit_test_passes(log: &str, rules: ScoringRules) -> bool {
    match rules {
        ScoringRules::Faithful => {
            let mut lines = log.split('\n').map(python::strip);
            lines.rfind(|line| !line.is_empty()).is_some_and(is_original_pass)
        }
        ScoringRules::Paper => log.lines().rev().find_map(summary).is_some_and(|counts| counts.is_pass()),
    }
}

const BAR: &str = "===== ";

fn is_original_pass(line: &str) -> bool {
    line.match_indices(BAR).any(|(at, bar)| {
        let rest = &line[at + bar.len()..];
        let after = rest.trim_start_matches(python::is_digit);
        let count = &rest[..rest.len() - after.len()];
        has_nonzero_digit(count) && is_passed_phrase(after)
    })
}

/// Whether the text goes on with ` passed in `, or with warnings between.
fn is_passed_phrase(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(" passed") else { return false };
    let Some(warnings) = rest.strip_prefix(", ") else { return rest.starts_with(" in ") };
    let unit = warnings.trim_start_matches(python::is_digit);
    unit.len() < warnings.len() && [" warning in ", " warnings in "].iter().any(|end| unit.starts_with(end))
}

/// Whether a run of digits of any script is not zero.
fn has_nonzero_digit(digits: &str) -> bool {
    // The ten digits of a script are consecutive, and zero is the one that no digit precedes.
    digits.chars().any(|digit| {
        let before = u32::from(digit).checked_sub(1).and_then(char::from_u32);
        before.is_some_and(python::is_digit)
    })
}

/// Counts of a summary line.
#[derive(Default)]
struct SummaryCounts {
    passed: u64,
    failed: u64,
}

impl SummaryCounts {
    fn is_pass(&self) -> bool {
        self.passed > 0 && self.failed == 0
    }
}

/// Returns the counts of a line such as `=== 1 failed, 2 passed in 0.1s ===`; `None` for other lines.
fn summary(line: &str) -> Option<SummaryCounts> {
    let line = without_colours(line);
    let line = line.trim().trim_matches('=').trim();
    let (outcomes, _) = line.rsplit_once(" in ")?;
    if outcomes == "no tests ran" {
        return Some(SummaryCounts::default());
    }
    let mut counts = SummaryCounts::default();
    for outcome in outcomes.split(", ") {
        let (count, kind) = outcome.split_once(' ')?;
        let count: u64 = count.parse().ok()?;
        match kind {
            "passed" => counts.passed = count,
            "failed" | "error" | "errors" => counts.failed = counts.failed.saturating_add(count),
            "skipped" | "deselected" | "xfailed" | "xpassed" | "warning" | "warnings" | "rerun" => {}
            _ => return None,
        }
    }
    Some(counts)
}

/// Removes the escape sequences of terminals (`ESC [ ... m`).
fn without_colours(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or(piece, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, paper: bool, faithful: bool) {
        assert_eq!(unit_test_passes(log, ScoringRules::Paper), paper, "paper");
        assert_eq!(unit_test_passes(log, ScoringRules::Faithful), faithful, "faithful");
    }

    #[test]
    fn logs_with_passed_tests_only_pass() {
        check("x\n===== 3 passed in 0.1s =====\n", true, true);
        check("===== 3 passed, 2 warnings in 0.1s =====", true, true);
        check("===== 0 passed in 0.1s =====", false, false);
        check("===== 1 failed, 3 passed in 0.1s =====", false, false);
        check("===== 2 passed, 1 error in 0.1s =====", false, false);
        check("===== no tests ran in 0.1s =====", false, false);
        check("", false, false);
    }

    #[test]
    fn original_rejects_skipped_tests_colours_and_trailing_text() {
        check("===== 2 passed, 1 skipped in 0.1s =====", true, false);
        check("\u{1b}[32m===== \u{1b}[1m2 passed\u{1b}[0m in 0.1s =====\u{1b}[0m", true, false);
        check("===== 2 passed in 0.1s =====\nbye", true, false);
        check("=== 2 passed in 0.1s ===", true, false);
    }

    #[test]
    fn digits_of_other_scripts_count() {
        check("===== ３ passed in 1s", false, true);
        check("===== ٠ passed in 1s", false, false);
    }
}
