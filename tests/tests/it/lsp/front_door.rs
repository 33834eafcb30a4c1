//! The front door in the process of the language server: a plugin in the same editor takes part in its trial.

use std::net::{TcpListener, TcpStream};

use cases::{OutcomeKind, TruthStage};
use serde_json::json;
use tests::front_door::exchange;
use tests::{Project, wait_until};

use super::editor::{Editor, find, setup};
use super::trial::{SHOP, SUGGESTION, rows, save, start_trial, type_before};
use crate::serve::infill;
use crate::settings::user_file;
use crate::trial_rows::{spans, wait_for_row};

/// A port that is free now.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    listener.local_addr().expect("it is bound").to_string()
}

/// An editor whose server opens the front door at an address.
fn editor(project: &Project, address: &str) -> Editor {
    user_file(
        project,
        &format!("[serve]\nenabled = true\nlisten = \"{address}\"\n[trial]\nsettled_ms = 200\n"),
    );
    let rules = json!([{"path": "shop.py", "text": SUGGESTION}]).to_string();
    Editor::start(project, &["--scripted", &rules], setup(project))
}

#[test]
fn requests_of_a_plugin_are_recorded_between_the_edits_of_the_editor() {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    start_trial(&project);
    let address = free_address();
    let editor = editor(&project, &address);
    wait_until("the trial runs", || editor.status()["trial"]["name"] == "first");
    wait_until("the front door is open", || TcpStream::connect(&address).is_ok());
    wait_until("the folder is read", || {
        let reply = exchange(&address, "GET", "/ghostbench/status", &[], b"");
        reply.json()["folders"][0]["state"] == "ready"
    });
    let mut buffer = editor.open("shop.py", SHOP);
    type_before(&editor, &mut buffer, "\n\n\ndef", "net = 1");
    // The server has read all edits when it answers.
    editor.status();
    let cursor = find(buffer.text(), "net = 1") + 7;
    let (prefix, suffix) = buffer.text().split_at(cursor);
    let body = infill(prefix, suffix).to_string();
    let reply = exchange(&address, "POST", "/infill", &[], body.as_bytes());
    assert_eq!(reply.json()["content"], SUGGESTION);
    let before = buffer.text().to_owned();
    wait_for_row(&project, "it is answered", |row| row.shown_answer().is_some());
    type_before(&editor, &mut buffer, "\n\n\ndef", " + 2");
    save(&editor, &buffer);
    let row = wait_for_row(&project, "it is saved", |row| {
        row.truths.iter().any(|truth| truth.stage == TruthStage::Save)
    });
    assert_eq!((&*row.cursor.path, &*row.cursor.prefix), ("shop.py", &before[..cursor]));
    // The editor's edits are known key by key.
    assert_eq!(spans(&row), [("+ 2", "typed")]);
    assert_ne!(row.outcome.kind, OutcomeKind::Accepted);
    assert_eq!(rows(&project).len(), 1);
    editor.client.exit();
}

#[test]
fn a_taken_port_is_shown_and_the_server_goes_on() {
    let project = Project::new("");
    let taken = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let address = taken.local_addr().expect("it is bound").to_string();
    let editor = editor(&project, &address);
    let shown = editor.client.expect_notification("window/showMessage");
    let message = shown["message"].as_str().expect("a message");
    assert!(message.contains(&address) && message.contains("another program listens"), "{message}");
    let buffer = editor.open("shop.py", SHOP);
    assert_eq!(editor.ghost_text(&buffer, find(SHOP, "    \n") + 4), SUGGESTION);
    editor.client.exit();
}
