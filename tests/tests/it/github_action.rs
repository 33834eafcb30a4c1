//! The script of the GitHub action, as its runner starts it, with recorded answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tests::{ProcessOutcome, Project, RunningProcess, binary};

use crate::engines::open_ai;
use crate::run_rows;
use crate::settings::user_file;

/// Step whose script is tested.
const STEP: &str = "- name: Replay and check";

/// The script of a step and its variables with the inputs that they have.
struct ActionStep {
    script: String,
    inputs: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
}

/// Reads the step in the shape in which the file is written: two blanks deeper per level.
fn action_step() -> ActionStep {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/actions/ghostbench/action.yml");
    let action = run_rows::text(&path);
    let (head, step) = action.split_once(STEP).expect(STEP);
    let (settings, script) = step.split_once("      run: |\n").expect("a script");
    let lines = script.lines().take_while(|line| line.is_empty() || line.starts_with("        "));
    let script = lines.map(|line| line.trim_start_matches("        ").to_owned() + "\n").collect();
    let variables = settings.lines().filter_map(|line| {
        let (variable, input) = line.trim().split_once(": ${{ inputs.")?;
        Some((variable.to_owned(), input.strip_suffix(" }}")?.to_owned()))
    });
    let mut defaults = BTreeMap::new();
    let mut input = "";
    for line in head.lines() {
        if let Some(value) = line.strip_prefix("    default: ") {
            defaults.insert(input.to_owned(), value.trim_matches('"').to_owned());
        } else if let Some(name) = line.strip_prefix("  ").and_then(|line| line.strip_suffix(':')) {
            input = name;
        }
    }
    ActionStep { script, inputs: variables.collect(), defaults }
}

/// Runs the script in the project with these inputs.
fn run_step(project: &Project, inputs: &[(&str, &str)]) -> ProcessOutcome {
    let step = action_step();
    let script = project.sibling_path("step.sh");
    fs::write(&script, &step.script).expect("the folder is ours");
    // As the runner starts `shell: bash`.
    let mut command: Command = project.command(Path::new("bash"), "--noprofile --norc -eo pipefail");
    command.arg(&script);
    for (variable, input) in &step.inputs {
        let given = inputs.iter().find(|(name, _)| name == input).map(|(_, value)| *value);
        command.env(variable, given.unwrap_or_else(|| step.defaults.get(input).map_or("", |it| it)));
    }
    let folder = binary().parent().expect("a folder").to_owned();
    let path = std::env::var("PATH").expect("a path");
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.env("GITHUB_STEP_SUMMARY", project.sibling_path("summary.md"));
    RunningProcess::start(command).wait()
}

/// A project with a suite and the recorded answers of an engine whose server is gone.
fn recorded_project() -> Project {
    let project = Project::generated(3);
    let (_server, settings) = open_ai();
    user_file(&project, &format!("{settings}price_in = 2\nprice_out = 8\n"));
    project.run("try . --cases 12 --engine mock --out ../run --cassette ../c.jsonl").expect_code(0);
    project
}

const INPUTS: [(&str, &str); 4] =
    [("suite", "../run/cases.jsonl"), ("engines", "mock\n"), ("cassette", "../c.jsonl"), ("run", "../ci")];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [INPUTS.as_slice(), more].concat()
}

#[test]
fn kept_rules_pass_with_summary_and_junit() {
    let project = recorded_project();
    let rules = [
        ("fail-under", "exact_match=0%\n\nedit_similarity=0%"),
        ("deadline", "60000"),
        ("max-requests", "1000"),
    ];
    run_step(&project, &with(&rules)).expect_code(0);
    let summary = run_rows::text(&project.sibling_path("summary.md"));
    assert!(summary.starts_with("## Gates: all 2 passed"), "{summary}");
    assert!(summary.contains("| 1 | mock |"), "{summary}");
    assert_eq!(summary, run_rows::text(&project.sibling_path("ci").join("summary.md")));
    let junit = run_rows::text(&project.sibling_path("ci").join("gates.xml"));
    assert!(junit.contains("tests=\"2\" failures=\"0\""), "{junit}");
}

#[test]
fn broken_rule_fails_the_step_after_its_summary_is_written() {
    let project = recorded_project();
    let rules = [("fail-on", "exact_match <= 100%"), ("baseline", "../run")];
    let outcome = run_step(&project, &with(&rules)).expect_code(1);
    outcome.expect_message(&["exact_match"]);
    let summary = run_rows::text(&project.sibling_path("summary.md"));
    assert!(summary.starts_with("## Gates: 1 of 1 failed") && summary.contains("**failed**"), "{summary}");
    assert!(summary.contains("mock - mock @ baseline: 0 worse, 0 better"), "{summary}");
    let junit = run_rows::text(&project.sibling_path("ci").join("gates.xml"));
    assert!(junit.contains("<failure message="), "{junit}");
}

#[test]
fn budget_that_suffices_passes_and_one_that_does_not_stops_the_step() {
    let project = recorded_project();
    let rules = [("fail-under", "exact_match=0%"), ("budget", "1")];
    run_step(&project, &with(&rules)).expect_code(0);
    let summary = run_rows::text(&project.sibling_path("summary.md"));
    assert!(summary.starts_with("## Gates: all 1 passed"), "{summary}");
    fs::remove_file(project.sibling_path("c.jsonl")).expect("it was recorded");
    fs::remove_file(project.sibling_path("summary.md")).expect("it was written");
    fs::remove_dir_all(project.sibling_path("ci")).expect("it was written");
    let outcome = run_step(&project, &with(&[("budget", "0.000001")])).expect_code(1);
    outcome.expect_message(&["--budget"]);
    assert!(!project.sibling_path("summary.md").exists());
}

#[test]
fn limit_of_requests_stops_the_step() {
    let project = recorded_project();
    fs::remove_file(project.sibling_path("c.jsonl")).expect("it was recorded");
    let outcome = run_step(&project, &with(&[("max-requests", "3")])).expect_code(1);
    outcome.expect_message(&["--max-requests"]);
    assert!(!project.sibling_path("summary.md").exists());
}
