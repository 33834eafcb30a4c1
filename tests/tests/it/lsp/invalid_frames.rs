//! Malformed frames between valid ones: each gets one JSON-RPC response, and no document silently diverges.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, setup};
use super::scripted_engine::{RULES, assert_synchronized};

/// The possible effect of a lost frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LostDocuments {
    Nothing,
    First,
    All,
}

/// An editor with two documents, whose texts the engine echoes.
struct TwoDocuments {
    editor: Editor,
    buffers: [Buffer; 2],
}

impl TwoDocuments {
    #[track_caller]
    fn open(project: &Project) -> TwoDocuments {
        let client = setup(project).encodings(&["utf-16"]);
        let editor = Editor::start(project, &["--scripted", &RULES.to_string()], client);
        let buffers = ["a/echo.py", "b/echo.py"].map(|path| editor.open(path, "x = '😀'\n"));
        TwoDocuments { editor, buffers }
    }

    /// A document with a lost change is rejected until its whole text arrives, and the other one is in step.
    #[track_caller]
    fn check_lost(&mut self, lost: LostDocuments, why: &str) {
        let TwoDocuments { editor, buffers } = self;
        if lost != LostDocuments::Nothing {
            let shown = editor.client.expect_notification("window/showMessage");
            let message = shown["message"].as_str().unwrap_or_default();
            assert!(message.contains("opened again"), "{why}: {message}");
        }
        for (index, buffer) in buffers.iter_mut().enumerate() {
            if lost == LostDocuments::All || lost == LostDocuments::First && index == 0 {
                editor.change(buffer.append("y = 2\n"));
                assert_refused(editor, buffer, why);
                let whole = buffer.change_all("z = '😀'\n");
                editor.change(buffer.did_change(vec![json!({"range": 7, "text": "x"}), whole]));
            }
            editor.change(buffer.append("w = 4\n"));
            assert_synchronized(editor, buffer);
        }
    }
}

#[track_caller]
fn assert_refused(editor: &Editor, buffer: &Buffer, why: &str) {
    let position = json!({"textDocument": buffer.id(), "position": {"line": 0, "character": 0}});
    let mut completion = position.clone();
    completion["context"] = json!({"triggerKind": 1});
    for (method, params) in [
        ("textDocument/inlineCompletion", completion),
        ("ghostbench/recordCase", position),
        ("textDocument/codeLens", json!({"textDocument": buffer.id()})),
    ] {
        let id = editor.client.request(method, params);
        let error = editor.client.wait(id).expect_err(why);
        assert_eq!(error["code"], INVALID_PARAMS, "{why}: {method}: {error}");
        assert!(
            error["message"].as_str().is_some_and(|help| help.contains("open it again")),
            "{why}: {error}"
        );
    }
}

/// The beginning of a `didChange` for a document, up to its changes.
fn did_change(buffer: &Buffer) -> String {
    let uri = buffer.uri();
    let document = format!(r#""textDocument":{{"uri":"{uri}","version":9}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{{document},"contentChanges":["#)
}

#[test]
fn malformed_body_gets_one_error_and_spares_other_documents() {
    let project = Project::new("");
    let mut two = TwoDocuments::open(&project);
    let change = did_change(&two.buffers[0]);
    let deep = "[".repeat(100_000);
    let request = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":4711,"method":"ghostbench/status"{rest}"#);
    let bytes = |text: &str, end: &[u8]| [text.as_bytes(), end].concat();
    let mine = json!(4711);
    let (null, parse, invalid) = (Value::Null, PARSE_ERROR, INVALID_REQUEST);
    let table: Vec<(&str, Vec<u8>, &Value, i64, LostDocuments)> = vec![
        ("no object", b"hello".to_vec(), &null, parse, LostDocuments::Nothing),
        ("nothing", Vec::new(), &null, parse, LostDocuments::Nothing),
        ("deep, no object", deep.clone().into(), &null, parse, LostDocuments::Nothing),
        ("an object and no more", b"{".to_vec(), &null, parse, LostDocuments::All),
        ("no method", b"{\"jsonrpc\":\"2.0\",\"method\":".to_vec(), &null, parse, LostDocuments::All),
        ("deep", "{\"a\":".repeat(100_000).into(), &null, parse, LostDocuments::All),
        ("no document", bytes(&change[..60], b""), &null, parse, LostDocuments::All),
        ("cut off", bytes(&change, b"{\"text\":\"abc"), &null, parse, LostDocuments::First),
        ("a wrong escape", bytes(&change, br#"{"text":"\x41"}]}}"#), &null, parse, LostDocuments::First),
        ("bytes outside of strings", bytes(&change, b"\xff]}}"), &null, parse, LostDocuments::First),
        ("a deep change", bytes(&change, deep.as_bytes()), &null, parse, LostDocuments::First),
        ("no version", change.replace("\"jsonrpc\":\"2.0\",", "").into(), &null, parse, LostDocuments::First),
        (
            "a null id",
            bytes(&change.replace("{\"jsonrpc", "{\"id\":null,\"jsonrpc"), b"]}}"),
            &null,
            invalid,
            LostDocuments::First,
        ),
        (
            "another protocol",
            bytes(&change.replace("2.0", "1.0"), b"]}}"),
            &null,
            invalid,
            LostDocuments::First,
        ),
        (
            "a notification of no text",
            b"{\"method\":\"textDocument/didSave\",".to_vec(),
            &null,
            parse,
            LostDocuments::Nothing,
        ),
        ("a request cut off", request("").into(), &mine, parse, LostDocuments::Nothing),
        (
            "a request with a wrong escape",
            request(r#","params":"\x"}"#).into(),
            &mine,
            parse,
            LostDocuments::Nothing,
        ),
        (
            "a deep request",
            request(&format!(r#","params":{deep}"#)).into(),
            &mine,
            parse,
            LostDocuments::Nothing,
        ),
        ("more behind a request", request("}x").into(), &mine, parse, LostDocuments::Nothing),
        (
            "a request without method",
            br#"{"jsonrpc":"2.0","id":4711}"#.to_vec(),
            &mine,
            invalid,
            LostDocuments::Nothing,
        ),
        (
            "a request's id at its end",
            br#"{"params":"\x","method":"m","id":4711}"#.to_vec(),
            &mine,
            parse,
            LostDocuments::Nothing,
        ),
        (
            "a method of another type",
            br#"{"jsonrpc":"2.0","id":4711,"method":7}"#.to_vec(),
            &mine,
            invalid,
            LostDocuments::Nothing,
        ),
    ];
    for (name, body, id, code, lost) in table {
        two.editor.client.send_body(&body);
        let response = two.editor.client.wait_for_response(id);
        assert_eq!(response["error"]["code"], code, "{name}: {response}");
        two.check_lost(lost, name);
    }
}

#[test]
fn next_message_is_read_after_invalid_headers() {
    let project = Project::new("");
    let mut two = TwoDocuments::open(&project);
    let body = r#"{"jsonrpc":"2.0","method":"$/unknown","params":"é😀"}"#;
    let characters = body.chars().count();
    for broken in [
        "hello\r\n\r\n".to_owned(),
        "\r\n".to_owned(),
        "Content-Type: x\r\n\r\n{}".to_owned(),
        "Content-Length: ten\r\n\r\n{}".to_owned(),
        "Content-Length: -1\r\n\r\n".to_owned(),
        "Content-Length: +2\r\n\r\n{}".to_owned(),
        "Content-Length: 1e3\r\n\r\n".to_owned(),
        "Content-Length: 99999999999999999999999\r\n\r\n{\"a\":\"Content-Length: 5\\r\\n\"}".to_owned(),
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ".to_owned(),
        "x".repeat(100_000),
        "x: y".repeat(100_000),
    ] {
        two.editor.client.send_bytes(broken.as_bytes());
        // Half of a line may be the beginning of valid headers, so the response may come with the next message.
        let id = two.editor.client.request("ghostbench/status", Value::Null);
        let response = two.editor.client.wait_for_response(&Value::Null);
        let name: String = broken.chars().take(40).collect();
        assert_eq!(response["error"]["code"], PARSE_ERROR, "{name}: {response}");
        assert!(two.editor.client.wait(id).expect("the next request is read").is_object(), "{name}");
        two.check_lost(LostDocuments::All, &name);
    }
    // The length counts characters, so the end of the body is parsed as a header.
    two.editor.client.send_bytes(format!("Content-Length: {characters}\r\n\r\n{body}").as_bytes());
    let id = two.editor.client.request("ghostbench/status", Value::Null);
    for _ in ["the body", "the header behind it"] {
        let response = two.editor.client.wait_for_response(&Value::Null);
        assert_eq!(response["error"]["code"], PARSE_ERROR, "{response}");
    }
    assert!(two.editor.client.wait(id).expect("the next request is read").is_object());
    two.check_lost(LostDocuments::All, "a length of characters");
}

#[test]
fn last_of_duplicate_json_members_wins() {
    let project = Project::new("");
    let mut two = TwoDocuments::open(&project);
    two.editor
        .client
        .send_body(br#"{"jsonrpc":"2.0","id":1001,"method":"$/no","id":1002,"method":"ghostbench/status"}"#);
    assert!(two.editor.client.wait_for_response(&json!(1002))["result"].is_object());
    let change = did_change(&two.buffers[0]) + r#"{"text":"no","text":"twice = 2\n"}]}}"#;
    two.editor.client.send_body(change.as_bytes());
    two.buffers[0].change_all("twice = 2\n");
    two.check_lost(LostDocuments::Nothing, "two texts");
}

#[test]
fn lone_surrogates_and_invalid_utf8_are_accepted_in_text() {
    let project = Project::new("");
    let mut two = TwoDocuments::open(&project);
    let change = did_change(&two.buffers[0]);
    let position = |character: u32| json!({"line": 0, "character": character});
    let edit = |at: u32, text: &[u8]| {
        let range = json!({"start": position(at), "end": position(at)});
        [format!(r#"{{"range":{range},"text":""#).as_bytes(), text, b"\"}"].concat()
    };
    let send = |changes: &[Vec<u8>]| {
        two.editor.client.send_body(&[change.as_bytes(), &changes.join(&b',')[..], b"]}}"].concat());
    };
    let text = |body: &[u8]| [b"{\"text\":\"", body, b"\"}"].concat();
    for (changes, expected) in [
        (vec![text(b"a = '\\ud83d'\\n")], "a = '\u{fffd}'\n"),
        (vec![edit(6, b"\\ude00")], "a = '😀'\n"),
        (vec![edit(8, b"b"), edit(9, b"\xed\xa0\xbd")], "a = '😀'b\u{fffd}\n"),
        (vec![edit(10, b"\xff!")], "a = '😀'b\u{fffd}\u{1a}!\n"),
        (vec![text(b"c = 'tab\there'\n")], "c = 'tab\there'\n"),
    ] {
        send(&changes);
        let shown = Buffer::new(two.buffers[0].uri(), "python", two.editor.encoding, expected);
        // The cursor is after the last line end, where character counts are the same in all encodings.
        assert_synchronized(&two.editor, &shown);
    }
    two.buffers[0].change_all("c = 'tab\there'\n");
    two.check_lost(LostDocuments::Nothing, "all of it is text");
}
