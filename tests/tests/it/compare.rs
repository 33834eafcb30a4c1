//! Runs compared with each other, and engines added to a run.

use std::fs;

use tests::{Project, RunningProcess, wait_until};

use crate::requests::OTHER_CODE;
use crate::run_rows;

const ADD: &str = "replay --into ../run --workspace . --engine nearest-line";

fn project_with_run() -> Project {
    let project = Project::generated(6);
    project.run("try . --cases 30 --engine builtin --out ../run").expect_code(0);
    project
}

#[test]
fn engine_added_to_a_run_is_asked_alone() {
    let project = project_with_run();
    let run = project.sibling_path("run");
    let before = run_rows::predictions(&run);
    let mut adding = RunningProcess::start(project.ghostbench(&format!("{ADD} --jobs 1")));
    wait_until("an answer is on disk", || {
        run_rows::answers_so_far(&run) > before.len() || adding.has_ended()
    });
    adding.kill();
    adding.wait();
    project.run(ADD).expect_code(0);
    let after = run_rows::predictions(&run);
    assert_eq!(after.get(..before.len()), Some(before.as_slice()), "earlier answers are unchanged");
    let added = after[before.len()..].iter();
    assert!(
        added.clone().count() > 0 && added.clone().all(|row| row.engine.name.starts_with("nearest-line"))
    );
    run_rows::answers(&run);
    project
        .run("replay --into ../run --engine empty")
        .expect_code(2)
        .expect_message(&["was started with another workspace"]);
}

#[test]
fn changed_engine_of_the_same_name_is_not_added() {
    let project = project_with_run();
    project.write("other.toml", "[context]\nbudget_tokens = 77\n");
    let changed = "replay --into ../run --workspace . --engine builtin --config other.toml";
    let outcome = project.run(changed).expect_code(2);
    outcome.expect_message(&[
        "another engine `builtin`",
        "`context_tokens` was 1024, is 77",
        "ghostbench compare",
    ]);
}

#[test]
fn runs_are_compared_on_their_shared_cases() {
    let project = project_with_run();
    project
        .run("replay ../run/cases.jsonl --workspace . --engine empty --engine builtin --out ../other")
        .expect_code(0);
    let outcome = project.run("compare ../run ../other --json --html ../page.html").expect_code(0);
    let page = std::fs::read_to_string(project.sibling_path("page.html")).expect("the page");
    assert!(page.starts_with("<!doctype html>") && page.contains("builtin @ run"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON alone");
    assert_eq!(json["shared_cases"], run_rows::cases(&project.sibling_path("run")).len());
    let names: Vec<&str> =
        json["engines"].as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"builtin @ run") && names.contains(&"empty"), "{names:?}");
}

#[test]
fn runs_of_suites_without_a_shared_case_are_refused_with_the_remedy() {
    let project = project_with_run();
    project.write("weather/stations.py", OTHER_CODE);
    project.run("mine weather --cases 10 --out ../weather.jsonl").expect_code(0);
    project.run("replay ../weather.jsonl --engine empty --out ../other").expect_code(0);
    let refused = project.run("compare ../run ../other --html ../page.html --csv ../csv").expect_code(2);
    assert_eq!(refused.stdout, "");
    refused.expect_message(&["run shares no case with other", "ghostbench replay", "cases.jsonl"]);
    for output in ["page.html", "csv"] {
        assert!(!project.sibling_path(output).exists(), "{output} of nothing");
    }
}

#[test]
fn run_named_twice_is_refused_however_it_is_spelled() {
    let project = project_with_run();
    for again in ["../run", "../run/", "../workspace/../run"] {
        project.run(&format!("compare ../run {again}")).expect_code(2).expect_message(&["named twice"]);
    }
}

#[test]
fn copy_of_a_run_differs_in_no_case_and_nothing_is_claimed() {
    let project = project_with_run();
    let (run, copy) = (project.sibling_path("run"), project.sibling_path("copy"));
    fs::create_dir(&copy).expect("the folder is ours");
    for file in ["run.json", "cases.jsonl", "predictions.jsonl"] {
        fs::copy(run.join(file), copy.join(file)).expect("a finished run has it");
    }
    let outcome = project.run("compare ../run ../copy --json").expect_code(0);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON alone");
    assert_eq!(json["shared_cases"], run_rows::cases(&run).len());
    let verdict = &json["sections"][0]["verdict"];
    let pairs = verdict["pairs"].as_array().expect("a list");
    let [pair] = pairs.as_slice() else { panic!("one engine twice: {pairs:?}") };
    assert_eq!((&pair["better"], &pair["worse"], &pair["ties"]), (&0.into(), &0.into(), &pair["cases"]));
    assert_eq!((&pair["claim"], &pair["value"]), (&"undecided".into(), &0.0.into()));
    assert_eq!(verdict["groups"].as_array().map(Vec::len), Some(1), "not told apart: {verdict}");
}
