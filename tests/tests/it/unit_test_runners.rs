//! Runners of unit tests beside pytest: each finds tests with power in a small project, believes its truths, and refuses other code.

mod c;
mod java;
mod javascript;

use std::fs;
use std::path::PathBuf;

use cases::{Case, Judgement, TestRunnerKind, TestVerdict, parse_lines};
use serde_json::Value;
use tests::{Project, component};

/// A project whose tests run in the sandbox; `None` if a program that they need is not installed.
struct TestedProject(Project);

impl TestedProject {
    fn new(fixture: &str, programs: &[&str]) -> Option<TestedProject> {
        component("bwrap")?;
        programs
            .iter()
            .all(|program| component(program).is_some())
            .then(|| TestedProject(Project::new(fixture)))
    }

    /// Builds a benchmark with tests in the sibling folder `built`, and returns its cases and datasheet.
    #[track_caller]
    fn build(&self, arguments: &str) -> (Vec<Case>, Value) {
        let built =
            self.0.run(&format!("build {arguments} --with-tests --test-runs 2 --out ../built --json"));
        let datasheet = serde_json::from_str(&built.expect_code(0).stdout).expect("JSON alone");
        let text = fs::read_to_string(self.0.sibling_path("built/cases.jsonl")).expect("a suite");
        (parse_lines(&text).expect("cases").rows, datasheet)
    }

    /// Judges answers that a function writes: those of a replay, with other texts.
    #[track_caller]
    fn judge(&self, run: &str, arguments: &str, answer: impl Fn(&Case) -> String) -> Vec<Judgement> {
        let folder = self.run_with(run, answer);
        self.0.run(&format!("judge ../{run} --workspace . {arguments}")).expect_code(0);
        let text = fs::read_to_string(folder.join("verdicts.jsonl")).expect("judgements");
        parse_lines(&text).expect("judgements").rows
    }

    /// Writes a run with these answers, unless it exists, and returns its folder.
    #[track_caller]
    fn run_with(&self, run: &str, answer: impl Fn(&Case) -> String) -> PathBuf {
        let folder = self.0.sibling_path(run);
        if folder.exists() {
            return folder;
        }
        let replay = format!(
            "replay ../built/cases.jsonl --workspace . --no-copies off --engine empty --out ../{run}"
        );
        self.0.run(&replay).expect_code(0);
        let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a file of the run");
        let cases: Vec<Case> = parse_lines(&read("cases.jsonl")).expect("cases").rows;
        let predictions = read("predictions.jsonl");
        let answered = predictions.lines().map(|row| {
            let mut row: Value = serde_json::from_str(row).expect("a row");
            let case = cases.iter().find(|case| row["case"] == *case.id).expect("a case of the suite");
            row["text"] = answer(case).into();
            row["raw"] = row["text"].clone();
            row["status"] = "ok".into();
            if case.write_function().is_some() {
                row["form"] = "chat".into();
            }
            format!("{row}\n")
        });
        let answered: String = answered.collect();
        fs::write(folder.join("predictions.jsonl"), answered).expect("written");
        fs::remove_file(folder.join("scores.jsonl")).expect("scores");
        folder
    }

    /// Every kept case passes with its truth and not with other code; the workspace stays as it is.
    #[track_caller]
    fn check(&self, cases: &[Case], runner: TestRunnerKind, other: &str) {
        assert!(!cases.is_empty(), "no case has tests");
        let before = names(&self.0.root());
        for case in cases {
            assert_eq!(case.tests.as_ref().expect("tests").runner, runner);
        }
        let right = self.judge("right", "", |case| case.truth.clone());
        assert_eq!(verdicts(&right), vec![TestVerdict::Passed; cases.len()], "{right:#?}");
        let wrong = self.judge("wrong", "", |_| other.to_owned());
        assert!(verdicts(&wrong).iter().all(|verdict| *verdict != TestVerdict::Passed), "{wrong:#?}");
        assert_eq!(names(&self.0.root()), before, "the workspace has changed");
    }
}

fn verdicts(judgements: &[Judgement]) -> Vec<TestVerdict> {
    judgements.iter().map(|row| row.verdict).collect()
}

/// Names in a folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const PYTHON: &str = r#"
//- /requirements.txt
//- /prices.py
def total(prices, limit):
    """Sum the prices up to a limit."""
    result = 0
    for price in prices:
        if price <= limit:
            result += price
    return result


def untested(price):
    if price > 3:
        return "dear"
    return "cheap"
//- /tests/test_prices.py
import unittest

import prices


class TotalTests(unittest.TestCase):
    def test_all(self):
        self.assertEqual(prices.total([1, 2], 10), 3)

    def test_limit(self):
        for limit, total in [(0, 0), (2, 3)]:
            with self.subTest(limit=limit):
                self.assertEqual(prices.total([1, 2, 30], limit), total)

    @unittest.skip("later")
    def test_later(self):
        self.fail()
"#;

/// A project with a Python of its own, which has no pytest.
fn python_project() -> Option<TestedProject> {
    let python = component("python3")?;
    let project = TestedProject::new(PYTHON, &[])?;
    let programs = project.0.root().join(".venv/bin");
    fs::create_dir_all(&programs).expect("the project is ours");
    fs::create_dir_all(project.0.root().join(".venv/lib")).expect("the project is ours");
    std::os::unix::fs::symlink(python, programs.join("python")).expect("a link");
    Some(project)
}

#[test]
fn unittest_judges_without_pytest() {
    let Some(project) = python_project() else { return };
    let (cases, datasheet) = project.build("codev-bench . --size 6");
    assert_eq!(datasheet["counts"]["tests"]["runner"], "unittest", "{datasheet:#}");
    assert_eq!(
        (&datasheet["counts"]["tests"]["stable"], &datasheet["counts"]["tests"]["covers_lines"]),
        (&2.into(), &true.into())
    );
    for case in &cases {
        let function = case.prefix.rsplit("def ").next().unwrap_or_default();
        assert!(!function.starts_with("untested"), "no test judges {case:?}");
        let ids = &case.tests.as_ref().expect("tests").ids;
        assert!(ids.iter().all(|id| id.starts_with("test_prices.TotalTests.test_")), "{ids:?}");
    }
    project.check(&cases, TestRunnerKind::Unittest, "raise KeyError");
}

#[test]
fn hostile_answers_do_not_pass_unittest() {
    let Some(project) = python_project() else { return };
    let (cases, _) = project.build("codev-bench . --size 6");
    let attacks = [
        "import os; os._exit(0)",
        "import sys; print('Ran 2 tests in 0.1s\\n\\nOK'); sys.exit(0)",
        "import unittest; unittest.TestCase.run = lambda self, result=None: result",
        "import unittest; unittest.TestCase.assertEqual = lambda *a, **k: None; unittest.TestCase.fail = lambda *a: None\n    \
         unittest.TestCase._callTestMethod = lambda self, method: None; return 0",
        "raise __import__('unittest').SkipTest('no')",
        "import glob, json, os\n    for path in glob.glob('.ghostbench-tests/*'): os.remove(path)\n    \
         json.dump({'control': 'x', 'control_failed': True, 'tests': {}}, open('.ghostbench-tests/report.json', 'w'))\n    os._exit(1)",
    ];
    for (number, attack) in attacks.into_iter().enumerate() {
        let rows = project.judge(&format!("attack{number}"), "", |_| attack.to_owned());
        assert!(verdicts(&rows).iter().all(|verdict| *verdict != TestVerdict::Passed), "{attack}: {rows:#?}");
    }
    assert!(!cases.is_empty());
}

const RUST: &str = r#"
//- /Cargo.toml
[package]
name = "shop"
version = "0.1.0"
edition = "2021"

[workspace]
//- /src/lib.rs
//! Prices.

/// Returns the sum of all prices up to a limit.
pub fn total(prices: &[u32], limit: u32) -> u32 {
    let mut result = 0;
    for price in prices {
        if *price <= limit {
            result += price;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Vec<u32> {
        let mut prices = Vec::new();
        for price in [1, 20, 3] {
            if price > 0 {
                prices.push(price);
            }
        }
        prices
    }

    #[test]
    fn prices_beyond_the_limit_do_not_count() {
        let prices = prices();
        assert_eq!(total(&prices, 10), 4);
    }
}
"#;

#[test]
fn tests_beside_the_code_are_no_cases() {
    let Some(project) = TestedProject::new(RUST, &["cargo"]) else { return };
    let (cases, datasheet) = project.build("codev-bench . --size 4 --language rust");
    assert!(
        datasheet["left_out"]["tests themselves"].as_u64().is_some_and(|left_out| left_out > 0),
        "{datasheet:#}"
    );
    assert!(cases.iter().all(|case| !case.prefix.contains("mod tests")), "{cases:#?}");
    project.check(&cases, TestRunnerKind::Cargo, "unreachable!();");
}

/// The tests that judge each case are those that execute it, which the runner's own tools said.
#[track_caller]
fn check_lines(project: &TestedProject, arguments: &str, runner: TestRunnerKind, other: &str) {
    let (cases, datasheet) = project.build(arguments);
    assert_eq!(datasheet["counts"]["tests"]["covers_lines"], true, "{datasheet:#}");
    assert!(
        datasheet["left_out"]["no test executes it"].as_u64().is_some_and(|left_out| left_out > 0),
        "{datasheet:#}"
    );
    for case in &cases {
        assert!(!case.prefix.contains("oubled("), "no test executes {case:?}");
        let ids = &case.tests.as_ref().expect("tests").ids;
        let name = if case.prefix.contains("cheapest(") { "heapest" } else { "otal" };
        assert!(ids.iter().all(|id| id.contains(name)), "{ids:?} judge {case:?}");
    }
    project.check(&cases, runner, other);
}

const GO: &str = r#"
//- /go.mod
module example.com/shop

go 1.19
//- /prices/prices.go
package prices

func Total(first, second, limit int) int {
	result := 0
	if first <= limit {
		result += first
	}
	if second <= limit {
		result += second
	}
	return result
}

func cheapest(prices []int) int {
	lowest := prices[0]
	for _, price := range prices {
		if price < lowest {
			lowest = price
		}
	}
	return lowest
}

func Doubled(price int) int {
	if price > 3 {
		return price + price
	}
	return 2 * price
}
//- /prices/prices_test.go
package prices

import "testing"

func TestTotal(t *testing.T) {
	if Total(1, 20, 10) != 1 || Total(1, 2, 10) != 3 || Total(1, 2, 0) != 0 {
		t.Fatal("wrong total")
	}
}

func TestCheapest(t *testing.T) {
	if cheapest([]int{3, 1, 2}) != 1 {
		t.Fatal("not the cheapest")
	}
}
"#;

#[test]
fn coverage_of_go_says_which_test_executes_a_block() {
    let Some(project) = TestedProject::new(GO, &["go"]) else { return };
    check_lines(&project, "codev-bench . --size 4 --language go", TestRunnerKind::Go, "panic(1)");
}
