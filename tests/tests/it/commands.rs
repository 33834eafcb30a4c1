//! The commands on good input.

use std::fs;

use tests::Project;

use crate::run_rows;

#[test]
fn try_mines_replays_scores_and_reports() {
    let project = Project::generated(6);
    let outcome = project.run("try . --cases 40 --out ../run").expect_code(0);
    let run = project.sibling_path("run");
    let cases = run_rows::cases(&run);
    assert!(!cases.is_empty());
    assert_eq!(run_rows::answers(&run).len(), run_rows::total_answers(&run));
    assert!(!run_rows::text(&run.join("scores.jsonl")).is_empty());
    assert!(outcome.stdout.contains("builtin"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("report.html"), "{}", outcome.stdout);
    assert!(!outcome.stderr.contains("skipped"), "nothing was skipped: {}", outcome.stderr);
}

#[test]
fn try_json_reports_indexing_speed() {
    let project = Project::generated(4);
    let outcome = project.run("try . --cases 10 --out ../run --json").expect_code(0);
    let value: serde_json::Value =
        serde_json::from_str(&outcome.stdout).expect("standard output is JSON alone");
    assert_eq!(value["indexing"]["files"], 4);
    assert!(value["indexing"]["bytes"].as_u64() > Some(0), "{value}");
    assert!(value["indexing"]["seconds"].as_f64() > Some(0.0), "{value}");
}

#[test]
fn mine_and_replay_give_the_results_of_try() {
    let project = Project::generated(5);
    project.run("try . --cases 30 --seed 3 --out ../at-once").expect_code(0);
    project.run("mine . --cases 30 --seed 3 --out ../suite.jsonl").expect_code(0);
    project.run("replay ../suite.jsonl --workspace . --out ../in-turn").expect_code(0);
    let (at_once, in_turn) = (project.sibling_path("at-once"), project.sibling_path("in-turn"));
    assert_eq!(
        run_rows::text(&project.sibling_path("suite.jsonl")),
        run_rows::text(&at_once.join("cases.jsonl"))
    );
    assert_eq!(run_rows::answers(&in_turn), run_rows::answers(&at_once));
    let report = |run: &str| project.run(&format!("report {run} --format markdown")).expect_code(0).stdout;
    assert!(report("../in-turn").contains("builtin"));
}

#[test]
fn near_copies_add_a_no_copies_variant_of_the_engine() {
    let project = Project::generated(4);
    project.run("try . --cases 10 --out ../run").expect_code(0);
    let engines = run_rows::run(&project.sibling_path("run")).engines;
    let names: Vec<_> = engines.iter().map(|config| config.engine.name.as_str()).collect();
    assert_eq!(names, ["builtin", "builtin no-copies"]);
}

#[test]
fn nothing_is_written_into_the_workspace() {
    let project = Project::generated(3);
    let before = listing(&project);
    project.run("try . --cases 5").expect_code(0);
    project.run("mine . --cases 5").expect_code(0);
    assert_eq!(listing(&project), before);
    assert!(
        fs::read_dir(project.home()).expect("the home is ours").next().is_some(),
        "the run went to the home"
    );
}

#[test]
fn a_run_inside_of_the_workspace_is_not_read_as_code() {
    let project = Project::generated(3);
    project.run("try . --cases 10 --out results").expect_code(0);
    project.write("results/copy.py", "def copied():\n    return 1\n");
    let outcome = project.run("mine . --cases 10 --out ../suite.jsonl --json").expect_code(0);
    let value: serde_json::Value =
        serde_json::from_str(&outcome.stdout).expect("standard output is JSON alone");
    assert_eq!(value["indexing"]["files"], 3);
}

#[test]
fn every_command_has_help_with_an_example() {
    let project = Project::new("");
    for command in [
        "try", "mine", "replay", "report", "build", "score", "import", "export", "retrieve", "doctor",
        "trust", "config",
    ] {
        let help = project.run(&format!("{command} --help")).expect_code(0).stdout;
        assert!(help.contains(&format!("ghostbench {command} ")), "{help}");
    }
}

fn listing(project: &Project) -> Vec<std::path::PathBuf> {
    let mut paths = Vec::new();
    let mut folders = vec![project.root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the workspace is ours") {
            let path = entry.expect("the workspace is ours").path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    paths
}
