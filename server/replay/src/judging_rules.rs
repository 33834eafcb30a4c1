//! By which rules tests judge answers: ours, or those of the original benchmarks' programs.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use benchmarks::ScoringRules;
use benchmarks::codev_bench::{CodevBlock, has_right_indent, is_empty, is_on_one_line, unit_test_passes};
use cases::{Case, CaseTests, TestVerdict};
use sandbox::{ChangedFile, Exit};
use serde::{Deserialize, Serialize};

use crate::ReplayError;
use crate::test_judge::{JudgedCode, SandboxJudge};

/// Time of each test, as in Codev-Bench.
const TEST_LIMIT: Duration = Duration::from_secs(120);

/// Rules of judging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgingRules {
    /// The report and the exit code of the runner.
    #[default]
    Ours,
    /// Those of the originals' programs, for comparisons with their numbers.
    ///
    /// Codev-Bench's runs the tests in their order until one fails, and a test passes if the last line that pytest prints says so. YABLoCo's
    /// reads and places generations in its own way.
    Original {
        /// Rules about the shape of answers in Codev-Bench, which its program has switches for.
        shapes: Vec<CodevShape>,
    },
}

/// A rule about the shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodevShape {
    /// Each line after the first is indented at least as far as the block.
    Indent,
    /// The answer has no line feed.
    OneLine,
    /// The answer is empty.
    Empty,
}

impl JudgingRules {
    pub(crate) fn scoring(&self) -> ScoringRules {
        match self {
            JudgingRules::Ours => ScoringRules::Paper,
            JudgingRules::Original { .. } => ScoringRules::Faithful,
        }
    }

    /// Returns a name that differs between rules; empty for ours.
    pub(crate) fn name(&self) -> String {
        match self {
            JudgingRules::Ours => String::new(),
            JudgingRules::Original { shapes } => {
                let shapes: Vec<String> = shapes.iter().map(CodevShape::to_string).collect();
                format!("original {}", shapes.join(","))
            }
        }
    }
}

impl CodevShape {
    /// All of them.
    pub const ALL: [CodevShape; 3] = [CodevShape::Indent, CodevShape::OneLine, CodevShape::Empty];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CodevShape::Indent => "indent",
            CodevShape::OneLine => "one-line",
            CodevShape::Empty => "empty",
        }
    }

    fn accepts(self, case: &Case, answer: &str) -> bool {
        match self {
            CodevShape::Indent => has_right_indent(answer, &block_first_line(case), ScoringRules::Faithful),
            CodevShape::OneLine => is_on_one_line(answer),
            CodevShape::Empty => is_empty(answer, ScoringRules::Faithful),
        }
    }
}

impl fmt::Display for CodevShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the first line of the case's block in the original file: that of its row, if it was imported, otherwise that of the cursor.
fn block_first_line(case: &Case) -> String {
    let key = case
        .origin
        .benchmark_id
        .as_deref()
        .filter(|_| case.origin.benchmark.as_deref() == Some("codev-bench"));
    let first = key
        .and_then(CodevBlock::parse)
        .map_or(case.line as usize, |block| block.first_line.saturating_sub(1));
    let text = [case.prefix.as_str(), &case.truth].concat();
    text.split('\n').nth(first).unwrap_or_default().to_owned()
}

/// Judges an answer as Codev-Bench's program does.
pub(crate) fn judge_as_codev_bench(
    judge: &SandboxJudge,
    shapes: &[CodevShape],
    case: &Case,
    tests: &CaseTests,
    (answer, change): (&str, &ChangedFile),
) -> Result<JudgedCode, ReplayError> {
    let mut judged = JudgedCode {
        verdict: TestVerdict::Passed,
        not_passed: BTreeSet::new(),
        output: String::new(),
        wall: Duration::ZERO,
    };
    for test in &tests.ids {
        let outcome = judge.run_for_log(tests, change, test, TEST_LIMIT)?;
        judged.wall += outcome.wall;
        if outcome.exit == Exit::TimedOut || !unit_test_passes(&outcome.output, ScoringRules::Faithful) {
            judged.verdict = match outcome.exit {
                Exit::TimedOut => TestVerdict::TimedOut,
                Exit::OutOfMemory => TestVerdict::OutOfMemory,
                _ => TestVerdict::Failed,
            };
            judged.not_passed.insert(test.clone());
            judged.output = outcome.output;
            return Ok(judged);
        }
    }
    if let Some(shape) = shapes.iter().find(|shape| !shape.accepts(case, answer)) {
        judged.verdict = TestVerdict::Failed;
        judged.output = format!("the tests pass, but the answer breaks the rule `{shape}`");
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_rules_have_different_names() {
        let rules = |shapes: &[CodevShape]| JudgingRules::Original { shapes: shapes.to_vec() }.name();
        let names =
            [JudgingRules::Ours.name(), rules(&[]), rules(&[CodevShape::Indent]), rules(&CodevShape::ALL)];
        let different: BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }
}
