//! The state of a live trial over the protocol: start, stop, scoreboard, and the reports of editors.

use cases::{AcceptedPart, OutcomeKind, Provenance, TrialMode};
use serde_json::{Value, json};
use tests::lsp::ClientSetup;
use tests::{Project, wait_until};
use trial::definition::{read_definition, write_definition};

use super::editor::{Editor, REQUEST_FAILED, find};
use super::trial::{SHOP, SUGGESTION, definition, folder, rows};

const DID_CHANGE_TRIAL: &str = "ghostbench/didChangeTrial";

/// Starts an editor whose engine answers with [`SUGGESTION`] and whose stages are short.
fn editor(project: &Project) -> Editor {
    let rules = ["shop.py", "till.py"].map(|path| json!({"path": path, "text": SUGGESTION}));
    let rules = json!(rules).to_string();
    let options = json!({"completion": {"deadlineMs": 600_000}, "trial": {"settledMs": 200}});
    Editor::start(project, &["--scripted", &rules], setup(project, options))
}

/// A client that reads every state of the trial.
fn setup(project: &Project, options: Value) -> ClientSetup {
    ClientSetup::default().allow("ghostbench/didChangeStatus").folder(&project.root()).options(options)
}

/// Waits until the server reports this state, and returns it.
#[track_caller]
fn wait_for_state(editor: &Editor, state: &str) -> Value {
    loop {
        let changed = editor.client.expect_notification(DID_CHANGE_TRIAL);
        if changed["state"] == state {
            return changed;
        }
    }
}

#[test]
fn a_trial_is_started_and_stopped_from_the_editor() {
    let project = Project::new("");
    let editor = editor(&project);
    let off = editor.client.call("ghostbench/trial", Value::Null);
    assert_eq!((&off["state"], &off["message"]), (&json!("off"), &json!("no trial is running")));
    let refused = json!({"mode": "single", "arms": ["scripted", "nothing"]});
    assert_eq!(editor.client.call_expecting_error("ghostbench/startTrial", refused), REQUEST_FAILED);
    let choices = json!({"mode": "single", "arms": ["scripted"], "name": "first"});
    let started = editor.client.call("ghostbench/startTrial", choices.clone());
    assert_eq!((&started["started"], &started["disclosures"]), (&json!(true), &json!([])));
    let running = wait_for_state(&editor, "running");
    assert_eq!((&running["name"], &running["arms"]), (&json!("first"), &json!(["scripted"])));
    assert_eq!(running["message"], "trial first (single) is recorded");
    assert_eq!(editor.client.call_expecting_error("ghostbench/startTrial", choices), REQUEST_FAILED);
    let written = read_definition(&folder(&project)).expect("readable").expect("it was started");
    assert_eq!((&*written.name, written.is_running()), ("first", true));

    let buffer = editor.open("shop.py", SHOP);
    editor.item(&buffer, find(SHOP, "    \n") + 4);
    wait_until("the opportunity is counted", || {
        editor.client.call("ghostbench/trial", json!({"textDocument": buffer.id()}))["today"]["opportunities"]
            == 1
    });
    // The recorder adds to the row between two looks.
    let mut board = Value::Null;
    wait_until("the command line prints the same numbers", || {
        board = editor.client.call("ghostbench/scoreboard", json!({"trial": true}));
        let printed = project.run("trial scoreboard --json").expect_code(0).stdout;
        board["summary"] == serde_json::from_str::<Value>(&printed).expect("it is JSON")
    });
    assert_eq!(board["trial"], "first");
    assert!(board["text"].as_str().is_some_and(|text| text.contains("scripted")), "{board}");

    assert_eq!(
        editor.client.call("ghostbench/stopTrial", Value::Null),
        json!({"name": "first", "revealed": []})
    );
    assert_eq!(wait_for_state(&editor, "off")["name"], Value::Null);
    assert_eq!(editor.client.call_expecting_error("ghostbench/stopTrial", Value::Null), REQUEST_FAILED);
    editor.client.exit();
}

#[test]
fn engines_that_send_code_are_confirmed_with_the_present_settings() {
    let project = Project::new("");
    let far = json!([{"name": "far", "kind": "openai", "url": "https://models.example", "model": "m"}]);
    let options = json!({"completion": {"deadlineMs": 600_000}, "engine": far, "trusted": true});
    let editor = Editor::start(&project, &[], setup(&project, options));
    let choices = |confirmed: Value| json!({"mode": "shadow", "arms": ["builtin", "far"], "name": "first", "confirmed": confirmed});
    for unconfirmed in [json!([]), json!(["far: sends nothing"])] {
        let asked = editor.client.call("ghostbench/startTrial", choices(unconfirmed));
        assert_eq!(asked["started"], false);
        let line = asked["disclosures"][0].as_str().expect("a line");
        assert!(
            line.starts_with("far: sends the file at the cursor") && line.contains("models.example"),
            "{line}"
        );
        assert_eq!(read_definition(&folder(&project)).expect("readable"), None);
    }
    let asked = editor.client.call("ghostbench/startTrial", choices(json!([])));
    let started = editor.client.call("ghostbench/startTrial", choices(asked["disclosures"].clone()));
    assert_eq!(started["started"], true);
    wait_for_state(&editor, "running");
    editor.client.exit();
}

#[test]
fn limits_and_weights_are_those_of_the_editor_and_hidden_names_are_revealed_at_the_end() {
    let project = Project::new("");
    let far = json!([{"name": "far", "kind": "openai", "url": "https://models.example", "model": "m", "priceIn": 2}]);
    let options = json!({"completion": {"deadlineMs": 600_000}, "engine": far, "trusted": true});
    let editor = Editor::start(&project, &[], setup(&project, options));
    let mut choices = json!({
        "mode": "assign", "arms": ["builtin", "far"], "name": "first", "unit": "day", "weights": {"far": 0},
        "requestsPerDay": {"far": 300}, "margin": 0.05, "primary": "edit_similarity",
    });
    assert_eq!(editor.client.call_expecting_error("ghostbench/startTrial", choices.clone()), REQUEST_FAILED);
    choices["weights"]["far"] = json!(3);
    let asked = editor.client.call("ghostbench/startTrial", choices.clone());
    let line = asked["disclosures"][0].as_str().expect("a line");
    assert!(line.ends_with("at most 300 requests a day, costs money: at most 1 a day"), "{line}");
    choices["confirmed"] = asked["disclosures"].clone();
    assert_eq!(editor.client.call("ghostbench/startTrial", choices)["started"], true);
    wait_for_state(&editor, "running");
    let written = read_definition(&folder(&project)).expect("readable").expect("it was started");
    let far = &written.arms[1];
    assert_eq!((far.weight, far.requests_per_day, far.budget_per_day), (3.0, Some(300), Some(1.0)));
    assert_eq!(
        (written.unit, written.margin, written.primary),
        (cases::AssignmentUnit::Day, 0.05, cases::Metric::EditSimilarity)
    );
    let stopped = editor.client.call("ghostbench/stopTrial", Value::Null);
    let revealed = stopped["revealed"].as_array().expect("a list");
    let mut names: Vec<&str> = revealed.iter().filter_map(|arm| arm["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!((names, &revealed[0]["shownAs"]), (vec!["builtin", "far"], &json!("engine 1")));
    wait_for_state(&editor, "off");
    editor.client.exit();
}

#[test]
fn the_reason_of_a_pause_is_reported_and_arms_stay_blind() {
    let project = Project::new("");
    let mut blind = definition();
    blind.mode = TrialMode::Assign;
    blind.arms = ["scripted", "builtin"].map(|name| cases::TrialArm::new(name.to_owned())).to_vec();
    write_definition(&folder(&project), &blind).expect("the definition is written");
    let editor = editor(&project);
    let state = wait_for_state(&editor, "running");
    assert_eq!((&state["mode"], &state["arms"]), (&json!("assign"), &Value::Null));
    let buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    editor.client.wait(editor.ask(&buffer, cursor)).expect("it is answered");
    wait_until("the opportunity is stored", || !rows(&project).is_empty());
    let board = editor.client.call("ghostbench/scoreboard", json!({"trial": true})).to_string();
    assert!(
        ["engine 1", "engine 2"].iter().any(|alias| board.contains(alias))
            && !["scripted", "builtin"].iter().any(|name| board.contains(name)),
        "{board}"
    );
    let settings = json!({"completion": {"deadlineMs": 600_000}, "record": {"privacy": "off"}});
    editor.client.notify("workspace/didChangeConfiguration", json!({"settings": {"ghostbench": settings}}));
    let paused = wait_for_state(&editor, "paused");
    assert!(paused["reason"].as_str().is_some_and(|reason| reason.contains("record.privacy")), "{paused}");
    std::fs::write(folder(&project).join("trial.json"), "{").expect("the folder is ours");
    let off = wait_for_state(&editor, "off");
    assert!(off["message"].as_str().is_some_and(|message| message.contains("trial.json")), "{off}");
    editor.client.exit();
}

#[test]
fn reports_of_the_editor_decide_what_became_of_a_suggestion() {
    let project = Project::new("");
    write_definition(&folder(&project), &definition()).expect("the definition is written");
    let editor = editor(&project);
    wait_for_state(&editor, "running");
    let mut buffer = editor.open("shop.py", SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    let item = editor.item(&buffer, cursor);
    let dismiss = |path: &str, item: &Value| {
        let params = json!({"textDocument": {"uri": editor.uri(path)}, "item": item, "reason": "rejected"});
        editor.client.notify("ghostbench/didDismissCompletion", params);
    };
    let unknown = |id: &str| json!({"command": {"title": "", "command": "other", "arguments": [id]}});
    // Ids of other servers and of no item are ignored.
    for item in [unknown("999999"), unknown("x"), unknown("")] {
        editor.client.notify("textDocument/didShowCompletion", json!({"item": item}));
        dismiss("shop.py", &item);
    }
    editor.client.notify("textDocument/didShowCompletion", json!({"item": item}));
    editor.change(buffer.edit(cursor..cursor, "tot"));
    let partial = json!({"item": item, "acceptedLength": 3});
    editor.client.notify("textDocument/didPartiallyAcceptCompletion", partial);
    let end = cursor + 3;
    editor.change(buffer.edit(end..end, "(1)"));
    let identified = json!({"textDocument": buffer.id(), "provenance": "other_provider"});
    editor.client.notify("ghostbench/didIdentifyChange", identified);
    wait_until("the text has settled", || rows(&project).first().is_some_and(|row| !row.truths.is_empty()));

    let item = editor.item(&editor.open("till.py", SHOP), cursor);
    dismiss("till.py", &item);
    editor.client.exit();
    let rows = rows(&project);
    let [accepted, rejected] = &rows[..] else { panic!("{rows:?}") };
    let outcome = &accepted.outcome;
    assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Accepted, false));
    assert_eq!((&outcome.parts[..], outcome.accepted_chars), (&[AcceptedPart::Word][..], 3));
    let truth = accepted.truth().expect("there is a truth");
    let spans: Vec<_> =
        truth.provenance.iter().map(|span| (&truth.text[span.range.clone()], span.provenance)).collect();
    assert_eq!(spans, [("tot", Provenance::Accepted), ("(1)", Provenance::OtherProvider)]);
    assert_eq!((rejected.outcome.kind, rejected.outcome.is_inferred), (OutcomeKind::Rejected, false));
}
