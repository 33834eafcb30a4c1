//! Typing while an engine generates: its output is shared with later requests or stopped, whatever the editor cancels.

use std::time::{Duration, Instant};

use mock::{Latch, MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, items, setup};
use super::scripted_engine::{RULES, TALK};
use crate::settings::user_file;

/// A llama.cpp mock server that streams [`TALK`] in two pieces, each behind its own gate.
struct StreamingServer {
    server: MockServer,
    first: Latch,
    second: Latch,
}

fn event(piece: &str, is_last: bool) -> Vec<u8> {
    format!("data: {}\n\n", json!({"content": piece, "stop": is_last})).into_bytes()
}

impl StreamingServer {
    fn new() -> StreamingServer {
        let (first, second) = (Latch::default(), Latch::default());
        let (before, after) = TALK.split_at(3);
        let reply = Reply::stream("text/event-stream")
            .with_step(ReplyStep::Wait(first.clone()))
            .chunk(&event(before, false))
            .with_step(ReplyStep::Wait(second.clone()))
            .chunk(&event(after, false))
            .chunk(&event("", true))
            .end();
        let server = MockServer::scripted(move |_| reply.clone());
        StreamingServer { server, first, second }
    }

    fn editor(&self, project: &Project) -> Editor {
        let url = self.server.url();
        user_file(
            project,
            &format!(
                "[[engine]]\nname = \"mock\"\nkind = \"llama-cpp\"\nurl = \"{url}\"\nfim = \"server\"\ncontext_window = 8192\n"
            ),
        );
        Editor::start(project, &[], setup(project))
    }

    #[track_caller]
    fn wait_for_request_count(&self, count: usize) {
        tests::wait_until("the server is asked", || self.request_count() == count);
    }

    fn request_count(&self) -> usize {
        self.server.log().requests
    }
}

/// Presses a key as VS Code does: cancels the pending request and sends a new one after the change.
#[track_caller]
fn press(editor: &Editor, buffer: &mut Buffer, key: &str, asked: i64) -> i64 {
    editor.client.cancel(asked);
    editor.change(buffer.append(key));
    let next = editor.ask_at_end(buffer);
    // The newer request may supersede it before its cancellation is noticed; editors ignore the answer to a cancelled request.
    let answer = editor.client.wait(asked);
    assert!(
        matches!(answer, Err(_) | Ok(Value::Null)),
        "it was cancelled before it could be answered: {answer:?}"
    );
    next
}

#[track_caller]
fn assert_ghost_text(editor: &Editor, buffer: &Buffer, asked: i64, expected: &str) {
    let answer = editor.client.wait(asked).expect("it is answered");
    let texts: Vec<_> =
        items(&answer).iter().map(|item| buffer.ghost_text(buffer.text().len(), item)).collect();
    assert_eq!(texts, [expected]);
}

#[test]
fn cancelling_at_every_key_reuses_the_first_engine_request() {
    let project = Project::new("");
    let streaming = StreamingServer::new();
    let editor = streaming.editor(&project);
    let mut buffer = editor.open("a.py", "x = 1\n");
    let mut asked = editor.ask_at_end(&buffer);
    streaming.wait_for_request_count(1);
    for key in ["t", "o"] {
        asked = press(&editor, &mut buffer, key, asked);
    }
    streaming.first.open();
    for key in ["t", "a"] {
        asked = press(&editor, &mut buffer, key, asked);
    }
    streaming.second.open();
    assert_ghost_text(&editor, &buffer, asked, "l = 1");
    assert_eq!(editor.last_completion(), "reused");
    assert_eq!(streaming.request_count(), 1);
}

#[test]
fn without_cancellation_superseded_requests_get_null() {
    let project = Project::new("");
    let streaming = StreamingServer::new();
    let editor = streaming.editor(&project);
    let mut buffer = editor.open("a.py", "x = 1\n");
    let mut asked = vec![editor.ask_at_end(&buffer)];
    streaming.wait_for_request_count(1);
    for key in ["t", "o", "t"] {
        editor.change(buffer.append(key));
        asked.push(editor.ask_at_end(&buffer));
    }
    let newest = asked.pop().expect("there are four");
    for older in asked {
        assert_eq!(editor.client.wait(older), Ok(Value::Null));
    }
    streaming.first.open();
    streaming.second.open();
    assert_ghost_text(&editor, &buffer, newest, "al = 1");
    assert_eq!(streaming.request_count(), 1);
}

#[test]
fn deleting_before_the_request_cursor_aborts_the_engine() {
    let project = Project::new("");
    let streaming = StreamingServer::new();
    let editor = streaming.editor(&project);
    let mut buffer = editor.open("a.py", "x = 1\n");
    let first = editor.ask_at_end(&buffer);
    streaming.wait_for_request_count(1);
    editor.change(buffer.append("z"));
    editor.change(buffer.edit(6..7, ""));
    let second = editor.ask_at_end(&buffer);
    editor.change(buffer.edit(5..6, ""));
    for asked in [first, second] {
        assert_eq!(editor.client.wait(asked), Ok(Value::Null));
    }
    // On a busy machine the first request may be given up before the second one is read, which is then sent.
    tests::wait_until("the server is left", || {
        let log = streaming.server.log();
        log.disconnected == log.requests
    });
}

#[test]
fn mismatching_typing_aborts_and_sends_a_new_request() {
    let project = Project::new("");
    let streaming = StreamingServer::new();
    let editor = streaming.editor(&project);
    let mut buffer = editor.open("a.py", "x = 1\n");
    let mut asked = editor.ask_at_end(&buffer);
    streaming.wait_for_request_count(1);
    asked = press(&editor, &mut buffer, "y", asked);
    assert_eq!(streaming.server.log().disconnected, 0, "nothing is known of the answer yet");
    streaming.first.open();
    streaming.wait_for_request_count(2);
    tests::wait_until("the server is left", || streaming.server.log().disconnected == 1);
    streaming.second.open();
    assert_ghost_text(&editor, &buffer, asked, TALK);
    assert_eq!(editor.last_completion(), "ok");
}

#[test]
fn cancelled_request_without_successor_is_aborted() {
    let project = Project::new("");
    let streaming = StreamingServer::new();
    let editor = streaming.editor(&project);
    let buffer = editor.open("a.py", "x = 1\n");
    let asked = editor.ask_at_end(&buffer);
    streaming.wait_for_request_count(1);
    editor.client.cancel(asked);
    assert!(editor.client.wait(asked).is_err());
    tests::wait_until("the server is left", || streaming.server.log().disconnected == 1);
}

#[test]
fn changed_engine_does_not_share_the_request_in_flight() {
    let project = Project::new("");
    let rules = RULES.to_string();
    let editor = Editor::start(&project, &["--scripted", &rules, "--engine", "empty"], setup(&project));
    let buffer = editor.open("slow.py", "x = 1\n");
    let asked = editor.ask_at_end(&buffer);
    tests::wait_until("the engine works on it", || editor.busy() == 1);
    let settings = json!({"settings": {"ghostbench": {"completion": {"engine": "empty"}}}});
    editor.client.notify("workspace/didChangeConfiguration", settings);
    let second = editor.ask_at_end(&buffer);
    let answer = editor.client.wait(second).expect("the other engine has nothing to say");
    assert_eq!(items(&answer), Vec::<Value>::new());
    assert_eq!(editor.client.wait(asked), Ok(Value::Null));
    tests::wait_until("the first engine is free", || editor.busy() == 0);
}

#[test]
fn changed_engine_does_not_reuse_cached_answers() {
    let project = Project::new("");
    let rules = RULES.to_string();
    let editor = Editor::start(&project, &["--scripted", &rules, "--engine", "empty"], setup(&project));
    let mut buffer = editor.open("talk.py", "x = 1\n");
    assert_eq!(editor.ghost_text(&buffer, 6), TALK);
    let settings = json!({"settings": {"ghostbench": {"completion": {"engine": "empty"}}}});
    editor.client.notify("workspace/didChangeConfiguration", settings);
    for _ in 0..2 {
        let asked = editor.ask_at_end(&buffer);
        let answer = editor.client.wait(asked).expect("it is answered");
        assert_eq!(items(&answer), Vec::<Value>::new());
        editor.change(buffer.append("t"));
    }
}

#[test]
fn configured_debounce_delays_automatic_requests() {
    let project = Project::new("");
    let client = setup(&project).options(json!({"completion": {"debounceMs": 400, "deadlineMs": 600_000}}));
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    let mut buffer = editor.open("talk.py", "x = 1\n");
    let start = Instant::now();
    editor.change(buffer.append("y = "));
    assert_eq!(editor.ghost_text(&buffer, buffer.text().len()), TALK);
    assert!(start.elapsed() >= Duration::from_millis(400), "{:?}", start.elapsed());
}
