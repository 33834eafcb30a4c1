//! `ghostbench/recordCase`, `cases`, `case` and code lenses: a cursor position becomes a case, and its position follows edits.

use std::fs;
use std::path::PathBuf;

use cases::{Case, parse_lines};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, INVALID_PARAMS, find, items};
use super::handshake::wait_until_ready;
use super::lenses::assert_lens_at;
use super::scripted_engine::{RULES, assert_synchronized};

/// Two functions; the cases are cut from the loop of the first and the branch of the second.
pub(super) const SHOP: &str = "\
import math


def total(orders):
    result = 0
    for order in orders:
        result += order.price
        print('é 😀', result)
    return result


def volume(radius):
    if radius < 0:
        raise ValueError(radius)
    return math.pi * radius
";

/// The loop of `total`.
pub(super) const LOOP: &str =
    "for order in orders:\n        result += order.price\n        print('é 😀', result)";

/// Records the case at the only occurrence of `needle`.
#[track_caller]
pub(super) fn record(editor: &Editor, buffer: &Buffer, needle: &str) -> Value {
    editor.client.call("ghostbench/recordCase", cursor(buffer, find(buffer.text(), needle)))
}

/// A document and a position in it.
#[track_caller]
pub(super) fn cursor(buffer: &Buffer, offset: usize) -> Value {
    json!({"textDocument": buffer.id(), "position": buffer.position(offset)})
}

/// All cases.
#[track_caller]
pub(super) fn all_cases(editor: &Editor) -> Vec<Value> {
    list(editor.client.call("ghostbench/cases", json!({}))["cases"].take())
}

/// Reads a case from the suite.
#[track_caller]
pub(super) fn case(editor: &Editor, recorded: &Value) -> Case {
    let mut result = editor.client.call("ghostbench/case", json!({"id": recorded["case"]["id"]}));
    serde_json::from_value(result["case"].take()).expect("it is a case")
}

/// The code lenses of a document, each resolved.
#[track_caller]
pub(super) fn lenses(editor: &Editor, buffer: &Buffer) -> Vec<Value> {
    let answer = editor.client.call("textDocument/codeLens", json!({"textDocument": buffer.id()}));
    if answer.is_null() { Vec::new() } else { list(answer) }
}

#[track_caller]
fn list(value: Value) -> Vec<Value> {
    let Value::Array(list) = value else { panic!("no list: {value}") };
    list
}

#[track_caller]
fn suite(recorded: &Value) -> PathBuf {
    recorded["suite"].as_str().expect("the suite is a file").into()
}

#[track_caller]
fn suite_cases(recorded: &Value) -> Vec<Case> {
    let text = fs::read_to_string(suite(recorded)).expect("the suite can be read");
    parse_lines(&text).expect("the suite is whole").rows
}

#[test]
fn the_block_at_the_cursor_becomes_a_case_of_the_suite() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("shop.py", SHOP);
    let recorded = record(&editor, &buffer, LOOP);
    assert_eq!(recorded["added"], true);
    let summary = &recorded["case"];
    assert_eq!(summary["scenario"], "full_block");
    assert_eq!(summary["blockKind"], "for");
    assert_eq!(summary["language"], "python");
    assert_eq!((&summary["uri"], &summary["path"]), (&buffer.uri().into(), &"shop.py".into()));
    assert_eq!(summary["line"], 5);
    assert_eq!(summary["results"], json!([]));
    let case = case(&editor, &recorded);
    assert_eq!(case.truth, LOOP);
    assert_eq!([case.prefix.as_str(), &case.truth, &case.suffix].concat(), SHOP);
    assert_eq!(suite_cases(&recorded), [case]);
    assert!(suite(&recorded).starts_with(project.home()), "nothing is written into the workspace");
    assert!(fs::read_dir(project.root()).is_ok_and(|mut files| files.next().is_none()));
}

#[test]
fn case_is_cut_from_the_unsaved_text() {
    let project = Project::new("//- /shop.py\nsaved = 1\n");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    let place = find(SHOP, "order.price");
    editor.change(buffer.edit(place..place + 11, "order.cost * '😀'"));
    let case = case(&editor, &record(&editor, &buffer, "for order"));
    assert_eq!(case.truth, LOOP.replace("order.price", "order.cost * '😀'"));
}

#[test]
fn recording_twice_adds_one_case() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("shop.py", SHOP);
    let first = record(&editor, &buffer, LOOP);
    let second = record(&editor, &buffer, LOOP);
    assert_eq!((&first["added"], &second["added"]), (&true.into(), &false.into()));
    assert_eq!(first["case"]["id"], second["case"]["id"]);
    assert_eq!(suite_cases(&second).len(), 1);
    assert_eq!(all_cases(&editor).len(), 1);
}

#[test]
fn cases_are_listed_in_order_and_by_document() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let (one, two) = (editor.open("one.py", SHOP), editor.open("two.py", SHOP));
    let recorded =
        [record(&editor, &one, LOOP), record(&editor, &two, LOOP), record(&editor, &one, "if radius")];
    let ids = |cases: &[Value]| cases.iter().map(|case| case["id"].clone()).collect::<Vec<_>>();
    let expected: Vec<_> = recorded.iter().map(|recorded| recorded["case"]["id"].clone()).collect();
    assert_eq!(ids(&all_cases(&editor)), expected);
    let of_one = editor.client.call("ghostbench/cases", json!({"textDocument": one.id()}));
    assert_eq!(ids(&list(of_one["cases"].clone())), [expected[0].clone(), expected[2].clone()]);
}

#[test]
fn record_command_records_a_case() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("shop.py", SHOP);
    let arguments = json!([cursor(&buffer, find(SHOP, LOOP))]);
    let params = json!({"command": "ghostbench.recordCase", "arguments": arguments});
    let recorded = editor.client.call("workspace/executeCommand", params);
    assert_eq!(recorded["added"], true);
    assert_eq!(all_cases(&editor).len(), 1);
}

#[test]
fn recording_without_a_block_fails_with_a_reason() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for (path, text) in [("empty.py", ""), ("comment.py", "# Only words.\n")] {
        let buffer = editor.open(path, text);
        let id = editor.client.request("ghostbench/recordCase", cursor(&buffer, 0));
        let error = editor.client.wait(id).expect_err(path);
        assert!(error["message"].as_str().is_some_and(|why| !why.is_empty()), "{error}");
    }
    assert_eq!(all_cases(&editor), Vec::<Value>::new());
}

#[test]
fn a_document_over_the_size_limit_is_not_recorded() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("large.py", &"value = 'a line of generated data'\n".repeat(70_000));
    let id = editor.client.request("ghostbench/recordCase", cursor(&buffer, 0));
    let error = editor.client.wait(id).expect_err("it is too large");
    assert!(error["message"].as_str().is_some_and(|why| why.contains("MiB")), "{error}");
}

#[test]
fn unknown_case_id_is_an_error() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    assert_eq!(editor.client.call_expecting_error("ghostbench/case", json!({"id": "0123"})), INVALID_PARAMS);
}

#[test]
fn cases_survive_a_server_restart() {
    let project = Project::new("");
    let recorded = {
        let editor = Editor::scripted(&project, &RULES);
        let buffer = editor.open("shop.py", SHOP);
        record(&editor, &buffer, LOOP)
    };
    let editor = Editor::scripted(&project, &RULES);
    let cases = all_cases(&editor);
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0]["id"], recorded["case"]["id"]);
    let buffer = editor.open("shop.py", SHOP);
    assert_lens_at(&editor, &buffer, "for order");
    assert_eq!(record(&editor, &buffer, LOOP)["added"], false);
}

#[test]
fn two_servers_of_a_workspace_keep_each_others_cases() {
    let project = Project::new("");
    let editors = [Editor::scripted(&project, &RULES), Editor::scripted(&project, &RULES)];
    let functions: String =
        (0..20).map(|n| format!("def f{n}(x):\n    y{n} = x\n    return y{n} + {n}\n\n\n")).collect();
    let buffers = [editors[0].open("one.py", &functions), editors[1].open("two.py", &functions)];
    let mut asked = Vec::new();
    for number in 0..20 {
        for (editor, buffer) in editors.iter().zip(&buffers) {
            let place = find(buffer.text(), &format!("y{number} = x"));
            asked.push((editor, editor.client.request("ghostbench/recordCase", cursor(buffer, place))));
        }
    }
    let answers = asked.into_iter().map(|(editor, id)| editor.client.wait(id).expect("it is recorded"));
    let recorded: Vec<_> = answers.collect();
    assert!(recorded.iter().all(|recorded| recorded["added"] == true));
    let mut ids: Vec<_> = suite_cases(&recorded[0]).into_iter().map(|case| case.id).collect();
    ids.sort_unstable();
    let mut expected: Vec<_> =
        recorded.iter().filter_map(|recorded| recorded["case"]["id"].as_str()).collect();
    expected.sort_unstable();
    assert_eq!(ids, expected);
    for editor in &editors {
        assert_eq!(all_cases(editor).len(), 40, "each server sees the other's cases");
    }
}

#[test]
fn recording_uses_the_text_at_the_time_of_the_request() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", SHOP);
    let params = cursor(&buffer, find(SHOP, LOOP));
    let id = editor.client.request("ghostbench/recordCase", params);
    editor.change(buffer.edit(0..SHOP.len(), "x = 1\n"));
    let recorded = editor.client.wait(id).expect("it is recorded");
    assert_eq!(case(&editor, &recorded).truth, LOOP);
    assert_synchronized(&editor, &buffer);
    assert_eq!(lenses(&editor, &buffer), Vec::<Value>::new());
}

#[test]
fn skipped_files_are_neither_completed_nor_recorded() {
    let project = Project::new(
        "//- /.gitignore\ngenerated.py\n//- /shop.py\nx = 1\n//- /generated.py\nx = 1\n//- /node_modules/a/index.js\nx = 1\n",
    );
    let editor = Editor::scripted(&project, &json!([{"text": "y = 2"}]));
    wait_until_ready(&editor);
    assert_eq!(editor.ghost_text(&editor.open("shop.py", "x = 1\n"), 6), "y = 2");
    for path in ["generated.py", "node_modules/a/index.js"] {
        let buffer = editor.open(path, "x = 1\n");
        let id = editor.ask_at_end(&buffer);
        assert_eq!(items(&editor.client.wait(id).expect("a gate is no failure")), Vec::<Value>::new());
        let last = editor.status()["lastCompletion"].take();
        assert_eq!(last["status"], "gated", "{path}");
        let reason = last["reason"].as_str().expect("a gate has a reason");
        let id = editor.client.request("ghostbench/recordCase", cursor(&buffer, 0));
        let error = editor.client.wait(id).expect_err("it is left out");
        assert!(error["message"].as_str().is_some_and(|why| why.contains(reason)), "{reason}: {error}");
    }
}
