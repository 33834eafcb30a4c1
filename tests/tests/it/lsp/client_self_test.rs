//! The client itself: its checks of messages, on which every other test relies, detect violations.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use tests::lsp::{Client, ClientSetup};
use tests::{Project, wait_until};

use super::editor::{Editor, setup};
use super::handshake::wait_until_ready;
use super::scripted_engine::RULES;

#[test]
fn client_reports_unread_responses() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    editor.client.request("ghostbench/status", Value::Null);
    assert!(complaint(editor).contains("unread answers to {2}"));
}

#[test]
fn client_reports_duplicate_responses() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let request = json!({"jsonrpc": "2.0", "id": 4711, "method": "ghostbench/status"});
    editor.client.send(&request);
    editor.client.wait_for_response(&4711.into());
    editor.client.send(&request);
    wait_until("it is answered again", || editor.client.is_answered(4711));
    assert!(complaint(editor).contains("4711"));
}

#[test]
fn client_reports_unexpected_notifications() {
    let project = Project::new("//- /a.py\nprint(1)\n");
    let editor = Editor::start(&project, &[], ClientSetup::default().folder(&project.root()));
    wait_until_ready(&editor);
    assert!(complaint(editor).contains("ghostbench/didChangeStatus"));
}

#[test]
fn client_reports_a_server_that_never_started() {
    let project = Project::new("");
    let client = Client::spawn(project.ghostbench("no such command"), setup(&project));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(client))).is_err());
}

/// The client's panic message when it is dropped.
fn complaint(editor: Editor) -> String {
    let complaint = catch_unwind(AssertUnwindSafe(|| drop(editor))).expect_err("the client complains");
    *complaint.downcast::<String>().expect("a complaint is a text")
}
