//! Slow requests in flight: all other requests are answered at once, and each slow one still gets one response.

use std::fs;

use serde_json::{Value, json};
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{AUTOMATIC, Editor, REQUEST_CANCELLED, completion_params};
use super::scripted_engine::{RULES, assert_synchronized};

/// More than four, the default limit of concurrent requests.
const SLOW: usize = 8;

/// An editor with this many slow requests in flight.
struct InFlight {
    editor: Editor,
    slow: Vec<(Buffer, i64)>,
}

#[track_caller]
fn in_flight(project: &Project, count: usize) -> InFlight {
    let editor = Editor::scripted(project, &RULES);
    let mut slow = Vec::new();
    for number in 0..count {
        let buffer = editor.open(&format!("{number}/slow.py"), "x = 1\n");
        let id = editor.ask_at_end(&buffer);
        slow.push((buffer, id));
    }
    tests::wait_until("the engine works on all of them", || editor.busy() == count as u64);
    InFlight { editor, slow }
}

impl InFlight {
    #[track_caller]
    fn assert_none_is_answered(&self) {
        assert!(!self.slow.iter().any(|&(_, id)| self.editor.client.is_answered(id)));
    }

    #[track_caller]
    fn cancel_all(self) {
        for &(_, id) in &self.slow {
            self.editor.client.cancel(id);
        }
        for &(_, id) in &self.slow {
            assert_cancelled(&self.editor.client.wait(id));
        }
        tests::wait_until("the engine is free", || self.editor.busy() == 0);
    }
}

#[track_caller]
fn assert_cancelled(answer: &Result<Value, Value>) {
    let code = answer.as_ref().map_err(|error| error["code"].as_i64());
    assert_eq!(code, Err(Some(REQUEST_CANCELLED)), "{answer:?}");
}

#[test]
fn slow_requests_do_not_block_edits_or_other_requests() {
    let project = Project::new("");
    let flight = in_flight(&project, SLOW);
    let mut buffer = flight.editor.open("echo.py", "y = 2\n");
    for _ in 0..20 {
        flight.editor.change(buffer.append("z = 3\n"));
        assert_synchronized(&flight.editor, &buffer);
    }
    let cases = flight.editor.client.call("ghostbench/cases", json!({}));
    assert_eq!(cases["cases"], json!([]));
    flight.editor.client.call("textDocument/codeLens", json!({"textDocument": buffer.id()}));
    flight.assert_none_is_answered();
    flight.cancel_all();
}

#[test]
fn cancellation_ends_only_its_request_and_frees_the_engine() {
    let project = Project::new("");
    let mut flight = in_flight(&project, SLOW);
    while let Some((_, id)) = flight.slow.pop() {
        flight.editor.client.cancel(id);
        assert_cancelled(&flight.editor.client.wait(id));
        flight.assert_none_is_answered();
        let left = flight.slow.len() as u64;
        tests::wait_until("the engine is freed of it", || flight.editor.busy() == left);
    }
}

#[test]
fn late_or_unknown_cancellation_is_ignored() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffer = editor.open("echo.py", "x = 1\n");
    let id = editor.ask_at_end(&buffer);
    editor.client.wait(id).expect("it is answered before it is cancelled");
    for id in [json!(id), json!(4711), json!("nobody"), Value::Null] {
        editor.client.notify("$/cancelRequest", json!({"id": id}));
    }
    assert_synchronized(&editor, &buffer);
}

#[test]
fn immediately_cancelled_request_is_answered_once() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let buffers = [editor.open("slow.py", "x = 1\n"), editor.open("echo.py", "x = 1\n")];
    for buffer in buffers.iter().cycle().take(200) {
        let id = editor.ask_at_end(buffer);
        editor.client.cancel(id);
        // A response may have been sent already; the slow engine's may not.
        let answer = editor.client.wait(id);
        if answer.is_err() || buffer.uri().ends_with("slow.py") {
            assert_cancelled(&answer);
        }
    }
    tests::wait_until("the engine is free", || editor.busy() == 0);
}

#[test]
fn closing_a_document_ends_its_request() {
    let project = Project::new("");
    let InFlight { editor, mut slow } = in_flight(&project, 2);
    let (closed, id) = slow.remove(0);
    editor.close(&closed);
    assert_eq!(editor.client.wait(id), Ok(Value::Null));
    tests::wait_until("the engine is freed of it", || editor.busy() == 1);
    InFlight { editor, slow }.cancel_all();
}

#[test]
fn reopened_document_discards_its_old_text_and_request() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let old = editor.open("echo.py", "old = 1\n");
    let slow = editor.open("slow.py", "x = 1\n");
    let id = editor.ask_at_end(&slow);
    tests::wait_until("the engine works on it", || editor.busy() == 1);
    for buffer in [&old, &slow] {
        editor.close(buffer);
    }
    let mut new = editor.open("echo.py", "new = '😀'\n");
    let reopened = editor.open("slow.py", "y = 1\n");
    assert_eq!(editor.client.wait(id), Ok(Value::Null));
    editor.change(new.append("more\n"));
    assert_synchronized(&editor, &new);
    let id = editor.ask_at_end(&reopened);
    tests::wait_until("the engine works on the new one", || editor.busy() == 1);
    editor.client.cancel(id);
    assert_cancelled(&editor.client.wait(id));
}

#[test]
fn renaming_a_document_ends_its_request() {
    let project = Project::new("//- /slow.py\nx = 1\n");
    let InFlight { editor, slow } = in_flight(&project, 1);
    let (old, id) = &slow[0];
    let files = json!([{"oldUri": old.uri(), "newUri": editor.uri("echo.py")}]);
    editor.client.notify("workspace/didRenameFiles", json!({"files": files}));
    editor.close(old);
    let mut new = editor.open("echo.py", old.text());
    assert_eq!(editor.client.wait(*id), Ok(Value::Null));
    editor.change(new.append("y = 2\n"));
    assert_synchronized(&editor, &new);
    let id = editor.client.request("textDocument/inlineCompletion", completion_params(old, 0, AUTOMATIC));
    assert!(editor.client.wait(id).is_err(), "nothing is open under the old name");
}

#[test]
fn deleting_a_file_keeps_the_open_document_and_its_request() {
    let project = Project::new("//- /0/slow.py\nx = 1\n//- /echo.py\nx = 1\n");
    let flight = in_flight(&project, 1);
    let mut buffer = flight.editor.open("echo.py", "x = 1\n");
    for path in ["0/slow.py", "echo.py"] {
        fs::remove_file(project.root().join(path)).expect("the workspace is ours");
        flight.editor.watched(path, 3);
    }
    flight.editor.change(buffer.append("y = 2\n"));
    assert_synchronized(&flight.editor, &buffer);
    flight.assert_none_is_answered();
    flight.cancel_all();
}

#[test]
fn shutdown_answers_pending_requests_first() {
    let project = Project::new("");
    let InFlight { editor, slow } = in_flight(&project, SLOW);
    editor.client.shutdown();
    for (_, id) in slow {
        // Null or an error: it is not shown.
        let _ = editor.client.wait(id);
    }
    editor.client.exit().expect_code(0);
}
