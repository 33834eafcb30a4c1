//! `ghostbench/suite` and `suiteCase`: the cases of a suite file are shown in the editor, replayed and scored there.

use std::fs;
use std::path::PathBuf;

use cases::{BlockCut, Case, CompletionTask, Origin, OriginKind, SchemaVersion, Tags, Task};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::{Buffer, Encoding, uri};

use super::editor::{Editor, INVALID_PARAMS, REQUEST_FAILED, find, setup};
use super::lenses::assert_lens_at;
use super::recording::{LOOP, SHOP, all_cases, lenses};
use super::replay::{rules, title};

/// A case whose truth is the loop of the shop.
fn imported(path: &str) -> Case {
    let start = find(SHOP, LOOP);
    let end = start + LOOP.len();
    let mut case = Case {
        schema: SchemaVersion::CURRENT,
        id: String::new(),
        hole: format!("{path}:{start}-{end}"),
        task: Task::Complete(CompletionTask::FullBlock(BlockCut::BlockStart)),
        language: "python".to_owned(),
        block_kind: None,
        path: path.to_owned(),
        byte_range: start..end,
        line: 5,
        character: 4,
        prefix: SHOP[..start].to_owned(),
        suffix: SHOP[end..].to_owned(),
        truth: LOOP.to_owned(),
        context: Vec::new(),
        function: None,
        tests: None,
        origin: Origin::new(OriginKind::Imported, ""),
        tags: Tags::new(),
    };
    case.id = case.compute_id();
    case
}

/// Writes a suite beside the workspace.
fn write_suite(project: &Project, rows: &[String]) -> PathBuf {
    let path = project.sibling_path("suite.jsonl");
    fs::write(&path, rows.concat()).expect("the folder is ours");
    path
}

fn suite_of(project: &Project, paths: &[&str]) -> String {
    let rows: Vec<String> = paths.iter().map(|path| cases::to_line(&imported(path))).collect();
    uri(&write_suite(project, &rows))
}

#[track_caller]
fn open(editor: &Editor, suite: &str) -> Value {
    editor.client.call("ghostbench/suite", json!({"suite": suite}))
}

#[track_caller]
fn suite_case(editor: &Editor, suite: &str, number: usize) -> Value {
    editor.client.call("ghostbench/suiteCase", json!({"suite": suite, "number": number}))
}

#[track_caller]
fn content(editor: &Editor, uri: &Value) -> String {
    let text = editor.client.call("workspace/textDocumentContent", json!({"uri": uri}))["text"].take();
    text.as_str().expect("a text").to_owned()
}

#[test]
fn imported_cases_have_lenses_and_are_replayed_and_scored() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let (right, wrong) = (editor.open("right.py", SHOP), editor.open("wrong.py", SHOP));
    assert_eq!(lenses(&editor, &right), Vec::<Value>::new());
    let suite = suite_of(&project, &["right.py", "wrong.py", "nowhere.py"]);
    let opened = open(&editor, &suite);
    assert_eq!((&opened["total"], &opened["problems"]), (&json!(3), &json!(0)));
    let id = opened["cases"][0]["id"].clone();
    editor.client.expect_request("workspace/codeLens/refresh");
    assert_lens_at(&editor, &right, "for order");
    assert_lens_at(&editor, &wrong, "for order");
    let replayed = editor.client.call("ghostbench/replay", json!({"target": "case", "case": id}));
    assert_eq!(replayed["cases"][0]["results"][0]["exact"], true, "{replayed}");
    assert!(title(&editor, &right).contains("scripted exact"));
    assert!(title(&editor, &wrong).contains("not replayed yet"));
    let replayed = editor.client.call("ghostbench/replay", json!({"target": "suite", "suite": suite}));
    assert_eq!((&replayed["requests"], &replayed["cancelled"]), (&json!(3), &json!(false)));
    assert!(title(&editor, &wrong).contains("similar"));
    assert_eq!(all_cases(&editor), Vec::<Value>::new(), "nothing was recorded");
    assert_eq!(editor.client.call("ghostbench/case", json!({"id": id}))["case"]["truth"], LOOP);
    let at_right = editor.client.call("ghostbench/cases", json!({"textDocument": right.id()}));
    assert_eq!(at_right["cases"][0]["id"], id);
}

#[test]
fn a_case_is_a_document_with_its_hole_and_one_with_the_answers() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let suite = suite_of(&project, &["wrong.py", "shop/right.py"]);
    open(&editor, &suite);
    let case = suite_case(&editor, &suite, 1);
    assert_eq!(case["text"], SHOP.replace(LOOP, "⟪hole⟫"));
    let shown = Buffer::new("any:a", "python", Encoding::Utf16, case["text"].as_str().unwrap());
    let hole = shown.offset(&case["hole"]["start"])..shown.offset(&case["hole"]["end"]);
    assert_eq!(&shown.text()[hole], "⟪hole⟫");
    let uri = case["uri"].as_str().unwrap();
    assert!(uri.starts_with("ghostbench-suite:/") && uri.ends_with("/right.py"), "{uri}");
    assert_eq!(content(&editor, &case["uri"]), case["text"].as_str().unwrap());
    let answers = content(&editor, &case["answersUri"]);
    assert_eq!(answers, case["answers"].as_str().unwrap());
    assert!(answers.contains(LOOP) && answers.contains("Not replayed yet."), "{answers}");
    editor.client.call("ghostbench/replay", json!({"target": "case", "case": case["case"]["id"]}));
    let answers = content(&editor, &case["answersUri"]);
    assert!(answers.contains("## scripted exact"), "{answers}");
    assert_eq!(answers.matches(LOOP).count(), 2, "{answers}");
}

#[test]
fn answers_are_refreshed_in_editors_that_show_them() {
    let project = Project::new("");
    let setup = setup(&project)
        .capability("/workspace/textDocumentContent", json!({}))
        .answer("workspace/textDocumentContent/refresh", |_| Value::Null);
    let editor = Editor::start(&project, &["--scripted", &rules().to_string()], setup);
    assert_eq!(
        editor.introduction["capabilities"]["workspace"]["textDocumentContent"]["schemes"],
        json!(["ghostbench-suite"])
    );
    let suite = suite_of(&project, &["right.py"]);
    open(&editor, &suite);
    let case = suite_case(&editor, &suite, 0);
    editor.client.call("ghostbench/replay", json!({"target": "case", "case": case["case"]["id"]}));
    let refresh = editor.client.expect_request("workspace/textDocumentContent/refresh");
    assert_eq!(refresh["uri"], case["answersUri"]);
}

#[test]
fn the_command_opens_a_suite_in_parts() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let suite = suite_of(&project, &["a.py", "b.py", "c.py"]);
    let arguments = json!([{"suite": suite, "from": 1}]);
    let listed = editor
        .client
        .call("workspace/executeCommand", json!({"command": "ghostbench.openSuite", "arguments": arguments}));
    assert_eq!((&listed["total"], &listed["cases"][0]["path"]), (&json!(3), &json!("b.py")));
    assert_eq!(listed["cases"].as_array().unwrap().len(), 2);
}

#[test]
fn a_changed_suite_file_is_read_again() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &rules());
    let suite = suite_of(&project, &["a.py"]);
    assert_eq!(open(&editor, &suite)["total"], 1);
    suite_of(&project, &["b.py", "c.py", "right.py"]);
    assert_eq!(open(&editor, &suite)["cases"][2]["path"], "right.py");
    let buffer = editor.open("right.py", SHOP);
    assert_lens_at(&editor, &buffer, "for order");
}

#[test]
fn broken_and_hostile_rows_are_left_out() {
    let project = Project::new("");
    let mut rows: Vec<String> = ["../escape.py", "/etc/passwd.py", "a/../../b.py", "C:\\a.py", "a\0b.py"]
        .map(|path| cases::to_line(&imported(path)))
        .to_vec();
    rows.extend(["{\"schema\":\n".to_owned(), "[]\n".to_owned(), "\u{1b}[31m\n".to_owned(), "\n".to_owned()]);
    let good = cases::to_line(&imported("right.py"));
    rows.extend([good.clone(), good.clone(), good.replace("result", "sum")]);
    let suite = uri(&write_suite(&project, &rows));
    let setup = setup(&project).allow("window/logMessage");
    let editor = Editor::start(&project, &["--scripted", &rules().to_string()], setup);
    let opened = open(&editor, &suite);
    assert_eq!((&opened["total"], &opened["problems"]), (&json!(1), &json!(10)), "{opened}");
    assert_eq!(opened["cases"][0]["path"], "right.py");
    let case = suite_case(&editor, &suite, 0);
    assert_eq!(case["text"], SHOP.replace(LOOP, "⟪hole⟫"));
}

#[test]
fn wrong_requests_are_refused() {
    let project = Project::new("//- /empty.jsonl\n");
    let editor = Editor::scripted(&project, &rules());
    let suite = suite_of(&project, &["right.py"]);
    let refused = |method: &str, params: Value| editor.client.call_expecting_error(method, params);
    let number = |number: u64| json!({"suite": suite, "number": number});
    assert_eq!(refused("ghostbench/suiteCase", number(0)), REQUEST_FAILED, "it is not open");
    assert_eq!(refused("ghostbench/replay", json!({"target": "suite", "suite": suite})), REQUEST_FAILED);
    open(&editor, &suite);
    assert_eq!(refused("ghostbench/suiteCase", number(1)), INVALID_PARAMS);
    for other in ["", "https://host.example/suite.jsonl", "suite.jsonl"] {
        assert_eq!(refused("ghostbench/suite", json!({"suite": other})), INVALID_PARAMS, "{other}");
    }
    let root = uri(&project.root());
    for other in [editor.uri("missing.jsonl"), editor.uri("empty.jsonl"), root] {
        assert_eq!(refused("ghostbench/suite", json!({"suite": other})), REQUEST_FAILED, "{other}");
    }
    for (other, code) in [
        ("file:///etc/passwd", INVALID_PARAMS),
        ("ghostbench-suite:/../../etc/passwd", REQUEST_FAILED),
        ("ghostbench-suite:/0000/a.py", REQUEST_FAILED),
        ("ghostbench-suite:", INVALID_PARAMS),
    ] {
        assert_eq!(refused("workspace/textDocumentContent", json!({"uri": other})), code, "{other}");
    }
}
