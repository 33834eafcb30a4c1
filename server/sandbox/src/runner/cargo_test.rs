//! `cargo test`, by the lines that the standard test harness prints.
//!
//! Its structured format needs an unstable option, which would recompile every dependency. Ids are the file of the test's binary
//! and the test's path: `src/lib.rs::tests::adds`.

use std::collections::BTreeSet;

use super::{TestResults, TestRunner, TestSelection, TestState};
use crate::outcome::{CommandOutcome, Exit};
use crate::spec::SandboxCommand;

/// Between the file and the path in an id.
const SEPARATOR: &str = "::";

pub(super) fn command(runner: &TestRunner, selection: TestSelection<'_>) -> SandboxCommand {
    let mut words = runner.command.clone();
    if words.is_empty() {
        words = ["cargo", "test", "--offline", "--no-fail-fast"].map(str::to_owned).to_vec();
    }
    match selection.tests {
        None => words.extend(["--lib", "--bins", "--tests", "--", "--test-threads=1"].map(str::to_owned)),
        Some(tests) => {
            let targets: BTreeSet<Vec<String>> = tests.iter().filter_map(|id| target(id)).collect();
            words.extend(targets.into_iter().flatten());
            words.extend(["--", "--test-threads=1", "--exact"].map(str::to_owned));
            let names: BTreeSet<&str> =
                tests.iter().filter_map(|id| id.split_once(SEPARATOR)).map(|it| it.1).collect();
            words.extend(names.into_iter().map(str::to_owned));
        }
    }
    SandboxCommand { words, folder: runner.folder.clone(), ..SandboxCommand::default() }
}

/// Returns the options that build and run a test's binary only.
fn target(id: &str) -> Option<Vec<String>> {
    let (file, _) = id.split_once(SEPARATOR)?;
    if file.ends_with("src/main.rs") || file.contains("src/bin/") {
        return Some(vec!["--bins".to_owned()]);
    }
    if let Some((_, name)) = file.split_once("tests/") {
        let name = name.strip_suffix("/main.rs").or_else(|| name.strip_suffix(".rs"))?;
        return Some(vec!["--test".to_owned(), name.to_owned()]);
    }
    Some(vec!["--lib".to_owned()])
}

pub(super) fn read(outcome: &CommandOutcome) -> TestResults {
    let mut results = TestResults::default();
    let mut file = None;
    let mut has_started = false;
    for line in outcome.output.lines() {
        if let Some(running) = line.trim_start().strip_prefix("Running ") {
            file = running.strip_prefix("unittests ").unwrap_or(running).split(' ').next().map(str::to_owned);
            has_started = true;
            continue;
        }
        let Some((name, state)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        else {
            continue;
        };
        let state = match state {
            "ok" => TestState::Passed,
            "FAILED" => TestState::Failed,
            _ if state.starts_with("ignored") => TestState::Skipped,
            _ => continue,
        };
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        if let Some(file) = &file {
            results.add(format!("{file}{SEPARATOR}{name}"), state, None);
        }
    }
    results.has_build_error = !has_started && matches!(outcome.exit, Exit::Code(code) if code != 0);
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit: i32, output: &str) -> CommandOutcome {
        CommandOutcome {
            exit: Exit::Code(exit),
            output: output.to_owned(),
            reports: Vec::new(),
            wall: std::time::Duration::ZERO,
            peak_memory_bytes: 0,
        }
    }

    #[test]
    fn results_of_several_binaries_are_told_apart() {
        let output = "   Compiling x v0.1.0 (/x)\n    Finished `test` profile\n     Running unittests src/lib.rs (target/debug/deps/x-1)\n\n\
                      running 3 tests\ntest tests::a ... ok\ntest tests::b - should panic ... ok\ntest tests::c ... ignored, slow\n\n\
                      test result: ok.\n\n     Running tests/it.rs (target/debug/deps/it-1)\n\nrunning 1 test\ntest a ... FAILED\n";
        let results = read(&outcome(101, output));
        let states: Vec<(&str, TestState)> =
            results.tests.iter().map(|(id, test)| (&**id, test.state)).collect();
        assert_eq!(
            states,
            [
                ("src/lib.rs::tests::a", TestState::Passed),
                ("src/lib.rs::tests::b", TestState::Passed),
                ("src/lib.rs::tests::c", TestState::Skipped),
                ("tests/it.rs::a", TestState::Failed),
            ]
        );
        assert!(!results.has_build_error);
    }

    #[test]
    fn compiler_error_is_a_build_error() {
        let results =
            read(&outcome(101, "error[E0308]: mismatched types\nerror: could not compile `x` (lib)\n"));
        assert!(results.has_build_error && results.tests.is_empty());
    }

    #[test]
    fn only_the_binaries_of_the_selected_tests_are_built() {
        let runner = TestRunner {
            kind: cases::TestRunnerKind::Cargo,
            folder: "".into(),
            command: Vec::new(),
            report: None,
        };
        let tests = ["src/lib.rs::tests::a", "tests/it.rs::b", "tests/deep/main.rs::c"].map(str::to_owned);
        let words = command(&runner, TestSelection { tests: Some(&tests), ..TestSelection::default() }).words;
        let expected = "cargo test --offline --no-fail-fast --lib --test deep --test it -- --test-threads=1 --exact b c tests::a";
        assert_eq!(words.join(" "), expected);
    }
}
