//! Inspection and undoing by developers: the last request, pauses of the recording, forgetting, answers beside each other, pages.

use cases::{TrialArm, TrialMode};
use serde_json::{Value, json};
use tests::{Project, wait_until};
use trial::definition::write_definition;

use super::editor::{Editor, INVALID_PARAMS, REQUEST_FAILED, find, setup};
use super::recording::{LOOP, SHOP as SHOP_WITH_LOOP, record};
use super::replay::rules;
use super::trial::{
    SHOP, SUGGESTION, definition, folder, recorded_editor, rows, save, start_trial, type_before,
};

/// Waits until the trial of the folder has this state, and returns it.
fn wait_for_state(editor: &Editor, state: &str) -> Value {
    let mut trial = Value::Null;
    wait_until("the trial has the state", || {
        trial = editor.client.call("ghostbench/trial", Value::Null);
        trial["state"] == state
    });
    trial
}

#[test]
fn the_last_request_shows_what_was_asked_and_offered() {
    let project = Project::new("//- /tools.py\ndef helper(price, rate):\n    return price * rate\n");
    let editor = Editor::scripted(&project, &json!([{"path": "shop.py", "text": SUGGESTION}]));
    let buffer = editor.open("shop.py", SHOP);
    let last = || editor.client.call("ghostbench/lastRequest", json!({"textDocument": buffer.id()}));
    assert_eq!(last(), Value::Null, "nothing was asked yet");
    let cursor = find(SHOP, "    \n") + 4;
    editor.item(&buffer, cursor);
    let request = last();
    assert_eq!((&request["trigger"], &request["engine"]), (&json!("automatic"), &json!("scripted")));
    assert_eq!((&request["status"], &request["items"]), (&json!("ok"), &json!([SUGGESTION])));
    assert_eq!(request["position"], buffer.position(cursor));
    let sent = &request["sent"];
    assert_eq!((&sent["engine"], &sent["status"]), (&json!("scripted"), &json!("ok")));
    assert_eq!((&sent["answer"], &sent["cut"]), (&json!(SUGGESTION), &json!(false)));
    editor.item(&buffer, cursor);
    let again = last();
    assert_eq!(again["status"], "reused");
    assert_eq!(again["sent"], request["sent"], "no engine was asked for it");
    let unknown = json!({"textDocument": {"uri": editor.uri("other.py")}});
    assert_eq!(editor.client.call_expecting_error("ghostbench/lastRequest", unknown), INVALID_PARAMS);
    editor.client.exit();
}

#[test]
fn a_blind_trial_hides_the_engine_of_the_last_request() {
    let project = Project::new("");
    let mut blind = definition();
    blind.mode = TrialMode::Assign;
    blind.arms = ["scripted", "builtin"].map(|name| TrialArm::new(name.to_owned())).to_vec();
    write_definition(&folder(&project), &blind).expect("the definition is written");
    let editor = recorded_editor(&project);
    let buffer = editor.open("shop.py", SHOP);
    editor.client.wait(editor.ask(&buffer, find(SHOP, "    \n") + 4)).expect("it is answered");
    let last = || editor.client.call("ghostbench/lastRequest", json!({"textDocument": buffer.id()}));
    let request = last();
    assert_eq!((&request["blind"], &request["engine"]), (&json!(true), &Value::Null));
    let hidden = ["engine", "prompt", "answer"].map(|field| &request["sent"][field]);
    assert_eq!(hidden, [&Value::Null; 3], "{request}");
    let status = editor.status();
    let engines = status["engines"].as_array().expect("a list");
    let arms = engines.iter().filter(|engine| engine["roles"].to_string().contains("arm")).count();
    assert_eq!(arms, 0, "{status}");
    assert!(engines.iter().all(|engine| engine["latency"].is_null()), "{status}");
    editor.client.call("ghostbench/pauseRecording", Value::Null);
    assert_eq!(last()["engine"], Value::Null, "a pause reveals nothing");
    editor.client.exit();
}

#[test]
fn nothing_is_recorded_during_a_pause_which_outlives_the_server() {
    let project = Project::new("");
    let lone = Editor::new(&project);
    assert_eq!(lone.client.call_expecting_error("ghostbench/pauseRecording", Value::Null), REQUEST_FAILED);
    lone.client.exit();
    start_trial(&project);
    let editor = recorded_editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    editor.item(&buffer, cursor);
    wait_until("the request is recorded", || rows(&project).len() == 1);
    for minutes in [0, 1_000_000] {
        let wrong = json!({"minutes": minutes});
        assert_eq!(editor.client.call_expecting_error("ghostbench/pauseRecording", wrong), INVALID_PARAMS);
    }
    let paused = editor.client.call("ghostbench/pauseRecording", json!({"minutes": 5}));
    let state = editor.client.call("ghostbench/trial", Value::Null);
    assert_eq!((&state["state"], &state["pausedUntil"]), (&json!("paused"), &paused["until"]));
    type_before(&editor, &mut buffer, "\n\n\ndef", "unrecorded = 1");
    editor.client.wait(editor.ask(&buffer, cursor)).expect("it is answered");
    save(&editor, &buffer);
    editor.client.exit();

    // The pause holds in a new server, which records again after it.
    let setup = setup(&project).options(json!({"trial": {"settledMs": 200}}));
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    let editor = Editor::start(&project, &["--scripted", &rules], setup);
    assert_eq!(wait_for_state(&editor, "paused")["pausedUntil"], paused["until"]);
    let buffer = editor.open("shop.py", SHOP);
    editor.item(&buffer, cursor);
    editor.client.call("ghostbench/resumeRecording", Value::Null);
    assert_eq!(editor.client.call("ghostbench/trial", Value::Null)["state"], "running");
    editor.client.wait(editor.ask(&buffer, find(SHOP, "return 1") + 8)).expect("it is answered");
    wait_until("recording goes on", || rows(&project).len() == 2);
    editor.client.exit();
    let stored = format!("{:?}", rows(&project));
    assert!(!stored.contains("unrecorded"), "{stored}");
}

#[test]
fn the_last_minutes_are_forgotten() {
    let project = Project::new("");
    start_trial(&project);
    let editor = recorded_editor(&project);
    let buffer = editor.open("shop.py", SHOP);
    editor.item(&buffer, find(SHOP, "    \n") + 4);
    wait_until("the request is recorded", || rows(&project).len() == 1);
    let zero = json!({"minutes": 0});
    assert_eq!(editor.client.call_expecting_error("ghostbench/forget", zero), INVALID_PARAMS);
    let forgotten = editor.client.call("ghostbench/forget", json!({"minutes": 60}));
    assert_eq!(forgotten, json!({"forgotten": 1}));
    let last = json!({"textDocument": buffer.id()});
    assert_eq!(editor.client.call("ghostbench/lastRequest", last), Value::Null);
    // The end of the session writes nothing more about it.
    editor.close(&buffer);
    editor.client.exit();
    assert_eq!(rows(&project), Vec::new());
    let lone = Editor::new(&project);
    assert_eq!(lone.client.call("ghostbench/forget", json!({"minutes": u32::MAX})), json!({"forgotten": 0}));
    lone.client.exit();
}

#[test]
fn answers_and_pages_show_a_replay_and_a_trial() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    for kind in ["trial", "replay"] {
        let page = json!({"kind": kind});
        assert_eq!(editor.client.call_expecting_error("ghostbench/page", page), REQUEST_FAILED);
    }
    let buffer = editor.open("wrong.py", SHOP_WITH_LOOP);
    let recorded = record(&editor, &buffer, LOOP);
    let id = &recorded["case"]["id"];
    editor.client.call("ghostbench/replay", json!({"target": "suite"}));
    let answers = editor.client.call("ghostbench/answers", json!({"case": id}));
    let text = |field: &str| answers[field].as_str().expect("a text").to_owned();
    assert_eq!(text("truth"), LOOP);
    assert_eq!(text("before") + LOOP + &text("after"), SHOP_WITH_LOOP);
    let engine = |name: &str| {
        let all = answers["answers"].as_array().expect("a list").iter();
        all.filter(|answer| answer["engine"] == name).count()
    };
    assert_eq!(engine("scripted"), 1, "{answers}");
    assert!(answers["answers"][0]["text"].is_string() && answers["case"]["results"] == json!([]));
    let missing = json!({"case": "none"});
    assert_eq!(editor.client.call_expecting_error("ghostbench/answers", missing), INVALID_PARAMS);

    let page = editor.client.call("ghostbench/page", json!({"kind": "replay"}));
    let html = page["html"].as_str().expect("a page");
    let policy = "content=\"default-src 'none'; style-src 'nonce-";
    assert!(html.contains(policy) && html.contains("scripted"), "{}", &html[..html.len().min(2_000)]);
    editor.client.exit();
}

#[test]
fn the_page_of_a_trial_has_its_numbers_and_texts() {
    let project = Project::new("");
    start_trial(&project);
    let editor = recorded_editor(&project);
    let mut buffer = editor.open("shop.py", SHOP);
    editor.item(&buffer, find(SHOP, "    \n") + 4);
    type_before(&editor, &mut buffer, "\n\n\ndef", "net = price");
    wait_until("the text has settled", || rows(&project).iter().any(|row| row.truth().is_some()));
    let page = editor.client.call("ghostbench/page", json!({"kind": "trial"}));
    assert_eq!(page["title"], "trial first");
    let html = page["html"].as_str().expect("a page");
    assert!(html.contains("scripted") && html.contains("net = price"), "numbers and texts");
    editor.client.exit();
}
