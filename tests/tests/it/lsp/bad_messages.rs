//! Malformed, untimely and unknown messages: each gets the protocol's response, and the server continues.

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Client;

use super::editor::{
    Editor, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, NOT_INITIALIZED, PARSE_ERROR, setup,
};
use super::scripted_engine::{RULES, assert_synchronized};

const OUTSIDE_WORLD: i32 = 3;

/// Sends a body; the response must be this error without an id, and the next request must succeed.
#[track_caller]
fn check_body(body: &[u8], code: i64) {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", "x = 1\n");
    editor.client.send_body(body);
    editor.change(buffer.append("y = '😀'\n"));
    let response = editor.client.wait_for_response(&Value::Null);
    assert_eq!(response["error"]["code"], code, "{response}");
    assert_synchronized(&editor, &buffer);
}

#[test]
fn body_that_is_not_json_is_a_parse_error() {
    check_body(b"hello", PARSE_ERROR);
    check_body(b"", PARSE_ERROR);
    check_body(b"\xff\xfe", PARSE_ERROR);
}

#[test]
fn deeply_nested_json_is_a_parse_error() {
    check_body("[".repeat(200_000).as_bytes(), PARSE_ERROR);
}

#[test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    for body in ["7", "\"hello\"", "null", "true", "{}", "{\"jsonrpc\":\"2.0\"}"] {
        check_body(body.as_bytes(), INVALID_REQUEST);
    }
}

#[test]
fn batch_is_an_invalid_request() {
    check_body(b"[]", INVALID_REQUEST);
    check_body(br#"[{"jsonrpc":"2.0","id":1,"method":"ghostbench/status"}]"#, INVALID_REQUEST);
}

/// Sends bytes to a server before the handshake, and returns how it ended.
#[track_caller]
fn send_at_start(bytes: &[u8]) -> tests::ProcessOutcome {
    let project = Project::new("");
    let client = Client::spawn(project.ghostbench("lsp"), setup(&project));
    client.try_send_bytes(bytes);
    client.close_stdin();
    client.wait_for_end()
}

/// The same with invalid headers, which are rejected at once.
#[track_caller]
fn send_broken_headers(bytes: &[u8]) -> tests::ProcessOutcome {
    let project = Project::new("");
    let client = Client::spawn(project.ghostbench("lsp"), setup(&project));
    client.try_send_bytes(bytes);
    let response = client.wait_for_response(&Value::Null);
    assert_eq!(response["error"]["code"], PARSE_ERROR, "{response}");
    client.close_stdin();
    client.wait_for_end().expect_code(OUTSIDE_WORLD)
}

#[test]
fn invalid_header_before_eof_exits_with_a_message() {
    for headers in [
        "hello\r\n\r\n",
        "Content-Length: ten\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length:\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
    ] {
        send_broken_headers(headers.as_bytes()).expect_message(&["ghostbench", "header"]);
    }
}

#[test]
fn missing_content_length_before_eof_exits_with_a_message() {
    for headers in ["\r\n", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}"] {
        send_broken_headers(headers.as_bytes()).expect_message(&["Content-Length"]);
    }
}

#[test]
fn huge_content_length_before_eof_exits_with_a_message() {
    for length in ["99999999999", "18446744073709551615", "99999999999999999999999999"] {
        let frame = format!("Content-Length: {length}\r\n\r\n{{}}");
        send_broken_headers(frame.as_bytes()).expect_message(&["Content-Length"]);
    }
}

#[test]
fn endless_header_before_eof_exits_with_a_message() {
    send_broken_headers("x".repeat(1 << 20).as_bytes()).expect_message(&["header"]);
}

#[test]
fn truncated_stream_counts_as_a_disconnected_client() {
    for bytes in ["", "Content-Le", "Content-Length: 100\r\n", "Content-Length: 100\r\n\r\n{\"jsonrpc\""] {
        send_at_start(bytes.as_bytes()).expect_code(0);
    }
}

#[test]
fn header_names_are_case_insensitive_and_extras_allowed() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let body = r#"{"jsonrpc":"2.0","id":"mine","method":"ghostbench/status"}"#;
    let kind = "Content-Type: application/vscode-jsonrpc; charset=utf-8";
    let frame = format!("{kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    // In pieces, as from a pipe.
    for byte in frame.as_bytes() {
        editor.client.send_bytes(&[*byte]);
    }
    assert!(editor.client.wait_for_response(&"mine".into())["result"].is_object());
}

#[test]
fn unknown_methods_are_not_found() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for method in ["textDocument/dance", "ghostbench/dance", "$/dance", "", "textDocument/hover"] {
        assert_eq!(editor.client.call_expecting_error(method, json!({"a": 1})), METHOD_NOT_FOUND, "{method}");
    }
}

#[test]
fn unknown_notifications_are_ignored() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for method in ["textDocument/dance", "ghostbench/dance", "$/dance", "$/setTrace", ""] {
        editor.client.notify(method, json!({"a": 1}));
    }
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
}

#[test]
fn unsolicited_responses_are_ignored() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for id in [json!(4711), json!("nobody"), Value::Null] {
        editor.client.send(&json!({"jsonrpc": "2.0", "id": id, "result": 1}));
        editor.client.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}}));
    }
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
}

#[test]
fn requests_before_initialize_are_rejected() {
    let project = Project::new("");
    let mut command = project.ghostbench("lsp");
    command.args(["--scripted", &RULES.to_string()]);
    let client = Client::spawn(command, setup(&project));
    for method in ["ghostbench/status", "textDocument/inlineCompletion", "shutdown"] {
        assert_eq!(client.call_expecting_error(method, json!({})), NOT_INITIALIZED, "{method}");
    }
    client.notify("textDocument/didOpen", json!({"textDocument": {}}));
    client.initialize();
    assert!(client.call("ghostbench/status", Value::Null).is_object());
}

#[test]
fn shutdown_before_initialize_leaves_the_server_usable() {
    let project = Project::new("");
    let mut command = project.ghostbench("lsp");
    command.args(["--scripted", &RULES.to_string()]);
    let client = Client::spawn(command, setup(&project));
    assert_eq!(client.call_expecting_error("shutdown", Value::Null), NOT_INITIALIZED);
    let editor = Editor::initialized(&project, client);
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
    editor.client.exit().expect_code(1);
}

#[test]
fn second_initialize_is_rejected() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let params = setup(&project).encodings(&["utf-8"]).initialize_params();
    assert_eq!(editor.client.call_expecting_error("initialize", params), INVALID_REQUEST);
    assert_synchronized(&editor, &editor.open("echo.py", "x = '😀'\n"));
}

#[test]
fn requests_after_shutdown_are_rejected() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "x = 1\n");
    editor.client.shutdown();
    for method in ["ghostbench/status", "shutdown", "initialize"] {
        assert_eq!(editor.client.call_expecting_error(method, Value::Null), INVALID_REQUEST, "{method}");
    }
    let id = editor.ask_at_end(&buffer);
    let error = editor.client.wait(id).expect_err("it is too late");
    assert_eq!(error["code"], INVALID_REQUEST);
    editor.close(&buffer);
    editor.client.exit().expect_code(0);
}

#[test]
fn malformed_parameters_are_rejected_as_invalid_params() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "x = 1\n");
    let position =
        |line: Value| json!({"textDocument": buffer.id(), "position": {"line": line, "character": 0}});
    let requests = [
        ("textDocument/inlineCompletion", json!({})),
        ("textDocument/inlineCompletion", json!([1])),
        ("textDocument/inlineCompletion", Value::Null),
        ("textDocument/codeLens", json!({"textDocument": 7})),
        ("ghostbench/recordCase", position(json!("one"))),
        ("ghostbench/recordCase", position(json!(-1))),
        ("ghostbench/recordCase", position(json!(1.5))),
        ("ghostbench/recordCase", position(json!(u64::MAX))),
        ("ghostbench/replay", json!({"target": "everything"})),
        ("ghostbench/replay", json!({})),
        ("ghostbench/case", json!({"id": 7})),
        ("ghostbench/cases", json!({"textDocument": "echo.py"})),
        ("workspace/executeCommand", json!({"command": 7})),
        ("workspace/executeCommand", json!({"command": "ghostbench.replay", "arguments": []})),
        (
            "workspace/executeCommand",
            json!({"command": "ghostbench.didAcceptCompletionItem", "arguments": [{}]}),
        ),
        ("workspace/executeCommand", json!({"command": "nobody.knows"})),
    ];
    for (method, params) in requests {
        assert_eq!(
            editor.client.call_expecting_error(method, params.clone()),
            INVALID_PARAMS,
            "{method} {params}"
        );
    }
    assert_synchronized(&editor, &buffer);
}

#[test]
fn malformed_notifications_change_nothing() {
    let project = Project::new("");
    // The user may get a message in the editor's log.
    let client = setup(&project).allow("window/logMessage");
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let mut buffer = editor.open("echo.py", "x = 1\n");
    let id = json!({"uri": editor.uri("other.py")});
    for (method, params) in [
        ("textDocument/didChange", json!({})),
        ("textDocument/didChange", json!({"textDocument": {"uri": 7}, "contentChanges": []})),
        ("textDocument/didOpen", json!({"textDocument": id})),
        ("textDocument/didOpen", Value::Null),
        ("textDocument/didClose", json!({"textDocument": 7})),
        ("textDocument/didClose", json!(["echo.py"])),
        ("textDocument/didShowCompletion", json!({"item": {}})),
        ("workspace/didChangeWorkspaceFolders", json!({"event": 1})),
        ("workspace/didChangeWatchedFiles", json!({"changes": [{}]})),
        ("$/cancelRequest", json!({})),
        ("initialized", json!(7)),
    ] {
        editor.client.notify(method, params);
    }
    editor.change(buffer.append("y = 2\n"));
    assert_synchronized(&editor, &buffer);
}

#[test]
fn request_id_is_returned_unchanged() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for id in [json!(0), json!(-7), json!(i64::MAX), json!("7"), json!(""), json!("😀\n")] {
        editor.client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ghostbench/status"}));
        assert!(editor.client.wait_for_response(&id)["result"].is_object(), "{id}");
    }
}

#[test]
fn id_of_an_invalid_type_is_an_invalid_request() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    for id in [Value::Null, json!({}), json!([1]), json!(true), json!(1.5)] {
        editor.client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ghostbench/status"}));
        let response = editor.client.wait_for_response(&Value::Null);
        assert_eq!(response["error"]["code"], INVALID_REQUEST, "{id}: {response}");
    }
}

#[test]
fn duplicate_request_id_is_rejected() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let slow = editor.open("slow.py", "x = 1\n");
    let position = json!({"line": 1, "character": 0});
    let params = json!({"textDocument": slow.id(), "position": position, "context": {"triggerKind": 2}});
    let id = json!("mine");
    editor.client.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/inlineCompletion", "params": params}),
    );
    tests::wait_until("the engine works on it", || editor.busy() == 1);
    editor.client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ghostbench/status"}));
    let second = editor.client.wait_for_response(&id);
    assert_eq!(second["error"]["code"], INVALID_REQUEST, "the id is taken: {second}");
    editor.client.notify("$/cancelRequest", json!({"id": id}));
    let first = editor.client.wait_for_response(&id);
    assert_eq!(first["error"]["code"], super::editor::REQUEST_CANCELLED, "{first}");
    tests::wait_until("the engine is free", || editor.busy() == 0);
}
