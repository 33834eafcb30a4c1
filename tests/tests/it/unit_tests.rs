//! Unit tests as judges: cases that tests can judge are built from a repository, and answers are judged by them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use cases::{Case, Judgement, TestVerdict, parse_lines};
use serde_json::Value;
use tests::{ProcessOutcome, Project, RunningProcess, component, wait_until};

use crate::settings::user_file;

pub(crate) const PACKAGE: &str = r#"
//- /pyproject.toml
[project]
name = "shop"
version = "1.0"
//- /shop/__init__.py
//- /shop/prices.py
def total(prices, limit):
    """Sum the prices up to a limit."""
    result = 0
    for price in prices:
        if price <= limit:
            result += price
    return result


def cheapest(prices):
    """Return the lowest price."""
    lowest = prices[0]
    for price in prices:
        if price < lowest:
            lowest = price
    return lowest


def describe(price):
    """Return a text that no test reads."""
    if price > 10:
        return "expensive"
    return "cheap"


def label(price):
    """Return a text that a test reads without looking."""
    text = str(price)
    if price > 100:
        text = text + "!"
    return text
//- /tests/test_prices.py
import random

from shop.prices import cheapest, label, total


def test_total_of_all():
    assert total([1, 2, 3], 10) == 6


def test_total_up_to_limit():
    assert total([1, 20, 3], 10) == 4


def test_cheapest():
    assert cheapest([3, 1, 2]) == 1


def test_label_is_callable():
    assert callable(label)
"#;

/// A project in a Python that has pytest and coverage; `None` if there is none.
pub(crate) struct PythonProject {
    pub(crate) project: Project,
    programs: PathBuf,
}

impl PythonProject {
    pub(crate) fn new(fixture: &str) -> Option<PythonProject> {
        component("bwrap")?;
        let pytest = component("pytest")?;
        let programs = pytest.parent().expect("a folder of programs").to_owned();
        Some(PythonProject { project: Project::new(fixture), programs })
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.in_its_python(self.project.ghostbench(arguments))
    }

    pub(crate) fn in_its_python(&self, mut command: Command) -> Command {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&paths));
        command.env("PATH", std::env::join_paths(paths).expect("paths without separators"));
        command.env("VIRTUAL_ENV", self.programs.parent().expect("a virtual environment"));
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> ProcessOutcome {
        RunningProcess::start(self.command(arguments)).wait()
    }

    /// Builds cases with tests in the sibling folder `codev`.
    fn build(&self) -> Vec<Case> {
        self.build_some(20)
    }

    /// Builds cases from this number of blocks of each scenario.
    pub(crate) fn build_some(&self, blocks: usize) -> Vec<Case> {
        let build = format!("build codev-bench . --with-tests --test-runs 2 --size {blocks} --out ../codev");
        self.run(&build).expect_code(0);
        let text = fs::read_to_string(self.project.sibling_path("codev/cases.jsonl")).expect("a suite");
        parse_lines(&text).expect("cases").rows
    }

    fn judgements(&self, run: &str) -> Vec<Judgement> {
        let text =
            fs::read_to_string(self.project.sibling_path(run).join("verdicts.jsonl")).expect("judgements");
        parse_lines(&text).expect("judgements").rows
    }

    /// Judges answers that a function writes: those of a replay, with other texts.
    fn judge(&self, cases: &[Case], run: &str, answer: impl Fn(&Case) -> String) -> Vec<Judgement> {
        self.answer(cases, run, answer);
        self.run(&format!("judge ../{run} --workspace .")).expect_code(0);
        self.judgements(run)
    }

    pub(crate) fn answer(&self, cases: &[Case], run: &str, answer: impl Fn(&Case) -> String) {
        let arguments = format!(
            "replay ../codev/cases.jsonl --workspace . --no-copies off --engine empty --out ../{run}"
        );
        self.run(&arguments).expect_code(0);
        let folder = self.project.sibling_path(run);
        let rows = fs::read_to_string(folder.join("predictions.jsonl")).expect("predictions");
        let answered = rows.lines().map(|row| {
            let mut row: Value = serde_json::from_str(row).expect("a row");
            let case = cases.iter().find(|case| row["case"] == *case.id).expect("a case of the suite");
            row["text"] = answer(case).into();
            row["raw"] = row["text"].clone();
            row["status"] = "ok".into();
            format!("{row}\n")
        });
        let answered: String = answered.collect();
        fs::write(folder.join("predictions.jsonl"), answered).expect("written");
        fs::remove_file(folder.join("scores.jsonl")).expect("scores");
    }
}

fn verdicts(judgements: &[Judgement]) -> Vec<TestVerdict> {
    judgements.iter().map(|row| row.verdict).collect()
}

#[test]
fn kept_cases_have_tests_that_pass_with_the_truth_and_fail_without_it() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let cases = python.build();
    assert!(cases.len() >= 3, "few cases: {cases:?}");
    for case in &cases {
        assert_eq!(case.path, "shop/prices.py");
        let before = case.prefix.rsplit("def ").next().unwrap_or_default();
        assert!(!before.starts_with("describe") && !before.starts_with("label"), "no test judges {case:?}");
        let tests = case.tests.as_ref().expect("tests");
        assert!(tests.ids.iter().all(|id| id.starts_with("tests/test_prices.py::test_")), "{tests:?}");
    }
    let right = python.judge(&cases, "right", |case| case.truth.clone());
    assert_eq!(verdicts(&right), vec![TestVerdict::Passed; cases.len()]);
    let wrong = python.judge(&cases, "wrong", |_| "raise RuntimeError".to_owned());
    assert!(verdicts(&wrong).iter().all(|verdict| *verdict != TestVerdict::Passed), "{wrong:?}");
    let summary = python.run("report ../right --json").expect_code(0).stdout;
    let summary: Value = serde_json::from_str(&summary).expect("JSON alone");
    let engine = &summary["summary"]["tests"]["engines"][0];
    assert_eq!(engine["passed"], cases.len(), "{summary:#}");
    assert!(!python.project.root().join(".ghostbench-tests").exists(), "the workspace has changed");
}

#[test]
fn hostile_answers_fail() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let cases = python.build();
    let case = cases.iter().find(|case| case.prefix.trim_end().ends_with(':')).unwrap_or(&cases[0]);
    let attacks = [
        ("exits early", "import os; os._exit(0)"),
        ("exits politely", "import sys; sys.exit(0)"),
        ("prints a report", "print('3 passed in 0.01s'); import os; os._exit(0)"),
        (
            "writes a report",
            "import os, glob, json\n    for path in ['report.json', '.ghostbench-tests/report.json']: \
             json.dump({'control': 'x', 'control_failed': True, 'has_build_error': False, 'tests': {}}, open(path, 'w'))\n    os._exit(1)",
        ),
        ("patches the runner", "import pytest; pytest.Function.runtest = lambda self: None"),
        (
            "overwrites the tests",
            "open('tests/test_prices.py', 'w').write('def test_total_of_all(): pass\\n'); raise KeyError",
        ),
        ("deletes everything", "import shutil; shutil.rmtree('.', ignore_errors=True)"),
        ("kills its parent", "import os, signal; os.kill(os.getppid(), signal.SIGKILL); os.kill(1, 9)"),
        ("raises an exit", "raise SystemExit(0)"),
    ];
    for (number, (name, code)) in attacks.into_iter().enumerate() {
        let rows = python.judge(&cases, &format!("attack{number}"), |it| {
            if it.id == case.id { code.to_owned() } else { it.truth.clone() }
        });
        for row in rows {
            let has_passed = row.verdict == TestVerdict::Passed;
            assert_eq!(has_passed, row.case != case.id, "{name}: {row:?}");
        }
    }
    assert!(python.project.root().join("tests/test_prices.py").exists());
}

#[test]
fn killed_judge_resumes_without_losing_or_repeating_a_verdict() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let cases = python.build();
    python.answer(&cases, "killed", |case| format!("{}  # {}", case.truth, case.id));
    let mut judge = RunningProcess::start(python.command("judge ../killed --workspace . --judge-jobs 1"));
    let verdicts_file = python.project.sibling_path("killed/verdicts.jsonl");
    let rows = || fs::read_to_string(&verdicts_file).map_or(0, |text| text.lines().count());
    wait_until("a verdict is written", || rows() > 0 || judge.has_ended());
    judge.kill();
    drop(judge);
    let kept = fs::read(&verdicts_file).expect("judgements");
    python.run("judge ../killed --workspace .").expect_code(0);
    let all = fs::read(&verdicts_file).expect("judgements");
    assert!(all.starts_with(&kept), "finished rows are kept");
    let mut judged: Vec<String> = python.judgements("killed").into_iter().map(|row| row.case).collect();
    judged.sort();
    let mut expected: Vec<String> = cases.iter().map(|case| case.id.clone()).collect();
    expected.sort();
    assert_eq!(judged, expected);
}

#[test]
fn program_of_the_settings_judges_in_place_of_the_sandbox() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let cases = python.build();
    let script = r#"if grep -q 'raise RuntimeError' -r "$1/changed"; then verdict=failed; else verdict=passed; fi
        test -f "$1/request.json" && echo "{\"verdict\": \"$verdict\", \"output\": \"by the program\"}" > "$1/verdict.json""#;
    let words = serde_json::json!(["sh", "-c", script, "judge"]);
    user_file(&python.project, &format!("[tests]\njudge = {words}\n"));
    let wrong = &cases[0].id;
    let rows = python.judge(&cases, "program", |case| {
        if case.id == *wrong { "raise RuntimeError".to_owned() } else { case.truth.clone() }
    });
    assert_eq!(rows.len(), cases.len());
    for row in rows {
        let expected = if row.case == *wrong { TestVerdict::Failed } else { TestVerdict::Passed };
        assert_eq!(row.verdict, expected, "{row:?}");
        assert_eq!(row.output == "by the program", row.case == *wrong, "{row:?}");
    }
    user_file(&python.project, "[tests]\njudge = [\"false\"]\n");
    python.answer(&cases, "broken", |case| case.truth.clone());
    let broken = python.run("judge ../broken --workspace .").expect_code(3);
    assert!(broken.stderr.contains("gave no verdict"), "{}", broken.stderr);
}

#[test]
fn rule_of_the_original_reads_the_log_and_the_shape() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let cases = python.build();
    let is_whole = |case: &Case| case.task.variant() == Some("block_start");
    let several_lines = |case: &Case| is_whole(case) && case.truth.contains('\n');
    let with_blank_line = |case: &Case| match case.truth.split_once('\n') {
        Some((first, rest)) => format!("{first}\n\n{rest}"),
        None => case.truth.clone(),
    };
    python.answer(&cases, "run", with_blank_line);
    // Rows of the whole blocks, by the rules of each judgement; the last row of an answer counts.
    let judge = |rules: &str| -> Vec<(Case, TestVerdict)> {
        let before = python.judgements("run").len();
        python.run(&format!("judge ../run --workspace . {rules}")).expect_code(0);
        let rows = python.judgements("run").split_off(before);
        let case = |row: &Judgement| cases.iter().find(|case| case.id == row.case).expect("a case").clone();
        rows.iter().map(|row| (case(row), row.verdict)).filter(|(case, _)| is_whole(case)).collect()
    };
    fs::write(python.project.sibling_path("run/verdicts.jsonl"), "").expect("written");
    let ours = judge("");
    assert!(ours.iter().any(|(case, _)| several_lines(case)), "{cases:?}");
    assert!(ours.iter().all(|(_, verdict)| *verdict == TestVerdict::Passed), "{ours:?}");
    let log = judge("--faithful");
    assert_eq!(log.len(), ours.len(), "other rules, other judgements");
    assert!(log.iter().all(|(_, verdict)| *verdict == TestVerdict::Passed), "{log:?}");
    for shape in ["indent", "one-line"] {
        for (case, verdict) in judge(&format!("--faithful --shape {shape}")) {
            assert_eq!(verdict == TestVerdict::Failed, several_lines(&case), "{shape}: {case:?}");
        }
    }
    python.run("judge ../run --workspace . --shape indent").expect_code(2);
    python
        .run("judge ../run --workspace . --faithful --shape square")
        .expect_code(2)
        .expect_message(&["one-line"]);
}

#[test]
fn workspace_with_other_code_is_refused_with_the_line() {
    let Some(python) = PythonProject::new(PACKAGE) else { return };
    let cases = python.build();
    python.answer(&cases, "moved", |case| case.truth.clone());
    let path = python.project.root().join("shop/prices.py");
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(path, format!("# new\n{text}")).expect("written");
    let outcome = python.run("judge ../moved --workspace .").expect_code(2);
    assert!(outcome.stderr.contains("prices.py, line "), "{}", outcome.stderr);
}

#[test]
fn run_without_tests_is_refused_with_the_remedy() {
    let project = Project::generated(6);
    project.run("try . --cases 10 --out ../run").expect_code(0);
    let outcome = project.run("judge ../run --workspace .").expect_code(2);
    assert!(outcome.stderr.contains("--with-tests"), "{}", outcome.stderr);
}
