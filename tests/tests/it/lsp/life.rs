//! How the server ends: by protocol, with its client, or with a client that never listens.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Client;

use super::editor::{Editor, setup};
use super::scripts::{RULES, assert_in_step};

#[test]
fn shutdown_and_exit_give_0() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    assert_in_step(&editor, &editor.open("echo.py", "x = 1\n"));
    editor.client.shutdown();
    let outcome = editor.client.exit().expect_code(0);
    assert_eq!(outcome.stderr, "", "a server that has nothing to complain about is silent");
}

#[test]
fn exit_without_shutdown_gives_1() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    editor.client.exit().expect_code(1);
    let client = Client::spawn(project.ghostbench("lsp"), setup(&project));
    client.exit().expect_code(1);
}

#[test]
fn a_closed_input_gives_0() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let slow = editor.open("slow.py", "x = 1\n");
    editor.ask_at_end(&slow);
    tests::wait_until("the engine works", || editor.busy() == 1);
    editor.client.close_stdin();
    editor.client.abandon().expect_code(0);
}

#[test]
fn stdio_may_be_named() {
    let project = Project::new("");
    let editor = Editor::start(&project, &["--stdio"], setup(&project));
    assert!(editor.status().is_object());
}

#[test]
fn a_client_that_never_reads_neither_stops_nor_bloats_the_server() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let client = editor.client;
    client.stop_reading();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ghostbench/status"}).to_string();
    let frame = format!("Content-Length: {}\r\n\r\n{request}", request.len()).repeat(100);
    // Each answer is some times as long as its question, so this is far more than a server should keep for anybody.
    let mut sent = 0;
    while sent < 64 << 20 && client.try_send_bytes(frame.as_bytes()) {
        sent += frame.len();
    }
    client.close_stdin();
    tests::wait_until("the server ends though nobody reads", || client.has_ended());
    let outcome = client.abandon();
    assert!(matches!(outcome.code(), Some(0 | 3)), "{outcome:?}");
    assert!(!outcome.stderr.contains("panicked"), "{outcome:?}");
}

#[test]
fn a_client_that_reads_late_gets_everything() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "x = 1\n");
    editor.client.stop_reading();
    let asked: Vec<_> = (0..2_000).map(|_| editor.client.request("ghostbench/status", Value::Null)).collect();
    editor.client.read_on();
    for id in asked {
        editor.client.wait(id).expect("it was only slow");
    }
    assert_in_step(&editor, &buffer);
}

#[test]
fn a_client_without_a_process_is_served() {
    let project = Project::new("");
    // A client may leave its process out, and one in a container may name one that is not here.
    let editor = Editor::scripted(&project, &RULES);
    assert_in_step(&editor, &editor.open("echo.py", "x = 1\n"));
}

#[test]
fn the_server_ends_soon() {
    let project = Project::generated(20);
    let editor = Editor::new(&project);
    let start = Instant::now();
    editor.client.shutdown();
    editor.client.exit().expect_code(0);
    assert!(start.elapsed() < Duration::from_secs(5), "indexing does not keep it: {:?}", start.elapsed());
}
