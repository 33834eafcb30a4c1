//! How the server ends: by protocol, with its client, or with a client that never reads.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Client;

use super::editor::{Editor, setup};
use super::recording::record;
use super::scripted_engine::{FOREVER_MS, RULES, assert_synchronized};

const OUTSIDE_WORLD: i32 = 3;

#[test]
fn shutdown_and_exit_give_exit_code_0() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    assert_synchronized(&editor, &editor.open("echo.py", "x = 1\n"));
    editor.client.shutdown();
    let outcome = editor.client.exit().expect_code(0);
    assert_eq!(outcome.stderr, "", "a server that has nothing to complain about is silent");
}

#[test]
fn requests_before_shutdown_are_answered_before_exit() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("talk.py", "x = 1\n");
    let mut asked = Vec::new();
    for _ in 0..100 {
        asked.push(editor.client.request("ghostbench/status", Value::Null));
        asked.push(editor.ask_at_end(&buffer));
    }
    asked.push(editor.client.request("shutdown", Value::Null));
    editor.client.notify("exit", Value::Null);
    for id in asked {
        // Any result: a client that shuts down properly gets one response to each request.
        let _ = editor.client.wait(id);
    }
    editor.client.wait_for_end().expect_code(0);
}

#[test]
fn exit_without_shutdown_gives_exit_code_1() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    editor.client.exit().expect_code(1);
    let client = Client::spawn(project.ghostbench("lsp"), setup(&project));
    client.exit().expect_code(1);
}

#[test]
fn closed_stdin_gives_exit_code_0() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let slow = editor.open("slow.py", "x = 1\n");
    editor.ask_at_end(&slow);
    tests::wait_until("the engine works", || editor.busy() == 1);
    editor.client.close_stdin();
    editor.client.abandon().expect_code(0);
}

#[test]
fn messages_are_read_from_a_file() {
    let project = Project::new("");
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}),
        json!({"jsonrpc": "2.0", "method": "exit"}),
    ];
    let frames: Vec<u8> =
        messages.iter().flat_map(|message| tests::lsp::frame(message.to_string().as_bytes())).collect();
    let file = project.root().join("messages");
    fs::write(&file, frames).unwrap();
    let ended = project.ghostbench("lsp").stdin(fs::File::open(file).unwrap()).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("\"id\":2"), "{ended:?}");
}

#[test]
fn stdio_flag_is_accepted() {
    let project = Project::new("");
    let editor = Editor::start(&project, &["--stdio"], setup(&project));
    assert!(editor.status().is_object());
}

#[test]
fn server_exits_with_an_error_if_the_client_never_reads() {
    let project = Project::new("");
    let client = Editor::scripted(&project, &RULES).client;
    client.stop_reading();
    send_until_refused(&client, || {});
    tests::wait_until("the server ends although its output is not read", || client.has_ended());
    client.abandon().expect_code(OUTSIDE_WORLD).expect_message(&["read"]);
}

#[test]
fn server_exits_if_the_client_disconnects_without_reading() {
    let project = Project::new("");
    let client = Editor::scripted(&project, &RULES).client;
    client.stop_reading();
    for _ in 0..500 {
        client.send(&request_with_long_id());
    }
    client.close_stdin();
    tests::wait_until("the server ends although its output is not read", || client.has_ended());
    client.abandon().expect_code(0);
}

/// A request with a long response: as long as the id that it repeats.
fn request_with_long_id() -> Value {
    json!({"jsonrpc": "2.0", "id": "x".repeat(10_000), "method": "ghostbench/status"})
}

/// Sends requests until the server accepts no more, or has accepted far more than it should buffer.
#[track_caller]
pub(super) fn send_until_refused(client: &Client, mut after_each: impl FnMut()) {
    let frame = tests::lsp::frame(request_with_long_id().to_string().as_bytes());
    for _ in 0..100_000 {
        if !client.try_send_bytes(&frame) {
            return;
        }
        after_each();
    }
    panic!("the server has taken 1 GB of questions without an answer being read");
}

#[test]
fn late_reading_client_gets_all_responses() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "x = 1\n");
    editor.client.stop_reading();
    let asked: Vec<_> = (0..2_000).map(|_| editor.client.request("ghostbench/status", Value::Null)).collect();
    editor.client.resume_reading();
    for id in asked {
        editor.client.wait(id).expect("it was only slow");
    }
    assert_synchronized(&editor, &buffer);
}

#[test]
fn no_code_reaches_the_log() {
    const CANARY: &str = "canary_9d27";
    let project = Project::new("");
    // The user may get a message in the editor's log.
    let client = setup(&project).allow("window/logMessage").allow("window/showMessage");
    let rules = json!([
        {"path": "talk.py", "text": format!("{CANARY} = 1")},
        {"path": "fail.py", "fail": format!("cannot go on after `{CANARY}`")},
        {"path": "panic.py", "text": CANARY, "panic": true},
        {"path": "slow.py", "delay_ms": FOREVER_MS},
    ]);
    let arguments = ["--log-level", "debug", "--scripted", &rules.to_string()];
    let editor = Editor::start(&project, &arguments, client);
    let log = editor.status()["logFile"].as_str().expect("there is a log").to_owned();
    for path in ["talk.py", "fail.py", "panic.py", "slow.py", "quiet.py"] {
        let mut buffer = editor.open(path, &format!("def f({CANARY}):\n    return {CANARY}\n"));
        editor.change(buffer.append(&format!("{CANARY} = 1\n")));
        let id = editor.ask_at_end(&buffer);
        if path == "slow.py" {
            editor.client.cancel(id);
        }
        // Success or error: only the log matters.
        let _ = editor.client.wait(id);
        let recorded = record(&editor, &buffer, &format!("return {CANARY}"));
        if path != "slow.py" {
            let params = json!({"target": "case", "case": recorded["case"]["id"]});
            editor.client.call("ghostbench/replay", params);
        }
    }
    editor.client.notify("textDocument/didOpen", json!({"textDocument": {"text": CANARY}}));
    editor.client.notify("textDocument/didChange", json!({"contentChanges": CANARY}));
    editor.client.call_expecting_error("textDocument/inlineCompletion", json!({"position": CANARY}));
    editor.client.send_body(format!("{{\"text\": \"{CANARY}").as_bytes());
    editor.client.wait_for_response(&Value::Null);
    editor.client.shutdown();
    let outcome = editor.client.exit().expect_code(0);
    let log = fs::read_to_string(log).expect("it can be read");
    for reported in ["DEBUG", "panic", "didChange"] {
        assert!(log.contains(reported), "the log contains `{reported}`: {log}");
    }
    assert!(!log.contains(CANARY) && !outcome.stderr.contains(CANARY), "code is in the log: {log}");
}

#[test]
fn shutdown_does_not_wait_for_indexing() {
    let project = Project::generated(20);
    let editor = Editor::new(&project);
    let start = Instant::now();
    editor.client.shutdown();
    editor.client.exit().expect_code(0);
    assert!(start.elapsed() < Duration::from_secs(5), "indexing does not keep it: {:?}", start.elapsed());
}
