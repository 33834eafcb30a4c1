//! pytest and unittest, with programs of ours that report results and executed lines, and add the test that must fail.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use cases::TestRunnerKind;
use serde::{Deserialize, Serialize};

use super::{CoveredLines, TestResults, TestRunner, TestSelection, TestState};
use crate::outcome::CommandOutcome;
use crate::spec::{ChangedFile, ReportFiles, SandboxCommand};

/// Folder of our files in the copy of the workspace.
const FOLDER: &str = ".ghostbench-tests";

const PYTEST: &str = include_str!("ghostbench_pytest.py");
const UNITTEST: &str = include_str!("ghostbench_unittest.py");
const LINES: &str = include_str!("ghostbench_lines.py");
const OPTIONS: &str = include_str!("ghostbench_options.py");

/// Files of projects that use pytest.
const PYTEST_FILES: [&str; 3] = ["pytest.ini", "conftest.py", "tests/conftest.py"];

/// Files of Python projects.
const PROJECT_FILES: [&str; 6] =
    ["pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "requirements.txt", "Pipfile"];

/// Entries of a folder that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// Options of the plugin.
#[derive(Serialize)]
struct PluginOptions<'a> {
    report: PathBuf,
    control: &'a str,
    covers_lines: bool,
}

/// Report of the plugin.
#[derive(Deserialize)]
struct PluginReport {
    control: String,
    /// Results by id: state and seconds. Without the control.
    tests: BTreeMap<String, (TestState, f64)>,
    control_failed: bool,
    has_build_error: bool,
    /// Ids in the order of the numbers in `lines`.
    #[serde(default)]
    covering: Vec<String>,
    /// Numbers of tests by absolute path and line.
    #[serde(default)]
    lines: Option<BTreeMap<String, BTreeMap<u32, Vec<u32>>>>,
}

pub(super) fn command(
    runner: &TestRunner,
    workspace: &Path,
    selection: TestSelection<'_>,
    nonce: &str,
) -> (SandboxCommand, Vec<ChangedFile>) {
    let is_pytest = runner.kind == TestRunnerKind::Pytest;
    let mut words = runner.command.clone();
    if words.is_empty() {
        let module = if is_pytest { "pytest" } else { "ghostbench_unittest" };
        words = [&interpreter(workspace), "-m", module].map(str::to_owned).to_vec();
    }
    if is_pytest {
        let options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "ghostbench_pytest"];
        words.extend(options.map(str::to_owned));
    }
    words.extend(selection.tests.into_iter().flatten().cloned());
    let folder = workspace.join(FOLDER);
    let options = PluginOptions {
        report: folder.join("report.json"),
        control: nonce,
        covers_lines: selection.covers_lines,
    };
    let options_file = PathBuf::from(FOLDER).join("options.json");
    let (name, program) = if is_pytest { ("pytest", PYTEST) } else { ("unittest", UNITTEST) };
    let env = [
        ("PYTHONPATH".to_owned(), folder.to_string_lossy().into_owned()),
        ("GHOSTBENCH_TEST_OPTIONS".to_owned(), workspace.join(&options_file).to_string_lossy().into_owned()),
        ("PYTHONHASHSEED".to_owned(), "0".to_owned()),
    ];
    let command = SandboxCommand {
        words,
        folder: runner.folder.clone(),
        env: env.into_iter().collect(),
        reports: vec![ReportFiles::File(PathBuf::from(FOLDER).join("report.json"))],
        ..SandboxCommand::default()
    };
    let text = serde_json::to_string(&options).unwrap_or_default();
    let file = |name: &str, text: &str| ChangedFile {
        path: PathBuf::from(FOLDER).join(name),
        text: text.to_owned(),
    };
    let files = vec![
        file(&format!("ghostbench_{name}.py"), program),
        file("ghostbench_lines.py", LINES),
        file("ghostbench_options.py", OPTIONS),
        file("options.json", &text),
    ];
    (command, files)
}

/// Returns the command that runs one test of pytest without our plugin, so that nothing but the log of pytest says how it ended.
pub(super) fn plain_command(runner: &TestRunner, workspace: &Path, test: &str) -> SandboxCommand {
    let mut words = runner.command.clone();
    if words.is_empty() {
        words = [&interpreter(workspace), "-m", "pytest"].map(str::to_owned).to_vec();
    }
    words.push(test.to_owned());
    SandboxCommand { words, folder: runner.folder.clone(), ..SandboxCommand::default() }
}

/// Returns the runner of a Python project: pytest if its Python has it, otherwise unittest. `None` if the folder is no Python project.
pub(super) fn detect(workspace: &Path) -> Option<TestRunnerKind> {
    let has = |name: &str| workspace.join(name).exists();
    if PYTEST_FILES.iter().any(|name| has(name)) {
        return Some(TestRunnerKind::Pytest);
    }
    PROJECT_FILES.iter().any(|name| has(name)).then(|| installed(workspace))
}

/// Returns the runner of Python's tests in a folder that has no file of a project.
pub(super) fn detect_tests(workspace: &Path) -> Option<TestRunnerKind> {
    let has_tests = ["test", "tests", ""].iter().any(|folder| has_python_tests(&workspace.join(folder)));
    has_tests.then(|| installed(workspace))
}

fn installed(workspace: &Path) -> TestRunnerKind {
    if has_pytest(workspace) { TestRunnerKind::Pytest } else { TestRunnerKind::Unittest }
}

/// Whether a folder has a file that unittest would discover.
fn has_python_tests(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
    entries.into_iter().any(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.starts_with("test") && name.ends_with(".py"))
    })
}

/// Whether the Python that would run the tests has pytest. The project's own Python is not started for that: it is a part of the workspace.
fn has_pytest(workspace: &Path) -> bool {
    if let Some(own) = own_environment(workspace) {
        let libraries = std::fs::read_dir(own.join("lib")).into_iter().flatten().flatten().take(MAX_ENTRIES);
        return libraries.into_iter().any(|library| library.path().join("site-packages/pytest").is_dir());
    }
    let script = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)";
    let mut python = std::process::Command::new("python3");
    python.args(["-I", "-c", script]).current_dir("/");
    python.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without any Python, pytest's message says what is missing.
    python.status().map_or(true, |status| status.success())
}

/// Returns the Python of the project's own environment, or that of the path.
fn interpreter(workspace: &Path) -> String {
    let own = own_environment(workspace).map(|folder| folder.join("bin/python"));
    own.map_or_else(|| "python3".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Returns the project's virtual environment.
fn own_environment(workspace: &Path) -> Option<PathBuf> {
    let folders = [".venv", "venv", "env"].map(|name| workspace.join(name));
    folders.into_iter().find(|folder| folder.join("bin/python").exists())
}

pub(super) fn read(outcome: &CommandOutcome, workspace: &Path, nonce: &str) -> TestResults {
    let report =
        outcome.reports.first().and_then(|report| serde_json::from_str::<PluginReport>(&report.text).ok());
    let Some(report) = report.filter(|report| report.control == nonce) else {
        // The runner did not come to its end: 2 to 4 are pytest's errors before the first test.
        let has_build_error = matches!(outcome.exit, crate::Exit::Code(1..=4));
        return TestResults { has_build_error, has_failing_control: Some(false), ..TestResults::default() };
    };
    let mut results = TestResults {
        has_build_error: report.has_build_error,
        has_failing_control: Some(report.control_failed),
        ..TestResults::default()
    };
    for (id, (state, seconds)) in report.tests {
        results.add(id, state, Duration::try_from_secs_f64(seconds).ok());
    }
    results.covered = report.lines.map(|lines| covered(lines, &report.covering, &results, workspace));
    results
}

/// Returns the lines with paths in the workspace, and tests as their place in the results.
fn covered(
    lines: BTreeMap<String, BTreeMap<u32, Vec<u32>>>,
    covering: &[String],
    results: &TestResults,
    workspace: &Path,
) -> CoveredLines {
    let places: HashMap<&str, u32> =
        results.tests.keys().zip(0..).map(|(id, place)| (&**id, place)).collect();
    let place = |number: &u32| covering.get(*number as usize).and_then(|id| places.get(&**id)).copied();
    let in_workspace = |path: &str| Path::new(path).strip_prefix(workspace).ok()?.to_str().map(str::to_owned);
    lines
        .into_iter()
        .filter_map(|(path, lines)| {
            let lines =
                lines.into_iter().map(|(line, tests)| (line, tests.iter().filter_map(place).collect()));
            Some((in_workspace(&path)?, lines.collect()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Exit, Report};

    fn outcome(exit: i32, report: Option<&str>) -> CommandOutcome {
        CommandOutcome {
            exit: Exit::Code(exit),
            output: String::new(),
            reports: report
                .map(|text| Report { path: "r".into(), text: text.to_owned() })
                .into_iter()
                .collect(),
            wall: Duration::ZERO,
            peak_memory_bytes: 0,
        }
    }

    #[test]
    fn results_and_lines_of_a_report_are_read() {
        let text = r#"{"control":"n","control_failed":true,"has_build_error":false,"tests":{"t.py::a":["passed",0.5],"t.py::b":["skipped",0]},
            "covering":["t.py::b","t.py::a"],"lines":{"/w/src/x.py":{"3":[1],"4":[0,1,9]},"/usr/y.py":{"1":[0]}}}"#;
        let results = read(&outcome(1, Some(text)), Path::new("/w"), "n");
        assert_eq!(results.has_failing_control, Some(true));
        assert_eq!(results.tests["t.py::a"].time, Some(Duration::from_millis(500)));
        let lines = BTreeMap::from([(3, vec![0]), (4, vec![1, 0])]);
        assert_eq!(results.covered, Some(BTreeMap::from([("src/x.py".to_owned(), lines)])));
    }

    #[test]
    fn report_with_another_control_is_not_believed() {
        let text =
            r#"{"control":"guess","control_failed":true,"has_build_error":false,"tests":{"a":["passed",0]}}"#;
        for report in [Some(text), Some("{"), None] {
            let results = read(&outcome(0, report), Path::new("/w"), "n");
            assert!(results.tests.is_empty() && results.has_failing_control == Some(false));
        }
    }
}
