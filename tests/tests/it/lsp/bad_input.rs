//! Invalid positions, documents that are not open, URIs that are not files, texts too large: a right answer or a clear error,
//! and the server continues.

use std::fs;

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{AUTOMATIC, Editor, INTERNAL_ERROR, INVALID_PARAMS, completion_params, items, setup};
use super::scripted_engine::{RULES, TALK, assert_synchronized};

/// `MessageType.Warning`.
const WARNING: u8 = 2;

const REQUEST: &str = "textDocument/inlineCompletion";

/// Parameters of a request at any position.
fn at(buffer: &Buffer, line: u32, character: u32) -> Value {
    let position = json!({"line": line, "character": character});
    json!({"textDocument": buffer.id(), "position": position, "context": {"triggerKind": AUTOMATIC}})
}

/// A change of any range.
fn change_at(buffer: &mut Buffer, start: (u32, u32), end: (u32, u32), text: &str) -> Value {
    let position = |(line, character): (u32, u32)| json!({"line": line, "character": character});
    let range = json!({"start": position(start), "end": position(end)});
    buffer.did_change(vec![json!({"range": range, "text": text})])
}

/// The editor's log gets a warning without code.
#[track_caller]
fn expect_warning(editor: &Editor, word: &str) {
    expect_message(editor, "window/logMessage", word);
}

#[track_caller]
fn expect_message(editor: &Editor, method: &str, word: &str) {
    let reported = editor.client.expect_notification(method);
    assert_eq!(reported["type"], WARNING, "{reported}");
    assert!(reported["message"].as_str().is_some_and(|message| message.contains(word)), "{reported}");
}

#[test]
fn position_past_the_line_end_is_clamped_to_it() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", "a = '😀'\r\nb = 2\r\n");
    let answer = editor.client.call(REQUEST, at(&buffer, 0, 1_000));
    assert_eq!(items(&answer).len(), 1, "{answer}");
    editor.change(change_at(&mut buffer, (0, 4), (0, u32::MAX), "1"));
    let mut expected = Buffer::new(buffer.uri(), "python", editor.encoding, "a = 1\r\nb = 2\r\n");
    assert_synchronized(&editor, &expected);
    editor.change(expected.append("c = 3"));
    assert_synchronized(&editor, &expected);
}

#[test]
fn change_past_the_last_line_is_clamped_to_the_text_end() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", "a = 1\nb = 2\n");
    // Editors replace the whole text with a range that is surely large enough.
    editor.change(change_at(&mut buffer, (0, 0), (u32::MAX, 0), "c = 3"));
    let expected = Buffer::new(buffer.uri(), "python", editor.encoding, "c = 3");
    assert_synchronized(&editor, &expected);
}

#[test]
fn request_past_the_last_line_is_invalid_params() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "a = 1\nb = 2\n");
    for line in [3, u32::MAX] {
        assert_eq!(editor.client.call_expecting_error(REQUEST, at(&buffer, line, 0)), INVALID_PARAMS);
        assert_eq!(
            editor.client.call_expecting_error("ghostbench/recordCase", at(&buffer, line, 0)),
            INVALID_PARAMS
        );
    }
    assert_synchronized(&editor, &buffer);
}

#[test]
fn position_inside_a_character_is_invalid_params() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "a = '😀'\n");
    assert_eq!(editor.client.call_expecting_error(REQUEST, at(&buffer, 0, 6)), INVALID_PARAMS);
    assert_synchronized(&editor, &buffer);
}

#[test]
fn invalid_change_desynchronizes_until_the_full_text_arrives() {
    // A byte offset must not split a character.
    let misfits: [((u32, u32), (u32, u32)); 2] = [((1, 0), (0, 0)), ((0, 5), (0, 6))];
    let project = Project::new("");
    let client = setup(&project).encodings(&["utf-8"]);
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    for (start, end) in misfits {
        let mut buffer = editor.open("echo.py", "a = '😀'\nb = 2\n");
        editor.change(change_at(&mut buffer, start, end, "x"));
        expect_message(&editor, "window/showMessage", "echo.py");
        assert_eq!(editor.client.call_expecting_error(REQUEST, at(&buffer, 0, 0)), INVALID_PARAMS);
        let change = buffer.change_all("c = '😀'\n");
        editor.change(buffer.did_change(vec![change]));
        assert_synchronized(&editor, &buffer);
        editor.change(buffer.append("d = 4\n"));
        assert_synchronized(&editor, &buffer);
        editor.close(&buffer);
    }
}

#[test]
fn malformed_change_desynchronizes_the_document() {
    let project = Project::new("");
    let client = setup(&project).allow("window/showMessage");
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let range = |line: Value| {
        let range = json!({"start": {"line": line, "character": 0}, "end": {"line": 1, "character": 0}});
        ("/contentChanges/0/range", range)
    };
    for (path, value) in [
        range(json!(-1)),
        range(json!(4_294_967_296_u64)),
        range(json!("first")),
        ("/contentChanges/0/range", json!("everything")),
        ("/contentChanges/0/range", json!({"start": {"line": 0, "character": 0}})),
        ("/contentChanges/0/text", json!(7)),
        ("/contentChanges", json!({})),
        ("/textDocument/version", Value::Null),
    ] {
        let part = |buffer: &mut Buffer| {
            let mut params = buffer.edit(0..1, "c");
            *params.pointer_mut(path).expect("a change has it") = value.clone();
            editor.change(params);
            assert_desynchronized(&editor, buffer, &format!("{path}: {value}"));
            editor.change(buffer.append("d = 4\n"));
            assert_desynchronized(&editor, buffer, "a change on top of an unknown text");
        };
        let mut buffer = editor.open("echo.py", "a = '😀'\nb = 2\n");
        part(&mut buffer);
        let change = buffer.change_all("e = '😀'\nf = 6\n");
        editor.change(buffer.did_change(vec![change]));
        assert_synchronized(&editor, &buffer);
        part(&mut buffer);
        editor.close(&buffer);
        let reopened = editor.open("echo.py", "g = '😀'\n");
        assert_synchronized(&editor, &reopened);
        editor.close(&reopened);
    }
}

/// Requests for the document return an error with a remedy.
#[track_caller]
fn assert_desynchronized(editor: &Editor, buffer: &Buffer, why: &str) {
    let id = editor.client.request(REQUEST, at(buffer, 0, 0));
    let error = editor.client.wait(id).expect_err(why);
    assert_eq!(error["code"], INVALID_PARAMS, "{why}: {error}");
    assert!(error["message"].as_str().is_some_and(|help| help.contains("open it again")), "{why}: {error}");
}

#[test]
fn unopened_document_is_invalid_params() {
    let project = Project::new("//- /echo.py\nx = 1\n");
    let editor = Editor::scripted(&project, &RULES);
    let mut never = Buffer::new(editor.uri("echo.py"), "python", editor.encoding, "x = 1\n");
    editor.change(never.append("y = 2\n"));
    expect_warning(&editor, "echo.py");
    editor.close(&never);
    expect_warning(&editor, "echo.py");
    editor.client.notify("textDocument/didSave", json!({"textDocument": never.id()}));
    for method in [REQUEST, "ghostbench/recordCase"] {
        let id = editor.client.request(method, at(&never, 0, 0));
        let error = editor.client.wait(id).expect_err("it is not open");
        assert_eq!(error["code"], INVALID_PARAMS);
        assert!(error["message"].as_str().is_some_and(|why| why.contains("echo.py")), "{error}");
    }
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
}

#[test]
fn closed_document_is_invalid_params() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "x = 1\n");
    editor.close(&buffer);
    editor.close(&buffer);
    expect_warning(&editor, "echo.py");
    assert_eq!(editor.client.call_expecting_error(REQUEST, at(&buffer, 0, 0)), INVALID_PARAMS);
}

#[test]
fn opening_twice_takes_the_second_text() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    editor.open("echo.py", "first = 1\n");
    let mut second = editor.open("echo.py", "second = '😀'\n");
    assert_synchronized(&editor, &second);
    editor.change(second.append("third = 3\n"));
    assert_synchronized(&editor, &second);
}

#[test]
fn changes_apply_in_arrival_order_despite_versions() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", "x = 1\n");
    for version in [7, 3, 3, -1, i64::from(i32::MAX), i64::from(i32::MIN)] {
        let mut params = buffer.append(&format!("at = {version}\n"));
        params["textDocument"]["version"] = version.into();
        editor.change(params);
    }
    assert_synchronized(&editor, &buffer);
}

#[test]
fn documents_without_a_file_are_completed() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for uri in [
        "untitled:Untitled-1/echo.py",
        "git:/shop/echo.py?%7B%22ref%22%3A%22~%22%7D#echo.py",
        "vscode-notebook-cell:/shop/a.ipynb#echo.py",
        "no uri at all echo.py",
        "file://host/share/echo.py",
        "file:///%FF%FE/echo.py",
        "",
    ] {
        let mut buffer = editor.open_uri(uri, "x = '😀'\n");
        editor.change(buffer.append("y = 2\n"));
        let id = editor.ask_at_end(&buffer);
        let answer = editor.client.wait(id).unwrap_or_else(|error| panic!("{uri}: {error}"));
        for item in items(&answer) {
            assert_eq!(
                buffer.ghost_text(buffer.text().len(), &item),
                super::scripted_engine::echo(buffer.text()),
                "{uri}"
            );
        }
        assert_eq!(items(&answer).is_empty(), uri.is_empty(), "{uri}");
        editor.client.call("textDocument/codeLens", json!({"textDocument": buffer.id()}));
        editor.close(&buffer);
    }
}

#[test]
fn recording_an_untitled_document_fails_with_a_reason() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open_uri("untitled:Untitled-1", "def f(x):\n    return x\n");
    let id = editor.client.request("ghostbench/recordCase", at(&buffer, 1, 4));
    let error = editor.client.wait(id).expect_err("a case has a path in a folder");
    assert!(error["message"].as_str().is_some_and(|why| !why.is_empty()), "{error}");
}

#[test]
fn percent_encoded_and_windows_paths_are_read() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let root = editor.uri("");
    for uri in [
        format!("{root}%65cho.py"),
        format!("{root}a%20b/%C3%A9/echo.py"),
        format!("{root}100%25/echo.py"),
        "file:///c%3A/x/echo.py".to_owned(),
        "file:///C:/Users/x/echo.py".to_owned(),
    ] {
        let mut buffer = editor.open_uri(&uri, "x = 1\n");
        editor.change(buffer.append("y = '😀'\n"));
        assert_synchronized(&editor, &buffer);
    }
}

#[test]
fn equivalent_uris_are_one_document() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for [one, other] in [
        [format!("{}a%20b/echo.py", editor.uri("")), format!("{}a%20b/%65cho.py", editor.uri(""))],
        ["file:///c%3A/x/echo.py".to_owned(), "file:///C:/x/echo.py".to_owned()],
    ] {
        let opened = editor.open_uri(&one, "x = 1\n");
        let mut changed = Buffer::new(other, "python", editor.encoding, "x = 1\n");
        editor.change(changed.append("y = 2\n"));
        let same = Buffer::new(opened.uri(), "python", editor.encoding, changed.text());
        assert_synchronized(&editor, &same);
    }
}

#[test]
fn a_document_over_the_size_limit_is_gated_until_it_is_smaller() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let line = "value = 'a line of generated data'\n";
    let mut buffer = editor.open("echo.py", &line.repeat((2 << 20) / line.len() + 1));
    editor.change(buffer.append("x = 1\n"));
    let id = editor.ask_at_end(&buffer);
    assert_eq!(items(&editor.client.wait(id).expect("a gate is no failure")), Vec::<Value>::new());
    let last = &editor.status()["lastCompletion"];
    assert_eq!(last["status"], "gated");
    assert!(last["reason"].as_str().is_some_and(|why| why.contains("MiB")), "{last}");
    editor.change(buffer.edit(0..line.len() * 2, ""));
    assert_synchronized(&editor, &buffer);
}

#[test]
fn very_long_line_can_be_edited() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", &"x😀".repeat(100_000));
    for _ in 0..5 {
        let middle = buffer.text().len() / 2 / 5 * 5;
        editor.change(buffer.edit(middle..middle, "é"));
        editor.change(buffer.edit(middle..middle + 2, ""));
    }
    assert_synchronized(&editor, &buffer);
}

#[test]
fn engine_panic_fails_one_request_and_logs_no_code() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let text = "canary_text = 1\n";
    let panics = editor.open("panic.py", text);
    let works = editor.open("talk.py", text);
    for _ in 0..3 {
        assert_eq!(
            editor.client.call_expecting_error(REQUEST, completion_params(&panics, text.len(), AUTOMATIC)),
            INTERNAL_ERROR
        );
        assert_eq!(editor.ghost_text(&works, text.len()), TALK);
    }
    assert_eq!(editor.busy(), 0);
    let status = editor.status();
    let log =
        fs::read_to_string(status["logFile"].as_str().expect("there is a log")).expect("it can be read");
    assert!(log.contains("panic"), "the panic is logged: {log}");
    assert!(!log.contains("canary_text") && !log.contains(TALK), "code is in the log: {log}");
}
