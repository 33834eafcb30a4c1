//! Folders that are added and removed: small ones and those being edited are read first, and reading a removed one stops early.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::ClientSetup;

use super::editor::Editor;

/// This many entries make a folder large.
const LARGE_FOLDER_ENTRIES: usize = 1_100;

fn folder(editor: &Editor, name: &str) -> Value {
    json!({"uri": editor.uri(name), "name": name})
}

fn change(editor: &Editor, added: &[&str], removed: &[&str]) {
    let folders = |names: &[&str]| -> Vec<Value> { names.iter().map(|name| folder(editor, name)).collect() };
    let event = json!({"added": folders(added), "removed": folders(removed)});
    editor.client.notify("workspace/didChangeWorkspaceFolders", json!({"event": event}));
}

/// Received status notifications.
#[derive(Default)]
struct Statuses {
    begun: usize,
    ended: usize,
    messages: Vec<String>,
}

impl Statuses {
    fn take_next(&mut self, editor: &Editor) {
        let status = editor.client.expect_notification("ghostbench/didChangeStatus");
        if status["busy"] == true {
            self.begun += 1;
        } else {
            self.ended += 1;
        }
        self.messages.push(status["message"].as_str().expect("a message").to_owned());
    }

    fn has(&self, message: &str) -> bool {
        self.messages.iter().any(|known| known == message)
    }
}

fn project() -> Project {
    let project = Project::generated(LARGE_FOLDER_ENTRIES);
    project.write("small/a.py", "x = 1\n");
    project
}

#[test]
fn a_small_folder_does_not_wait_for_a_large_one() {
    let project = project();
    let editor = Editor::start(&project, &[], ClientSetup::default());
    change(&editor, &["shop"], &[]);
    let mut statuses = Statuses::default();
    statuses.take_next(&editor);
    change(&editor, &["small"], &[]);
    while !statuses.has("small is read") {
        statuses.take_next(&editor);
    }
    assert!(!statuses.has("shop is read"), "the small one came later and was read first");
    // The interrupted work is reported as ended, too.
    editor.client.shutdown();
    while statuses.begun > statuses.ended {
        statuses.take_next(&editor);
    }
    assert!(
        statuses.has("reading shop was stopped") || statuses.has("shop is read"),
        "{:?}",
        statuses.messages
    );
    editor.client.exit().expect_code(0);
}

#[test]
fn folder_is_indexed_after_thousands_of_folder_changes() {
    let project = project();
    let editor = Editor::start(&project, &[], ClientSetup::default());
    for _ in 0..1_500 {
        change(&editor, &["shop"], &[]);
        change(&editor, &[], &["shop"]);
    }
    change(&editor, &["small"], &[]);
    let mut statuses = Statuses::default();
    while !statuses.has("small is read") || statuses.begun > statuses.ended {
        statuses.take_next(&editor);
    }
    let status = editor.status();
    let names: Vec<&Value> =
        status["folders"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["small"]);
}
