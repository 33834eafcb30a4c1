//! Runners of JavaScript and TypeScript: Vitest and Jest by their JSON report, Node.js by JUnit's.
//!
//! Ids are the file and the full name: `test/a.test.ts::adds two numbers`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use cases::TestRunnerKind;

use super::{TestResults, TestRunner, TestSelection, TestState, junit};
use crate::outcome::{CommandOutcome, Exit};
use crate::spec::{ChangedFile, ReportFiles, SandboxCommand};

/// Bytes of a `package.json`.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// Returns the runner that a workspace's `package.json` names.
pub(super) fn detect(workspace: &Path) -> Option<TestRunnerKind> {
    let path = workspace.join("package.json");
    if fs::metadata(&path).ok()?.len() > MAX_MANIFEST_BYTES {
        return None;
    }
    let manifest: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    let has = |name: &str| {
        ["dependencies", "devDependencies"].iter().any(|table| manifest[table].get(name).is_some())
    };
    let script = test_script(&manifest["scripts"]);
    let names = |name: &str| script.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    if names("vitest") || !names("jest") && has("vitest") {
        return Some(TestRunnerKind::Vitest);
    }
    if names("jest") || has("jest") {
        return Some(TestRunnerKind::Jest);
    }
    script.contains("--test").then_some(TestRunnerKind::Node)
}

/// Returns the script of the tests, with those that it runs by name: `npm run test:unit`.
fn test_script(scripts: &Value) -> String {
    let test = scripts["test"].as_str().unwrap_or_default();
    let named = scripts.as_object().into_iter().flatten().filter(|(name, _)| {
        let words: Vec<&str> = test.split_whitespace().collect();
        words.windows(2).any(|pair| pair[0] == "run" && pair[1] == name.as_str())
    });
    named.filter_map(|(_, script)| script.as_str()).fold(test.to_owned(), |all, script| all + "; " + script)
}

pub(super) fn command(
    runner: &TestRunner,
    workspace: &Path,
    selection: TestSelection<'_>,
    nonce: &str,
) -> (SandboxCommand, Vec<ChangedFile>) {
    let report = runner.folder.join(format!("{nonce}.report"));
    let file = format!("{nonce}.report");
    let usual = match runner.kind {
        TestRunnerKind::Vitest => vec![
            program("vitest"),
            "run".to_owned(),
            "--reporter=json".to_owned(),
            format!("--outputFile={file}"),
        ],
        TestRunnerKind::Jest => {
            vec![
                program("jest"),
                "--ci".to_owned(),
                "--json".to_owned(),
                format!("--outputFile={file}"),
                "--runInBand".to_owned(),
            ]
        }
        _ => ["node", "--test", "--test-reporter=junit", &format!("--test-reporter-destination={file}")]
            .map(str::to_owned)
            .to_vec(),
    };
    let mut words = if runner.command.is_empty() { usual } else { runner.command.clone() };
    let selected: Vec<(&str, &str)> =
        selection.tests.into_iter().flatten().filter_map(|id| id.split_once("::")).collect();
    if selection.tests.is_some() {
        let names: BTreeSet<String> = selected.iter().map(|it| escaped(it.1)).collect();
        let pattern = format!("^({})$", names.into_iter().collect::<Vec<_>>().join("|"));
        match runner.kind {
            TestRunnerKind::Node => {}
            _ => words.extend(["-t".to_owned(), pattern]),
        }
        // Node.js before version 22 reports the word `test` in place of the file; then all files run.
        let is_file = |file: &&str| workspace.join(&runner.folder).join(file).is_file();
        let files: BTreeSet<&str> = selected.iter().map(|it| it.0).filter(is_file).collect();
        words.extend(files.into_iter().map(str::to_owned));
    }
    let command = SandboxCommand {
        words,
        folder: runner.folder.clone(),
        reports: vec![ReportFiles::File(report)],
        ..SandboxCommand::default()
    };
    (command, Vec::new())
}

/// Path of a program of the project's own packages.
fn program(name: &str) -> String {
    format!("./node_modules/.bin/{name}")
}

/// Escapes the signs of JavaScript's regular expressions.
pub(super) fn escaped(name: &str) -> String {
    let escape =
        |c: char| if c.is_alphanumeric() || " _".contains(c) { c.to_string() } else { format!("\\{c}") };
    name.chars().map(escape).collect()
}

/// The report of Jest, which Vitest writes, too.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestReport {
    test_results: Vec<JestFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestFile {
    name: PathBuf,
    #[serde(default)]
    status: String,
    assertion_results: Vec<JestTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestTest {
    full_name: String,
    status: String,
    /// Milliseconds.
    #[serde(default)]
    duration: Option<f64>,
}

/// Reads the report of a run in `root`, an absolute path.
pub(super) fn read(outcome: &CommandOutcome, root: &Path, nonce: &str) -> TestResults {
    let mut results = TestResults::default();
    let report = outcome.reports.iter().find(|report| report.path.to_string_lossy().contains(nonce));
    let Some(report) = report else {
        results.has_build_error = matches!(outcome.exit, Exit::Code(code) if code != 0);
        return results;
    };
    let Ok(json) = serde_json::from_str::<JestReport>(&report.text) else {
        junit::read_report(&report.text, &mut results);
        return results;
    };
    for file in &json.test_results {
        let path = file.name.strip_prefix(root).unwrap_or(&file.name).to_string_lossy().replace('\\', "/");
        results.has_build_error |= file.assertion_results.is_empty() && file.status == "failed";
        for test in &file.assertion_results {
            let state = match &*test.status {
                "passed" => TestState::Passed,
                "failed" => TestState::Failed,
                _ => TestState::Skipped,
            };
            let time = test.duration.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
            // Tests that the pattern leaves out are reported as skipped.
            results.add(format!("{path}::{}", test.full_name.trim()), state, time);
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Report;

    fn outcome(report: &str) -> CommandOutcome {
        CommandOutcome {
            exit: Exit::Code(0),
            output: String::new(),
            reports: vec![Report { path: "n.report".into(), text: report.to_owned() }],
            wall: Duration::ZERO,
            peak_memory_bytes: 0,
        }
    }

    #[test]
    fn runner_is_that_of_the_script_or_of_the_packages() {
        let folder = tempfile::tempdir().expect("a folder");
        for (manifest, runner) in [
            (
                r#"{"scripts":{"test":"vitest run"},"devDependencies":{"jest":"1"}}"#,
                Some(TestRunnerKind::Vitest),
            ),
            (
                r#"{"scripts":{"test":"jest --ci"},"devDependencies":{"vitest":"1"}}"#,
                Some(TestRunnerKind::Jest),
            ),
            (r#"{"devDependencies":{"jest":"1"}}"#, Some(TestRunnerKind::Jest)),
            (r#"{"scripts":{"test":"node --test"}}"#, Some(TestRunnerKind::Node)),
            (
                r#"{"scripts":{"test":"npm run unit && npm run types","unit":"c8 node --test","types":"vitest"}}"#,
                Some(TestRunnerKind::Vitest),
            ),
            (r#"{"scripts":{"test":"npm run unit","unit":"c8 node --test"}}"#, Some(TestRunnerKind::Node)),
            (r#"{"scripts":{"test":"tap","unit":"node --test"}}"#, None),
            (r#"{"scripts":{"test":"tap"}}"#, None),
            ("[", None),
        ] {
            fs::write(folder.path().join("package.json"), manifest).expect("a file");
            assert_eq!(detect(folder.path()), runner, "{manifest}");
        }
    }

    #[test]
    fn tests_of_jest_are_named_by_file_and_full_name() {
        let report = r#"{"testResults":[{"name":"/w/test/a.test.ts","status":"failed","assertionResults":[
            {"fullName":"sum adds","status":"passed","duration":3},{"fullName":"sum fails","status":"failed"},{"fullName":"later","status":"todo"}]},
            {"name":"/w/test/b.test.ts","status":"failed","assertionResults":[]}]}"#;
        let results = read(&outcome(report), Path::new("/w"), "n");
        let states: Vec<(&str, TestState)> =
            results.tests.iter().map(|(id, test)| (&**id, test.state)).collect();
        let expected = [
            ("test/a.test.ts::later", TestState::Skipped),
            ("test/a.test.ts::sum adds", TestState::Passed),
            ("test/a.test.ts::sum fails", TestState::Failed),
        ];
        assert_eq!(states, expected);
        assert!(results.has_build_error);
    }

    #[test]
    fn patterns_match_names_as_they_are() {
        assert_eq!(escaped("a (b) $ c_1"), "a \\(b\\) \\$ c_1");
    }
}
