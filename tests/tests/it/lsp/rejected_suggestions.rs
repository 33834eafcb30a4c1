//! What was rejected at a place twice is not shown there again.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{AUTOMATIC, Editor, INVOKED, completion_params, items};

const TEXT: &str = "total = \nother = \n";

fn editor(project: &Project) -> Editor {
    Editor::scripted(project, &json!([{"path": "", "text": "compute(1)"}]))
}

fn suggestions(editor: &Editor, buffer: &Buffer, offset: usize, trigger: u8) -> Vec<Value> {
    items(&editor.client.call("textDocument/inlineCompletion", completion_params(buffer, offset, trigger)))
}

#[test]
fn suggestion_dismissed_twice_comes_back_only_on_request() {
    let project = Project::new("");
    let editor = editor(&project);
    let buffer = editor.open("a.py", TEXT);
    let (first_line, second_line) = ("total = ".len(), "total = \nother = ".len());
    for reason in ["rejected", "ignored", "ignored", "rejected"] {
        assert_eq!(suggestions(&editor, &buffer, first_line, AUTOMATIC).len(), 1);
        editor.dismiss(&buffer, reason);
    }
    assert!(suggestions(&editor, &buffer, first_line, AUTOMATIC).is_empty());
    assert_eq!(editor.last_completion(), "gated");
    assert_eq!(suggestions(&editor, &buffer, first_line, INVOKED).len(), 1);
    assert_eq!(suggestions(&editor, &buffer, second_line, AUTOMATIC).len(), 1, "another line");
    editor.client.exit();
}

#[test]
fn unwanted_suggestion_is_not_shown_again_without_a_trial() {
    let project = Project::new("");
    let editor = editor(&project);
    let mut buffer = editor.open("a.py", TEXT);
    let cursor = "total = ".len();
    assert_eq!(suggestions(&editor, &buffer, cursor, AUTOMATIC).len(), 1);
    let place = json!({"textDocument": buffer.id(), "position": {"line": 0, "character": cursor}});
    let params = json!({"command": "ghostbench.notWanted", "arguments": [place]});
    // Nothing is recorded without a trial, and the command says so.
    editor.client.call_expecting_error("workspace/executeCommand", params);
    assert!(suggestions(&editor, &buffer, cursor, AUTOMATIC).is_empty());
    // The place moves along with edits above it.
    editor.change(buffer.edit(0..0, "import math\n"));
    assert!(suggestions(&editor, &buffer, cursor + "import math\n".len(), AUTOMATIC).is_empty());
    editor.client.exit();
}
