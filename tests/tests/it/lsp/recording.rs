//! `ghostbench/recordCase`, `cases`, `case` and code lenses: what stands at a cursor becomes a case, and its place is kept.

use std::fs;
use std::path::PathBuf;

use cases::{Case, Exposure, parse_lines};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, INVALID_PARAMS, find};
use super::scripts::{RULES, assert_in_step};

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

/// Records the case at the only place of `needle`.
#[track_caller]
pub(super) fn record(editor: &Editor, buffer: &Buffer, needle: &str) -> Value {
    editor.client.call("ghostbench/recordCase", cursor(buffer, find(buffer.text(), needle)))
}

/// A document and a place in it.
#[track_caller]
pub(super) fn cursor(buffer: &Buffer, offset: usize) -> Value {
    json!({"textDocument": buffer.id(), "position": buffer.position(offset)})
}

/// All cases.
#[track_caller]
pub(super) fn all_cases(editor: &Editor) -> Vec<Value> {
    list(editor.client.call("ghostbench/cases", json!({}))["cases"].take())
}

/// A case as it stands in the suite.
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
fn a_case_holds_what_the_editor_shows_not_what_is_saved() {
    let project = Project::new("//- /shop.py\nsaved = 1\n");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    let place = find(SHOP, "order.price");
    editor.change(buffer.edit(place..place + 11, "order.cost * '😀'"));
    let case = case(&editor, &record(&editor, &buffer, "for order"));
    assert_eq!(case.truth, LOOP.replace("order.price", "order.cost * '😀'"));
}

#[test]
fn recording_twice_adds_once() {
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
fn a_command_records_too() {
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
fn where_no_block_stands_nothing_is_recorded_and_the_reason_is_told() {
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
fn a_case_that_nobody_recorded_is_an_error() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    assert_eq!(editor.client.call_in_vain("ghostbench/case", json!({"id": "0123"})), INVALID_PARAMS);
}

#[test]
fn a_lens_stands_at_the_case_and_follows_edits() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    editor.client.expect_request("workspace/codeLens/refresh");
    assert_lens_at(&editor, &buffer, "for order");
    editor.change(buffer.edit(0..0, "# One line\r\n# and another '😀'\n"));
    assert_lens_at(&editor, &buffer, "for order");
    let place = find(buffer.text(), "result = 0");
    editor.change(buffer.edit(place..place + 10, "result = 0\n    count = 1"));
    assert_lens_at(&editor, &buffer, "for order");
    // What is below does not move it.
    editor.change(buffer.append("\n\nx = 1\n"));
    assert_lens_at(&editor, &buffer, "for order");
}

#[track_caller]
fn assert_lens_at(editor: &Editor, buffer: &Buffer, needle: &str) {
    let lenses = lenses(editor, buffer);
    assert_eq!(lenses.len(), 1, "{lenses:?}");
    let line = buffer.position(find(buffer.text(), needle))["line"].clone();
    assert_eq!(lenses[0]["range"]["start"]["line"], line);
    assert_eq!(lenses[0]["command"]["command"], "ghostbench.replay");
    let title = lenses[0]["command"]["title"].as_str().expect("a lens has a title");
    assert!(title.contains("full_block"), "the scenario is shown: {title}");
}

#[test]
fn a_lens_goes_with_its_text() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    record(&editor, &buffer, "if radius");
    assert_eq!(lenses(&editor, &buffer).len(), 2);
    let start = find(buffer.text(), "    for order");
    let end = find(buffer.text(), "    return result\n");
    editor.change(buffer.edit(start..end, ""));
    assert_lens_at(&editor, &buffer, "if radius");
    assert_eq!(all_cases(&editor).len(), 2, "the case itself stays");
}

#[test]
fn lenses_are_there_again_when_the_document_is_opened_again() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    editor.close(&buffer);
    let changed_meanwhile = format!("# A line more.\n{SHOP}");
    let reopened = editor.open("shop.py", &changed_meanwhile);
    assert_lens_at(&editor, &reopened, "for order");
    editor.close(&reopened);
    let gone = editor.open("shop.py", "x = 1\n");
    assert_eq!(lenses(&editor, &gone), Vec::<Value>::new());
}

#[test]
fn cases_survive_the_server() {
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
fn two_servers_of_one_workspace_lose_no_case_to_each_other() {
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
fn a_case_says_whether_a_suggestion_stood_there() {
    let project = Project::new("");
    let rules = json!([{"path": "shop.py", "text": LOOP}]);
    let editor = Editor::scripted(&project, &rules);
    let mut buffer = editor.open("shop.py", &SHOP.replace(LOOP, ""));
    let cursor = find(buffer.text(), "    \n    return result") + 4;
    let item = editor.item(&buffer, cursor);
    editor.change(buffer.edit(cursor..cursor, LOOP));
    let shown = case(&editor, &record(&editor, &buffer, LOOP)).origin;
    assert_eq!((shown.exposure, shown.exposed_arm.as_deref()), (Exposure::Shown, Some("scripted")));
    let unseen = case(&editor, &record(&editor, &buffer, "if radius")).origin;
    assert_eq!((unseen.exposure, unseen.exposed_arm), (Exposure::None, None));
    let params = json!({"command": item["command"]["command"], "arguments": item["command"]["arguments"]});
    editor.client.call("workspace/executeCommand", params);
    // Its identity is that of the question, so it is recorded again in other surroundings.
    editor.change(buffer.append("# The end.\n"));
    let accepted = case(&editor, &record(&editor, &buffer, LOOP)).origin;
    assert_eq!(accepted.exposure, Exposure::Accepted);
}

#[test]
fn recording_while_edits_come_in_takes_the_text_of_its_moment() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", SHOP);
    let params = cursor(&buffer, find(SHOP, LOOP));
    let id = editor.client.request("ghostbench/recordCase", params);
    editor.change(buffer.edit(0..SHOP.len(), "x = 1\n"));
    let recorded = editor.client.wait(id).expect("it is recorded");
    assert_eq!(case(&editor, &recorded).truth, LOOP);
    assert_in_step(&editor, &buffer);
    assert_eq!(lenses(&editor, &buffer), Vec::<Value>::new());
}
