//! `ghostbench/replay` and `scoreboard`: recorded cases are replayed with progress and cancellation, and show their results.

use std::path::Path;

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, REQUEST_CANCELLED, find, setup};
use super::handshake::{progress, wait_until_ready};
use super::recording::{LOOP, SHOP, all_cases, case, lenses, record};
use super::scripted_engine::{FOREVER_MS, RULES, assert_synchronized, echo};
use crate::run_rows;

/// An engine with a right answer for one file, a wrong one for another, and an echo for a third.
pub(super) fn rules() -> Value {
    json!([
        {"path": "right.py", "text": LOOP},
        {"path": "wrong.py", "text": "pass"},
        {"path": "echo.py", "echo": true},
        {"path": "slow.py", "delay_ms": FOREVER_MS, "text": "too late"},
    ])
}

#[track_caller]
pub(super) fn replay_case(editor: &Editor, recorded: &Value) -> Value {
    editor.client.call("ghostbench/replay", json!({"target": "case", "case": recorded["case"]["id"]}))
}

/// Opens both files and records the loop of each.
#[track_caller]
pub(super) fn two_recorded(editor: &Editor) -> [(Buffer, Value); 2] {
    ["right.py", "wrong.py"].map(|path| {
        let buffer = editor.open(path, SHOP);
        let recorded = record(editor, &buffer, LOOP);
        (buffer, recorded)
    })
}

#[track_caller]
pub(super) fn title(editor: &Editor, buffer: &Buffer) -> String {
    let lenses = lenses(editor, buffer);
    assert_eq!(lenses.len(), 1, "{lenses:?}");
    lenses[0]["command"]["title"].as_str().expect("a lens has a title").to_owned()
}

#[test]
fn case_replay_stores_its_result() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(right, right_case), (wrong, wrong_case)] = two_recorded(&editor);
    let before = title(&editor, &right);
    let replayed = replay_case(&editor, &right_case);
    assert_eq!((&replayed["requests"], &replayed["planned"]), (&1.into(), &1.into()));
    assert_eq!(replayed["cancelled"], false);
    let result = &replayed["cases"][0]["results"][0];
    assert_eq!((&result["status"], &result["exact"]), (&"ok".into(), &true.into()));
    assert_eq!(result["editSimilarity"], 100.0);
    assert_ne!(title(&editor, &right), before, "the lens shows the result");
    replay_case(&editor, &wrong_case);
    let results =
        all_cases(&editor).iter().map(|case| case["results"][0]["exact"].clone()).collect::<Vec<_>>();
    assert_eq!(results, [true, false]);
    assert_ne!(title(&editor, &wrong), title(&editor, &right));
    let whole = editor.client.call("ghostbench/case", json!({"id": right_case["case"]["id"]}));
    assert_eq!(whole["summary"]["results"][0]["text"], LOOP);
}

#[test]
fn a_file_and_a_suite_are_replayed() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(right, _), (wrong, _)] = two_recorded(&editor);
    record(&editor, &wrong, "if radius");
    let replay = |target: &str, buffer: &Buffer| {
        editor.client.call("ghostbench/replay", json!({"target": target, "textDocument": buffer.id()}))
    };
    assert_eq!(replay("file", &right)["requests"], 1);
    assert_eq!(replay("file", &wrong)["requests"], 2);
    let suite = replay("suite", &right);
    assert_eq!((&suite["requests"], suite["cases"].as_array().map(Vec::len)), (&3.into(), Some(3)));
    let run = Path::new(suite["run"].as_str().expect("the run is a folder"));
    assert!(run.starts_with(project.home()));
    assert_eq!(run_rows::predictions(run).len(), 3);
    project.run(&format!("report {} --json", run.display())).expect_code(0);
}

#[test]
fn lens_command_replays_its_case() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(right, _), _] = two_recorded(&editor);
    let mut command = lenses(&editor, &right)[0]["command"].take();
    let params = json!({"command": command["command"], "arguments": command["arguments"].take()});
    let replayed = editor.client.call("workspace/executeCommand", params);
    assert_eq!(replayed["cases"][0]["results"][0]["exact"], true);
}

#[test]
fn replay_requests_a_code_lens_refresh() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(_, right_case), _] = two_recorded(&editor);
    for _ in 0..2 {
        editor.client.expect_request("workspace/codeLens/refresh");
    }
    replay_case(&editor, &right_case);
    editor.client.expect_request("workspace/codeLens/refresh");
}

#[test]
fn replay_reports_progress_before_its_response() {
    let project = Project::new("");
    let late = |path: &str, delay_ms: u64| json!({"path": path, "delay_ms": delay_ms, "text": "pass"});
    let editor = Editor::scripted(&project, &json!([late("right.py", 100), late("wrong.py", 600)]));
    let [(right, _), _] = two_recorded(&editor);
    let params = json!({"target": "suite", "textDocument": right.id(), "workDoneToken": "mine"});
    let id = editor.client.request("ghostbench/replay", params);
    let kinds = progress(&editor, &"mine".into());
    assert_eq!(kinds.first().map(String::as_str), Some("begin"));
    assert!(kinds.iter().any(|kind| kind == "report"), "{kinds:?}");
    assert_eq!(editor.client.wait(id).expect("it ends well")["requests"], 2);
}

#[test]
fn replay_without_a_token_reports_no_progress() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(_, right_case), _] = two_recorded(&editor);
    // The client fails on any unexpected message.
    assert_eq!(replay_case(&editor, &right_case)["requests"], 1);
}

/// Records a case that never ends, and returns the parameters of a replay of the suite.
#[track_caller]
fn slow_recorded(editor: &Editor) -> (Buffer, Value) {
    let slow = editor.open("slow.py", SHOP);
    record(editor, &slow, LOOP);
    let params = json!({"target": "suite", "textDocument": slow.id(), "workDoneToken": 7});
    (slow, params)
}

/// Starts a replay that never ends.
#[track_caller]
fn slow_replay(editor: &Editor) -> (Buffer, i64) {
    let (slow, params) = slow_recorded(editor);
    let id = editor.client.request("ghostbench/replay", params);
    assert_eq!(editor.client.expect_notification("$/progress")["value"]["kind"], "begin");
    (slow, id)
}

/// Cancels a replay as the editor's progress does.
#[track_caller]
fn stop(editor: &Editor) {
    editor.client.notify("window/workDoneProgress/cancel", json!({"token": 7}));
}

#[test]
fn progress_cancel_stops_a_replay_and_keeps_its_results() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    two_recorded(&editor);
    let (_, id) = slow_replay(&editor);
    stop(&editor);
    let replayed = editor.client.wait(id).expect("a stopped replay keeps its results");
    assert_eq!(replayed["cancelled"], true);
    assert_eq!(replayed["planned"], 3);
    assert!(replayed["requests"].as_u64() < Some(3), "{replayed}");
    assert_eq!(progress(&editor, &7.into()).last().map(String::as_str), Some("end"));
    tests::wait_until("the engine is free", || editor.busy() == 0);
}

#[test]
fn progress_cancel_right_after_the_request_stops_a_replay() {
    let project = Project::new("");
    let client = setup(&project).allow("$/progress");
    let editor = Editor::start(&project, &["--scripted", &rules().to_string()], client);
    let (_, params) = slow_recorded(&editor);
    let messages = [
        json!({"jsonrpc": "2.0", "id": "mine", "method": "ghostbench/replay", "params": params}),
        json!({"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": 7}}),
    ];
    let frames = messages.map(|message| tests::lsp::frame(message.to_string().as_bytes()));
    for _ in 0..20 {
        editor.client.send_bytes(&frames.concat());
        let replayed = editor.client.wait_for_response(&"mine".into());
        assert_eq!(replayed["result"]["cancelled"], true, "{replayed}");
    }
    tests::wait_until("the engine is free", || editor.busy() == 0);
}

#[test]
fn replays_with_the_same_token_are_cancelled_together() {
    let project = Project::new("");
    let client = setup(&project).allow("$/progress");
    let editor = Editor::start(&project, &["--scripted", &rules().to_string()], client);
    let (_, params) = slow_recorded(&editor);
    let asked = [(); 2].map(|()| editor.client.request("ghostbench/replay", params.clone()));
    tests::wait_until("the engine works on both", || editor.busy() == 2);
    stop(&editor);
    for id in asked {
        assert_eq!(editor.client.wait(id).expect("it is stopped")["cancelled"], true);
    }
    tests::wait_until("the engine is free", || editor.busy() == 0);
}

#[test]
fn result_range_follows_edits_during_a_replay() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let (mut buffer, id) = slow_replay(&editor);
    editor.change(buffer.edit(0..0, "# A line of '😀' more.\n# And another one.\n"));
    stop(&editor);
    let replayed = editor.client.wait(id).expect("it is stopped");
    let place = find(buffer.text(), LOOP);
    assert_eq!(replayed["cases"][0]["range"], buffer.range(place..place + LOOP.len()));
    assert_eq!(progress(&editor, &7.into()).last().map(String::as_str), Some("end"));
}

#[test]
fn replay_request_can_be_cancelled() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let (_, id) = slow_replay(&editor);
    editor.client.cancel(id);
    let error = editor.client.wait(id).expect_err("it is cancelled");
    assert_eq!(error["code"], REQUEST_CANCELLED);
    assert_eq!(progress(&editor, &7.into()).last().map(String::as_str), Some("end"));
    tests::wait_until("the engine is free", || editor.busy() == 0);
}

#[test]
fn ghost_text_works_during_a_replay() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let (_, id) = slow_replay(&editor);
    let mut buffer = editor.open("echo.py", "x = 1\n");
    for _ in 0..10 {
        editor.change(buffer.append("y = 2\n"));
        assert_synchronized(&editor, &buffer);
    }
    assert!(!editor.client.is_answered(id));
    editor.client.cancel(id);
    assert!(editor.client.wait(id).is_err());
    assert_eq!(progress(&editor, &7.into()).last().map(String::as_str), Some("end"));
}

#[test]
fn replayed_engine_sees_prefix_and_suffix_but_not_the_truth() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let buffer = editor.open("echo.py", &SHOP.replace("order.price", "canary_5c1f"));
    let recorded = record(&editor, &buffer, "for order");
    let case = case(&editor, &recorded);
    assert!(case.truth.contains("canary_5c1f"));
    let question = [case.prefix.as_str(), &case.suffix].concat();
    assert!(!question.contains("canary_5c1f"));
    replay_case(&editor, &recorded);
    let whole = editor.client.call("ghostbench/case", json!({"id": recorded["case"]["id"]}));
    assert_eq!(whole["summary"]["results"][0]["text"], echo(&question), "the engine echoes its input");
}

#[test]
fn builtin_engine_cannot_find_the_truth_in_the_workspace() {
    let twin = SHOP.replace("def total", "def twin").replace("order.price", "known_elsewhere");
    let project = Project::new(&format!("//- /shop.py\n{SHOP}//- /twin.py\n{twin}"));
    let text = SHOP.replace("order.price", "canary_5c1f");
    project.write("shop.py", &text);
    let editor = Editor::new(&project);
    wait_until_ready(&editor);
    let buffer = editor.open("shop.py", &text);
    let recorded = record(&editor, &buffer, "for order");
    replay_case(&editor, &recorded);
    let whole = editor.client.call("ghostbench/case", json!({"id": recorded["case"]["id"]}));
    let answer = whole["summary"]["results"][0]["text"].as_str().expect("the engine says something");
    assert!(answer.contains("known_elsewhere"), "it looked into the workspace: {answer}");
    assert!(!answer.contains("canary"), "{answer}");
}

#[test]
fn the_scoreboard_shows_the_last_replay_of_the_suite() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let [(right, _), _] = two_recorded(&editor);
    let params = json!({"textDocument": right.id()});
    let before = editor.client.call("ghostbench/scoreboard", params.clone());
    assert_eq!((&before["cases"], before.get("run")), (&2.into(), None));
    let replayed =
        editor.client.call("ghostbench/replay", json!({"target": "suite", "textDocument": right.id()}));
    let after = editor.client.call("ghostbench/scoreboard", params);
    assert_eq!(after["run"], replayed["run"]);
    assert!(after["summary"].is_object(), "{after}");
    let markdown = after["markdown"].as_str().expect("it is text");
    assert!(markdown.contains("scripted"), "the engine is named: {markdown}");
}

#[test]
fn results_survive_a_server_restart() {
    let project = Project::new("");
    let (results, before) = {
        let editor = Editor::scripted(&project, &rules());
        let [(right, _), _] = two_recorded(&editor);
        editor.client.call("ghostbench/replay", json!({"target": "suite", "textDocument": right.id()}));
        (all_cases(&editor), title(&editor, &right))
    };
    let editor = Editor::scripted(&project, &rules());
    let right = editor.open("right.py", SHOP);
    let shown = |cases: &[Value]| cases.iter().map(|case| case["results"].clone()).collect::<Vec<_>>();
    assert_eq!(shown(&all_cases(&editor)), shown(&results));
    assert_eq!(title(&editor, &right), before);
    let scoreboard = editor.client.call("ghostbench/scoreboard", json!({}));
    assert!(scoreboard["run"].is_string(), "{scoreboard}");
}

#[test]
fn replay_without_cases_is_an_error() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let buffer = editor.open("right.py", SHOP);
    for params in [
        json!({"target": "case", "case": "0123"}),
        json!({"target": "case"}),
        json!({"target": "file", "textDocument": buffer.id()}),
        json!({"target": "suite", "textDocument": buffer.id()}),
    ] {
        let id = editor.client.request("ghostbench/replay", params.clone());
        let error = editor.client.wait(id).expect_err("there is nothing to replay");
        assert!(error["message"].as_str().is_some_and(|why| !why.is_empty()), "{params}: {error}");
    }
}

#[test]
fn engine_failure_or_panic_is_stored_as_a_result() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for path in ["fail.py", "panic.py"] {
        let buffer = editor.open(path, SHOP);
        let recorded = record(&editor, &buffer, LOOP);
        let replayed = replay_case(&editor, &recorded);
        let result = &replayed["cases"][0]["results"][0];
        assert_eq!((&result["status"], &result["exact"]), (&"error".into(), &false.into()), "{path}");
        assert!(result["reason"].as_str().is_some_and(|why| !why.is_empty()), "{path}: {result}");
    }
    let buffer = editor.open("talk.py", SHOP);
    assert_eq!(
        replay_case(&editor, &record(&editor, &buffer, LOOP))["cases"][0]["results"][0]["status"],
        "ok"
    );
}

#[test]
fn two_servers_replay_one_suite_side_by_side() {
    let project = Project::new("");
    let editors = [(); 2].map(|()| Editor::scripted(&project, &rules()));
    let [(right, _), _] = two_recorded(&editors[0]);
    editors[1].open("right.py", SHOP);
    let params = json!({"target": "suite", "textDocument": right.id()});
    let asked = [0, 1].map(|n: usize| editors[n].client.request("ghostbench/replay", params.clone()));
    let runs = [0, 1].map(|n: usize| editors[n].client.wait(asked[n]).expect("it ends well")["run"].clone());
    assert_ne!(runs[0], runs[1], "each writes a run of its own");
    for run in &runs {
        assert_eq!(run_rows::predictions(Path::new(run.as_str().expect("the run is a folder"))).len(), 2);
    }
}

#[test]
fn replay_uses_the_recorded_text_despite_later_edits() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let mut buffer = editor.open("echo.py", SHOP);
    let recorded = record(&editor, &buffer, LOOP);
    let case = case(&editor, &recorded);
    let place = find(buffer.text(), "result = 0");
    editor.change(buffer.edit(place..place, "changed = True\n    "));
    replay_case(&editor, &recorded);
    let whole = editor.client.call("ghostbench/case", json!({"id": recorded["case"]["id"]}));
    let question = [case.prefix.as_str(), &case.suffix].concat();
    assert_eq!(whole["summary"]["results"][0]["text"], echo(&question));
}
