//! A case recorded at a suggestion's position contains the suggestion's outcome: shown, accepted or ignored.

use cases::{Exposure, Origin};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Encoding};

use super::editor::{Editor, find, items, setup};
use super::recording::{LOOP, SHOP, case, record};
use super::scripted_engine::{RULES, TALK};

/// Records a case at the only occurrence of `needle`, and returns the case's origin.
#[track_caller]
pub(crate) fn origin(editor: &Editor, buffer: &Buffer, needle: &str) -> Origin {
    case(editor, &record(editor, buffer, needle)).origin
}

/// Runs the command of an item, as editors do after inserting it.
#[track_caller]
pub(crate) fn accept(editor: &Editor, item: &Value) {
    let params = json!({"command": item["command"]["command"], "arguments": item["command"]["arguments"]});
    assert_eq!(editor.client.call("workspace/executeCommand", params), Value::Null);
}

#[test]
fn case_records_whether_a_suggestion_was_shown_or_accepted() {
    let project = Project::new("");
    let rules = json!([{"path": "shop.py", "text": LOOP}]);
    let editor = Editor::scripted(&project, &rules);
    let mut buffer = editor.open("shop.py", &SHOP.replace(LOOP, ""));
    let cursor = find(buffer.text(), "    \n    return result") + 4;
    let item = editor.item(&buffer, cursor);
    editor.change(buffer.edit(cursor..cursor, LOOP));
    let shown = origin(&editor, &buffer, LOOP);
    assert_eq!((shown.exposure, shown.exposed_arm.as_deref()), (Exposure::Shown, Some("scripted")));
    let unseen = origin(&editor, &buffer, "if radius");
    assert_eq!((unseen.exposure, unseen.exposed_arm), (Exposure::None, None));
    accept(&editor, &item);
    // Its identity is that of the hole, so it is recorded again in other surroundings.
    editor.change(buffer.append("# The end.\n"));
    let accepted = origin(&editor, &buffer, LOOP);
    assert_eq!(accepted.exposure, Exposure::Accepted);
}

#[test]
fn item_command_marks_the_suggestion_as_accepted() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("talk.py", "x = 1\n");
    let item = editor.item(&buffer, 6);
    let command = &item["command"];
    assert_eq!(command["command"], "ghostbench.didAcceptCompletionItem");
    assert!(command["arguments"][0].is_string(), "its one argument is the item's id: {item}");
    // Editors insert first, then run the command; some also report the shown item before.
    editor.client.notify("textDocument/didShowCompletion", json!({"item": item}));
    editor.change(buffer.append(TALK));
    accept(&editor, &item);
    let origin = origin(&editor, &buffer, TALK);
    assert_eq!((origin.exposure, origin.exposed_arm.as_deref()), (Exposure::Accepted, Some("scripted")));
}

#[test]
fn ignored_suggestion_is_recorded_as_shown() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("talk.py", "x = 1\n");
    let item = editor.item(&buffer, 6);
    editor.client.notify("textDocument/didShowCompletion", json!({"item": item}));
    editor.change(buffer.append("y = 2\n"));
    let origin = origin(&editor, &buffer, "y = 2");
    assert_eq!((origin.exposure, origin.exposed_arm.as_deref()), (Exposure::Shown, Some("scripted")));
}

#[test]
fn partial_acceptance_is_counted_in_utf16_units() {
    let project = Project::new("");
    let suggestion = "icon = '😀😀😀😀'\n    print(icon)";
    let editor = Editor::scripted(&project, &json!([{"path": "icon.py", "text": suggestion}]));
    let mut buffer = editor.open("icon.py", "def f():\r\n    \r\n\r\nother = 1\r\n");
    let cursor = find(buffer.text(), "    \r\n") + 4;
    let item = editor.item(&buffer, cursor);
    assert_eq!(buffer.ghost_text(cursor, &item), suggestion);
    // In bytes, this ends before the second line; in characters, it extends past the actual text.
    let accepted = "icon = '😀😀😀😀'\n    pr";
    editor.change(buffer.edit(cursor..cursor, &accepted.replace('\n', "\r\n")));
    let partly = json!({"item": item, "acceptedLength": Encoding::Utf16.length(accepted)});
    editor.client.notify("textDocument/didPartiallyAcceptCompletion", partly);
    let end = find(buffer.text(), "    pr") + 6;
    editor.change(buffer.edit(end..end, "ices = icon"));
    assert_eq!(origin(&editor, &buffer, "prices = icon").exposure, Exposure::Accepted);
    assert_eq!(origin(&editor, &buffer, "other = 1").exposure, Exposure::None);
}

#[test]
fn exposure_names_the_engine_that_wrote_the_suggestion() {
    let project = Project::new("");
    let rules = json!([{"path": "late.py", "delay_ms": 500, "text": LOOP}]).to_string();
    let editor = Editor::start(&project, &["--scripted", &rules, "--engine", "builtin"], setup(&project));
    let mut buffer = editor.open("late.py", &SHOP.replace(LOOP, ""));
    let cursor = find(buffer.text(), "    \n    return result") + 4;
    let id = editor.ask(&buffer, cursor);
    tests::wait_until("the engine works on it", || editor.busy() == 1);
    let settings = json!({"settings": {"ghostbench": {"completion": {"engine": "builtin"}}}});
    editor.client.notify("workspace/didChangeConfiguration", settings);
    let answer = editor.client.wait(id).expect("a setting ends no request");
    assert_eq!(items(&answer).len(), 1, "{answer}");
    editor.change(buffer.edit(cursor..cursor, LOOP));
    assert_eq!(origin(&editor, &buffer, LOOP).exposed_arm.as_deref(), Some("scripted"));
}
