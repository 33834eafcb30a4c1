//! Thousands of changes and requests at once: nothing is lost, mixed up or answered twice.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::Value;
use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, items};
use super::edits::{Change, any_change, any_text, runner};
use super::scripted_engine::{RULES, assert_synchronized, echo};

/// Messages in a burst.
const MESSAGES: usize = 5_000;

/// Number of documents.
const DOCUMENTS: usize = 4;

/// Maximum document size in bytes; a larger text is replaced.
const MAX_BYTES: usize = 4_000;

/// A message of a burst for one of the documents.
#[derive(Clone, Debug)]
enum Message {
    Change(usize, Vec<Change>),
    Request(usize),
}

fn any_message() -> impl Strategy<Value = Message> {
    let document = 0..DOCUMENTS;
    prop_oneof![
        (document.clone(), vec(any_change(), 1..3))
            .prop_map(|(document, changes)| Message::Change(document, changes)),
        document.prop_map(Message::Request),
    ]
}

/// A request, and its expected result if the result is not null.
struct PendingRequest {
    id: i64,
    text: String,
    buffer: Buffer,
}

#[test]
fn burst_of_5_000_messages_keeps_documents_synchronized() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut runner = runner();
    let start = any_text(40).new_tree(&mut runner).expect("nothing is filtered").current();
    let messages = vec(any_message(), MESSAGES).new_tree(&mut runner).expect("nothing is filtered").current();
    let mut buffers: Vec<_> =
        (0..DOCUMENTS).map(|number| editor.open(&format!("{number}/echo.py"), &start)).collect();
    let mut asked = Vec::new();
    for message in messages {
        match message {
            Message::Change(document, changes) => editor.change(changed(&mut buffers[document], &changes)),
            Message::Request(document) => asked.push(ask(&editor, &buffers[document])),
        }
    }
    let last: Vec<_> = buffers.iter().map(|buffer| ask(&editor, buffer)).collect();
    for asked in asked {
        check_answer(&asked, &editor.client.wait(asked.id).expect("no request fails"));
    }
    for asked in last {
        let answer = editor.client.wait(asked.id).expect("no request fails");
        assert!(!answer.is_null(), "the last request of a document is not superseded");
        check_answer(&asked, &answer);
    }
    for buffer in &buffers {
        assert_synchronized(&editor, buffer);
    }
}

fn changed(buffer: &mut Buffer, changes: &[Change]) -> Value {
    let shrink = (buffer.text().len() > MAX_BYTES).then(|| Change::Whole("short again\n".to_owned()));
    let changes = shrink.iter().chain(changes).map(|change| change.apply(buffer)).collect();
    buffer.did_change(changes)
}

#[track_caller]
fn ask(editor: &Editor, buffer: &Buffer) -> PendingRequest {
    PendingRequest { id: editor.ask_at_end(buffer), text: echo(buffer.text()), buffer: buffer.clone() }
}

/// The result is null if a newer request or change has arrived, else it matches the text at the time of the request.
#[track_caller]
fn check_answer(asked: &PendingRequest, answer: &Value) {
    if answer.is_null() {
        return;
    }
    let items = items(answer);
    let texts: Vec<_> =
        items.iter().map(|item| asked.buffer.ghost_text(asked.buffer.text().len(), item)).collect();
    assert_eq!(texts, [asked.text.as_str()], "an answer to {:?}", asked.buffer.text());
}

#[test]
fn request_after_2_000_changes_sees_the_final_text() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("echo.py", "");
    for number in 0..2_000 {
        let new = if number % 40 == 39 { "\n" } else { "x" };
        editor.change(buffer.append(new));
    }
    assert_synchronized(&editor, &buffer);
}
