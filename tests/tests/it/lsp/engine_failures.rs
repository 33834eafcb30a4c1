//! Engines that fail while typing: each cause is reported to the user once, and ghost text returns as soon as the engine
//! recovers.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mock::{MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, items, setup};
use super::scripted_engine::TALK;
use crate::engines::KEY;
use crate::settings::user_file;

/// Enough for a local server, and short if none answers.
const DEADLINE_MS: u64 = 1_500;

/// `MessageType.Warning`.
const WARNING: u8 = 2;

fn event(piece: &str, is_last: bool) -> Vec<u8> {
    format!("data: {}\n\n", json!({"content": piece, "stop": is_last})).into_bytes()
}

/// The beginning of an answer.
fn answer_start() -> Reply {
    Reply::stream("text/event-stream").chunk(&event("tot", false))
}

fn healthy_answer() -> Reply {
    Reply::stream("text/event-stream").chunk(&event(TALK, false)).chunk(&event("", true)).end()
}

fn editor(project: &Project, url: &str) -> Editor {
    user_file(
        project,
        &format!(
            "[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{url}\"\nfim = \"server\"\ncontext_window = 8192\n\
             idle_timeout_ms = 300\nheaders = {{Authorization = \"Bearer {KEY}\"}}\n"
        ),
    );
    let options = json!({"completion": {"deadlineMs": DEADLINE_MS}});
    Editor::start(project, &["--log-level", "debug"], setup(project).options(options))
}

/// Types a text that no engine suggested, and sends a request.
#[track_caller]
fn type_and_ask(editor: &Editor, buffer: &mut Buffer) -> Value {
    editor.change(buffer.append("y = 2\n"));
    let asked = editor.ask_at_end(buffer);
    editor.client.wait(asked).expect("a fault of an engine is no error of the request")
}

#[track_caller]
fn assert_no_suggestion(editor: &Editor, buffer: &mut Buffer) {
    assert_eq!(items(&type_and_ask(editor, buffer)), Vec::<Value>::new());
}

/// Maximum time until a recovered server is used again: the circuit breaker's longest wait is 8 s.
const RECOVERY_LIMIT: Duration = Duration::from_secs(20);

/// Sends requests until the server answers again.
#[track_caller]
fn wait_until_answered(editor: &Editor, buffer: &mut Buffer) {
    let start = Instant::now();
    while items(&type_and_ask(editor, buffer)).is_empty() {
        assert!(start.elapsed() < RECOVERY_LIMIT, "the server is well again");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Checks the message shown to the user.
#[track_caller]
fn shown_message(editor: &Editor, words: &str) {
    let shown = editor.client.expect_notification("window/showMessage");
    let message = shown["message"].as_str().expect("a message is a text");
    assert_eq!(shown["type"], WARNING);
    assert!(message.contains("`mock`") && message.contains(words), "no `{words}` in {message}");
    assert!(!message.contains(KEY), "{message}");
}

/// Checks a server that replies like this until it recovers.
#[track_caller]
fn check(broken: Reply, words: &str) {
    let is_well = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&is_well);
    let server =
        MockServer::scripted(
            move |_| if switch.load(Ordering::SeqCst) { healthy_answer() } else { broken.clone() },
        );
    let project = Project::new("");
    let editor = editor(&project, &server.url());
    let mut buffer = editor.open("a.py", "x = 1\n");
    for _ in 0..2 {
        for _ in 0..3 {
            assert_no_suggestion(&editor, &mut buffer);
        }
        // At the end no message may be unread, so it was reported only once.
        shown_message(&editor, words);
        let status = editor.status();
        let fault = status["engines"][0]["fault"].as_str().unwrap_or_default();
        assert!(fault.contains(words), "no `{words}` in {status}");
        assert!(!status.to_string().contains(KEY), "{status}");
        is_well.store(true, Ordering::SeqCst);
        wait_until_answered(&editor, &mut buffer);
        assert_eq!(editor.status()["engines"][0]["fault"], Value::Null);
        is_well.store(false, Ordering::SeqCst);
    }
    let log = editor.status()["logFile"].as_str().expect("there is a log").to_owned();
    let log = fs::read_to_string(log).expect("it can be read");
    assert!(log.contains("the engine does not answer") && !log.contains(KEY), "{log}");
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message}}))
}

#[test]
fn rejected_api_key_is_reported_once() {
    check(refusal(401, &format!("Incorrect API key provided: {KEY}.")), "set `api_key_env`");
}

#[test]
fn busy_server_is_reported_once() {
    check(refusal(429, "slow down"), "takes no more requests for now");
}

#[test]
fn retry_after_stops_requests_to_a_busy_server() {
    let body = json!({"error": {"message": "slow down"}}).to_string();
    let headers = [("content-type", "application/json"), ("retry-after", "3600")];
    let server = MockServer::with_replies([Reply::with_headers(429, &headers, body.as_bytes())]);
    let project = Project::new("");
    let editor = editor(&project, &server.url());
    let mut buffer = editor.open("a.py", "x = 1\n");
    for _ in 0..3 {
        assert_no_suggestion(&editor, &mut buffer);
    }
    shown_message(&editor, "retry in 3600 s");
    assert_eq!(server.log().requests, 1);
}

#[test]
fn loading_server_is_reported_once() {
    check(refusal(503, "Loading model"), "is still loading its model");
}

#[test]
fn server_error_is_reported_once() {
    check(refusal(500, "out of memory"), "answered 500: out of memory");
}

#[test]
fn missing_response_is_reported_once() {
    check(Reply::default().with_step(ReplyStep::Hang), "gave no answer within 1.5 s");
}

#[test]
fn stalled_response_is_reported_once() {
    check(answer_start().with_step(ReplyStep::Hang), "stopped in the middle of its answer");
}

#[test]
fn connection_reset_is_reported_once() {
    check(answer_start().with_step(ReplyStep::Reset), "`mock`");
}

#[test]
fn html_response_is_reported_once() {
    check(Reply::whole(200, "text/html", b"<html>Welcome</html>"), "instead of");
}

#[test]
fn unreachable_server_is_reported_again_for_changed_settings() {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let port = address.expect("there are free ports").port();
    let project = Project::new("");
    let editor = editor(&project, &url(port));
    let mut buffer = editor.open("a.py", "x = 1\n");
    for _ in 0..3 {
        assert_no_suggestion(&editor, &mut buffer);
    }
    shown_message(&editor, "nothing listens at");
    let same = json!({"settings": {"ghostbench": Value::Null}});
    editor.client.notify("workspace/didChangeConfiguration", same);
    assert_no_suggestion(&editor, &mut buffer);
    let other = json!({"settings": {"ghostbench": {"completion": {"deadlineMs": 2 * DEADLINE_MS}}}});
    editor.client.notify("workspace/didChangeConfiguration", other);
    for _ in 0..3 {
        assert_no_suggestion(&editor, &mut buffer);
    }
    shown_message(&editor, "nothing listens at");
}

#[test]
fn fault_does_not_affect_other_engines() {
    let server = MockServer::with_replies([refusal(500, "out of memory")]);
    let project = Project::new("");
    let settings = format!("[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{}\"\n", server.url());
    user_file(&project, &settings);
    let rules = json!([{"path": "a.py", "text": TALK}]).to_string();
    let arguments = ["--scripted", &rules, "--engine", "mock"];
    let options = json!({"completion": {"engine": "mock"}});
    let editor = Editor::start(&project, &arguments, setup(&project).options(options));
    let mut buffer = editor.open("a.py", "x = 1\n");
    assert_no_suggestion(&editor, &mut buffer);
    shown_message(&editor, "answered 500");
    let settings = json!({"settings": {"ghostbench": {"completion": {"engine": "scripted"}}}});
    editor.client.notify("workspace/didChangeConfiguration", settings);
    assert_eq!(items(&type_and_ask(&editor, &mut buffer)).len(), 1);
    let engines = editor.status()["engines"].clone();
    assert_eq!((&engines[0]["name"], &engines[0]["fault"]), (&"scripted".into(), &Value::Null));
}
