//! Runs compared with each other, and engines added to a run.

use tests::{Project, RunningProcess, wait_until};

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
