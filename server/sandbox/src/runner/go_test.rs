//! `go test -json`. Ids are package and name: `example.com/m/pkg.TestAdd`; tests inside tests belong to the outer one.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use super::{TestResults, TestRunner, TestSelection, TestState};
use crate::outcome::{CommandOutcome, Exit};
use crate::spec::SandboxCommand;

/// An event, see `go doc test2json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    elapsed: Option<f64>,
}

pub(super) fn command(runner: &TestRunner, selection: TestSelection<'_>) -> SandboxCommand {
    let mut words = runner.command.clone();
    if words.is_empty() {
        words = ["go", "test", "-json", "-count=1", "-vet=off"].map(str::to_owned).to_vec();
    }
    match selection.tests {
        None => words.push("./...".to_owned()),
        Some(tests) => {
            let split: Vec<(&str, &str)> = tests.iter().filter_map(|id| id.rsplit_once('.')).collect();
            let names: BTreeSet<&str> = split.iter().map(|it| it.1).collect();
            let names: Vec<&str> = names.into_iter().collect();
            words.extend(["-run".to_owned(), format!("^({})$", names.join("|"))]);
            let packages: BTreeSet<&str> = split.iter().map(|it| it.0).collect();
            words.extend(packages.into_iter().map(str::to_owned));
        }
    }
    SandboxCommand { words, folder: runner.folder.clone(), ..SandboxCommand::default() }
}

pub(super) fn read(outcome: &CommandOutcome) -> TestResults {
    let mut results = TestResults::default();
    let mut has_started = false;
    for line in outcome.output.lines() {
        let Ok(event) = serde_json::from_str::<Event>(line) else { continue };
        let Some(test) = event.test.filter(|test| !test.contains('/')) else { continue };
        has_started = true;
        let state = match &*event.action {
            "pass" => TestState::Passed,
            "fail" => TestState::Failed,
            "skip" => TestState::Skipped,
            _ => continue,
        };
        let time = event.elapsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        results.add(format!("{}.{test}", event.package), state, time);
    }
    results.has_build_error = !has_started && matches!(outcome.exit, Exit::Code(code) if code != 0);
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_tests_are_read_and_printed_ones_are_not() {
        let output = r#"{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"{\"Action\":\"pass\",\"Package\":\"m/p\",\"Test\":\"TestB\"}\n"}
{"Action":"pass","Package":"m/p","Test":"TestA/inner","Elapsed":0}
{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":0.25}
{"Action":"fail","Package":"m/p","Elapsed":0.3}
"#;
        let outcome = CommandOutcome {
            exit: Exit::Code(1),
            output: output.to_owned(),
            reports: Vec::new(),
            wall: Duration::ZERO,
            peak_memory_bytes: 0,
        };
        let results = read(&outcome);
        assert_eq!(results.tests.keys().collect::<Vec<_>>(), ["m/p.TestA"]);
        let test = results.tests["m/p.TestA"];
        assert_eq!((test.state, test.time), (TestState::Failed, Some(Duration::from_millis(250))));
        assert!(!results.has_build_error);
    }
}
