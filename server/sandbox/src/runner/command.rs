//! Runners that need no more than a command and a report in JUnit's format: CTest, Maven, and commands of the settings.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cases::TestRunnerKind;

use super::{TestResults, TestRunner, TestSelection, TestState, junit, returns};
use crate::outcome::{CommandOutcome, Exit};
use crate::spec::{ChangedFile, ReportFiles, SandboxCommand};

/// Id of the only test of a command without a report.
pub(super) const WHOLE_COMMAND: &str = "command";

/// Report of CTest.
const CTEST_REPORT: &str = "ghostbench-ctest.xml";

pub(super) fn command(
    runner: &TestRunner,
    selection: TestSelection<'_>,
    nonce: &str,
) -> (SandboxCommand, Vec<ChangedFile>) {
    let in_folder = |name: &str| runner.folder.join(name);
    let (words, report) = match runner.kind {
        TestRunnerKind::Ctest => (
            ctest(selection, &returns::load(&runner.folder, nonce)),
            Some(ReportFiles::File(in_folder(CTEST_REPORT))),
        ),
        TestRunnerKind::Maven => (
            maven(selection),
            Some(ReportFiles::Folder(in_folder("target/surefire-reports"), ".xml".to_owned())),
        ),
        _ => (Vec::new(), runner.report.as_ref().map(|report| ReportFiles::File(runner.folder.join(report)))),
    };
    let words = if runner.command.is_empty() { words } else { runner.command.clone() };
    let command = SandboxCommand {
        words,
        folder: runner.folder.clone(),
        reports: report.into_iter().chain([returns::report(nonce)]).collect(),
        ..SandboxCommand::default()
    };
    (command, vec![returns::source()])
}

/// Builds, then runs tests whose names are equal to the selected ones, after a command of the shell.
fn ctest(selection: TestSelection<'_>, before: &str) -> Vec<String> {
    let mut script = format!(
        "cmake --build . >&2 && {before} && exec ctest --output-junit {CTEST_REPORT} --no-tests=error"
    );
    if selection.tests.is_some() {
        script.push_str(" -R \"$0\"");
    }
    let names: BTreeSet<&str> =
        selection.tests.into_iter().flatten().filter_map(|id| id.rsplit_once("::")).map(|it| it.1).collect();
    let pattern = ctest_pattern(names);
    ["sh", "-c", &script, &pattern].map(str::to_owned).to_vec()
}

/// Returns the regular expression of CTest for these names.
pub(super) fn ctest_pattern<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    format!("^({})$", names.into_iter().map(escaped).collect::<Vec<_>>().join("|"))
}

fn maven(selection: TestSelection<'_>) -> Vec<String> {
    let mut words: Vec<String> =
        ["mvn", "--offline", "--quiet", "test", "-DfailIfNoTests=false"].map(str::to_owned).to_vec();
    if let Some(tests) = selection.tests {
        let names: Vec<String> = tests.iter().map(|id| id.replace("::", "#")).collect();
        words.push(format!("-Dtest={}", names.join(",")));
    }
    words
}

/// Escapes the signs of CMake's regular expressions.
fn escaped(name: &str) -> String {
    let escape =
        |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_string() } else { format!("[{c}]") };
    name.chars().map(escape).collect()
}

pub(super) fn read(runner: &TestRunner, outcome: &CommandOutcome) -> TestResults {
    let mut results = TestResults::default();
    outcome.reports.iter().for_each(|report| junit::read_report(&report.text, &mut results));
    let has_failed = matches!(outcome.exit, Exit::Code(code) if code != 0);
    if runner.kind == TestRunnerKind::Command && runner.report.is_none() {
        let state = if outcome.is_success() { TestState::Passed } else { TestState::Failed };
        results.add(WHOLE_COMMAND.to_owned(), state, Some(outcome.wall));
    }
    results.has_build_error = results.tests.is_empty() && has_failed;
    results
}

/// Returns a runner of a command, for tests in a folder.
impl TestRunner {
    /// Creates the runner of a command; with a report in JUnit's format, each of its tests counts.
    pub fn of_command(command: Vec<String>, report: Option<PathBuf>) -> TestRunner {
        TestRunner { kind: TestRunnerKind::Command, folder: PathBuf::new(), command, report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit: i32) -> CommandOutcome {
        CommandOutcome {
            exit: Exit::Code(exit),
            output: String::new(),
            reports: Vec::new(),
            wall: std::time::Duration::ZERO,
            peak_memory_bytes: 0,
        }
    }

    #[test]
    fn command_without_report_is_one_test() {
        let runner = TestRunner::of_command(vec!["make".to_owned()], None);
        for (exit, state) in [(0, TestState::Passed), (2, TestState::Failed)] {
            assert_eq!(read(&runner, &outcome(exit)).tests[WHOLE_COMMAND].state, state);
        }
    }

    #[test]
    fn missing_report_of_a_failing_command_is_a_build_error() {
        let runner = TestRunner::of_command(vec!["make".to_owned()], Some("junit.xml".into()));
        assert!(read(&runner, &outcome(2)).has_build_error);
        assert!(!read(&runner, &outcome(0)).has_build_error);
    }

    #[test]
    fn names_of_ctest_are_matched_as_they_are() {
        let tests = ["ctest::a+b (1)".to_owned()];
        let words = ctest(TestSelection { tests: Some(&tests), ..TestSelection::default() }, "true");
        assert_eq!(words.last().map(String::as_str), Some("^(a[+]b[ ][(]1[)])$"));
    }
}
