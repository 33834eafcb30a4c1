//! `ghostbench watch`: nights, changes, histories of other suites.

use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mock::{MockServer, Reply};
use tests::Project;

use crate::run_rows;
use crate::settings::user_file;

#[test]
fn nightly_replay_reports_a_model_that_changes_under_its_name() {
    let changed = Arc::new(AtomicBool::new(false));
    let is_changed = Arc::clone(&changed);
    let server = MockServer::scripted(move |request| {
        if !request.path.ends_with("/completions") {
            return Reply::json(404, &serde_json::json!({}));
        }
        let text = if is_changed.load(Ordering::Relaxed) { "raise" } else { "pass" };
        let answer = serde_json::json!({"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]});
        Reply::events([&*answer.to_string(), "[DONE]"])
    });
    let project = Project::generated(6);
    let settings = format!(
        "[[engine]]\nname = \"hosted\"\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"coder\"\nfim = \"server\"\n",
        server.url()
    );
    user_file(&project, &settings);
    project.run("mine . --cases 30 --out ../suite.jsonl").expect_code(0);
    let watch = "watch ../suite.jsonl --engine hosted --history ../nights --fail-on-change";
    for _ in 0..4 {
        project.run(watch).expect_code(0);
    }
    changed.store(true, Ordering::Relaxed);
    let response = project.run(&format!("{watch} --json")).expect_code(1);
    let history: Value = serde_json::from_str(&response.stdout).expect("standard output is JSON alone");
    let engine = &history["nights"][4]["engines"][0];
    assert_eq!((&engine["change"]["kind"], &engine["change"]["first"]), (&"answers".into(), &4.into()));
    let shown = project.run("watch --history ../nights --show --html ../nights.html").expect_code(0).stdout;
    assert!(shown.contains("hosted: its answers changed"), "{shown}");
    let page = run_rows::text(&project.sibling_path("nights.html"));
    assert!(page.contains("answers changed</text>"), "{page}");
    let refused = project.run("watch --history ../nights --show --html ../nights").expect_code(3);
    refused.expect_message(&["cannot write", "--html"]);
    project.run("report ../nights/5").expect_code(0);
    project.run("mine . --cases 10 --seed 2 --out ../other.jsonl").expect_code(0);
    let refused = project.run("watch ../other.jsonl --engine hosted --history ../nights").expect_code(2);
    refused.expect_message(&["another suite", "--history"]);
    project.run("watch --history ../none --show").expect_code(2);
}
