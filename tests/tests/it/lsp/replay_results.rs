//! Results of replays are shown wherever the replay ran: this server, another one, the command line; complete or not.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, REQUEST_CANCELLED};
use super::handshake::wait_until_ready;
use super::recording::{LOOP, SHOP, all_cases, record};
use super::replay::{rules, title, two_recorded};
use crate::run_rows;

/// Replays the suite of a document's folder.
#[track_caller]
fn replay_suite(editor: &Editor, buffer: &Buffer) -> Value {
    editor.client.call("ghostbench/replay", json!({"target": "suite", "textDocument": buffer.id()}))
}

/// The run shown in the scoreboard.
#[track_caller]
fn shown_run(editor: &Editor) -> Value {
    editor.client.call("ghostbench/scoreboard", json!({}))["run"].take()
}

#[test]
fn results_of_another_server_are_shown() {
    let project = Project::new("");
    let editors = [(); 2].map(|()| Editor::scripted(&project, &rules()));
    let [(right, _), _] = two_recorded(&editors[0]);
    let seen = editors[1].open("right.py", SHOP);
    assert!(title(&editors[1], &seen).ends_with("not replayed yet"));
    for _ in 0..2 {
        let replayed = replay_suite(&editors[0], &right);
        assert_eq!(title(&editors[1], &seen), title(&editors[0], &right));
        assert_eq!(all_cases(&editors[1])[0]["results"], replayed["cases"][0]["results"]);
        assert_eq!(shown_run(&editors[1]), replayed["run"]);
    }
}

#[test]
fn results_of_the_command_line_are_shown() {
    let project = Project::generated(1);
    let editor = Editor::scripted(&project, &rules());
    wait_until_ready(&editor);
    let [(right, recorded), _] = two_recorded(&editor);
    replay_suite(&editor, &right);
    assert!(!title(&editor, &right).contains("nearest-line"));
    let suite = recorded["suite"].as_str().expect("the suite is a file");
    project.run(&format!("replay {suite} --workspace . --engine nearest-line")).expect_code(0);
    let title = title(&editor, &right);
    assert!(title.contains("scripted") && title.contains("nearest-line"), "{title}");
}

#[test]
fn results_of_a_cancelled_replay_are_shown() {
    let project = Project::new("");
    let rules = json!([
        // Longer than the interval between two progress reports.
        {"path": "right.py", "delay_ms": 300, "text": LOOP},
        {"path": "slow.py", "delay_ms": super::scripted_engine::FOREVER_MS},
    ]);
    let editor = Editor::scripted(&project, &rules);
    let right = editor.open("right.py", SHOP);
    record(&editor, &right, LOOP);
    record(&editor, &editor.open("slow.py", SHOP), LOOP);
    let params = json!({"target": "suite", "textDocument": right.id(), "workDoneToken": 7});
    let id = editor.client.request("ghostbench/replay", params);
    let message = |progress: &Value| progress["value"]["message"].clone();
    while message(&editor.client.expect_notification("$/progress")) != "1 of 2" {}
    editor.client.cancel(id);
    let error = editor.client.wait(id).expect_err("it is cancelled");
    assert_eq!(error["code"], REQUEST_CANCELLED);
    assert_eq!(editor.client.expect_notification("$/progress")["value"]["kind"], "end");
    let title = title(&editor, &right);
    assert!(title.contains("scripted exact"), "{title}");
}

#[test]
fn the_newest_result_is_shown_after_the_oldest_run_was_deleted() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(right, _), _] = two_recorded(&editor);
    let [oldest, _] = [(); 2].map(|()| replay_suite(&editor, &right)["run"].take());
    let oldest = Path::new(oldest.as_str().expect("the run is a folder"));
    fs::remove_dir_all(oldest).expect("the home is ours");
    let newest = replay_suite(&editor, &right)["run"].take();
    assert_eq!(shown_run(&editor), newest);
    let rows = run_rows::predictions(Path::new(newest.as_str().expect("the run is a folder")));
    let times: Vec<_> = all_cases(&editor).iter().map(|case| case["results"][0]["ms"].as_f64()).collect();
    assert_eq!(times, [Some(rows[0].ms.total), Some(rows[1].ms.total)], "no two answers take the same time");
}
