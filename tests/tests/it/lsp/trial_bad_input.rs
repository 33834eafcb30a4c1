//! A live trial with clients, folders and stores that misbehave: a clear state, and nothing wrong in silence.

use std::fs;
use std::time::Duration;

use cases::{LossReason, Opportunity, OutcomeKind};
use serde_json::{Value, json};
use tests::lsp::{Buffer, ClientSetup};
use tests::{Project, wait_until};
use trial::store::STORE_FILE;

use super::editor::{Editor, REQUEST_FAILED, find, setup};
use super::trial::{SHOP, SUGGESTION, definition, folder, rows};

/// An editor in whose project a trial runs, with a clock that [`pass`] advances.
fn editor(project: &Project, setup: ClientSetup) -> Editor {
    trial::definition::write_definition(&folder(project), &definition()).expect("the definition is written");
    let rules = json!([{"text": SUGGESTION}]).to_string();
    let editor = Editor::start(project, &["--scripted", &rules, "--simulated-clock"], setup);
    wait_until("the trial runs", || editor.status()["trial"]["name"] == "first");
    editor
}

fn pass(editor: &Editor, time: Duration) {
    let ms = u64::try_from(time.as_millis()).expect("a short time");
    assert_eq!(editor.client.call("ghostbench/advanceTime", json!({"ms": ms})), Value::Null);
}

/// Opens a document and requests a completion in its empty function. Returns the cursor.
fn ask(editor: &Editor, path: &str) -> (Buffer, usize) {
    let buffer = editor.open(path, SHOP);
    let cursor = find(SHOP, "    \n") + 4;
    editor.item(&buffer, cursor);
    (buffer, cursor)
}

fn write(editor: &Editor, buffer: &mut Buffer, cursor: usize, text: &str) {
    for (index, key) in text.char_indices() {
        let at = cursor + index;
        pass(editor, Duration::from_millis(100));
        editor.change(buffer.edit(at..at, key.encode_utf8(&mut [0; 4])));
    }
}

#[track_caller]
fn only_row(project: &Project) -> Opportunity {
    let mut rows = rows(project);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

#[test]
fn a_client_that_reports_nothing_has_inferred_outcomes() {
    let project = Project::new("");
    let editor = editor(&project, setup(&project));
    let (mut buffer, cursor) = ask(&editor, "shop.py");
    pass(&editor, Duration::from_millis(800));
    write(&editor, &mut buffer, cursor, "return 1");
    editor.client.exit();
    let row = only_row(&project);
    assert_eq!((row.outcome.kind, row.outcome.is_inferred), (OutcomeKind::Ignored, true));
    assert_eq!(row.truth().map(|truth| &*truth.text), Some("return 1"));
}

#[test]
fn nonsense_ids_change_nothing() {
    let project = Project::new("");
    let editor = editor(&project, setup(&project));
    let (mut buffer, cursor) = ask(&editor, "shop.py");
    for id in [json!("nonsense"), json!("-1"), json!("99999999999999999999"), json!("4711"), json!("")] {
        let command =
            json!({"title": "", "command": "ghostbench.didAcceptCompletionItem", "arguments": [id]});
        let item = json!({"command": command});
        editor.client.notify("textDocument/didShowCompletion", json!({"item": item}));
        let part = json!({"item": item, "acceptedLength": u32::MAX});
        editor.client.notify("textDocument/didPartiallyAcceptCompletion", part);
        let accepted = json!({"command": command["command"], "arguments": [id]});
        // Unknown ids are answered, with or without an error.
        let _ = editor.client.wait(editor.client.request("workspace/executeCommand", accepted));
    }
    write(&editor, &mut buffer, cursor, "return 1");
    editor.client.exit();
    let row = only_row(&project);
    assert_eq!((row.outcome.kind, row.outcome.accepted_chars), (OutcomeKind::NotShown, 0));
    assert_eq!(row.truth().map(|truth| &*truth.text), Some("return 1"));
}

#[test]
fn a_region_follows_its_file_to_another_name() {
    for opens_first in [false, true] {
        let project = Project::new("");
        let editor = editor(&project, setup(&project));
        let (mut buffer, cursor) = ask(&editor, "shop.py");
        write(&editor, &mut buffer, cursor, "return");
        let text = buffer.text().to_owned();
        let close = || editor.close(&buffer);
        let open = || editor.open("till.py", &text);
        let mut renamed = if opens_first {
            let opened = open();
            close();
            opened
        } else {
            close();
            open()
        };
        let files = json!([{"oldUri": editor.uri("shop.py"), "newUri": editor.uri("till.py")}]);
        editor.client.notify("workspace/didRenameFiles", json!({"files": files}));
        write(&editor, &mut renamed, cursor + 6, " 1");
        editor.client.exit();
        let row = only_row(&project);
        assert_eq!(row.truth().map(|truth| &*truth.text), Some("return 1"), "opens first: {opens_first}");
        assert_eq!(row.lost, None);
    }
}

#[test]
fn a_folder_without_git_is_recorded_without_a_commit() {
    let project = Project::new("");
    assert!(!project.root().join(".git").exists());
    let editor = editor(&project, setup(&project));
    let (mut buffer, cursor) = ask(&editor, "shop.py");
    write(&editor, &mut buffer, cursor, "return 1");
    pass(&editor, Duration::from_secs(60));
    editor.client.exit();
    let row = only_row(&project);
    assert_eq!((row.commit, row.lost), (None, None));
    assert_eq!(row.truths.last().map(|truth| &*truth.text), Some("return 1"));
}

#[test]
fn two_servers_record_into_one_store() {
    let project = Project::new("");
    let editors = [editor(&project, setup(&project)), editor(&project, setup(&project))];
    let mut buffers = Vec::new();
    for (editor, path) in editors.iter().zip(["shop.py", "till.py"]) {
        buffers.push(ask(editor, path));
    }
    for (editor, (buffer, cursor)) in editors.iter().zip(&mut buffers) {
        write(editor, buffer, *cursor, "return 1");
    }
    editors.into_iter().for_each(|editor| drop(editor.client.exit()));
    let mut found: Vec<(String, String)> = rows(&project)
        .into_iter()
        .map(|row| (row.truth().expect("there is a truth").text.clone(), row.cursor.path))
        .collect();
    found.sort();
    let expected = ["shop.py", "till.py"].map(|path| ("return 1".to_owned(), path.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_store_of_a_newer_version_turns_recording_off_with_one_message() {
    let project = Project::new("");
    let first = editor(&project, setup(&project));
    ask(&first, "shop.py");
    first.client.exit();
    let store = folder(&project).join(STORE_FILE);
    // `user_version` is at byte 60 of the header.
    let mut bytes = fs::read(&store).expect("there is a store");
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    fs::write(&store, &bytes).expect("written");
    let second = editor(&project, setup(&project));
    let (mut buffer, cursor) = ask(&second, "till.py");
    let message = second.client.expect_notification("window/showMessage");
    let text = message["message"].as_str().unwrap_or_default();
    assert!(text.contains("newer version") && text.contains(STORE_FILE), "{text}");
    // Completions go on, without a further message.
    write(&second, &mut buffer, cursor, "re");
    second.item(&buffer, cursor + 2);
    second.client.exit();
    assert_eq!(fs::read(&store).expect("it is there"), bytes, "it is unchanged");
}

#[test]
fn a_document_that_gets_lost_ends_its_opportunities_with_a_reason() {
    let project = Project::new("");
    let editor = editor(&project, setup(&project).allow("window/showMessage"));
    let (buffer, _) = ask(&editor, "shop.py");
    let range = json!({"start": {"line": 900, "character": 7}, "end": {"line": 3, "character": 1}});
    let change = json!({"range": range, "text": "x"});
    let document = json!({"uri": buffer.uri(), "version": 9});
    editor
        .client
        .notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    pass(&editor, Duration::from_secs(60));
    editor.client.exit();
    let row = only_row(&project);
    assert_eq!((row.lost, row.truths.len()), (Some(LossReason::Inconsistent), 0));
}

#[test]
fn a_clock_that_is_set_back_changes_no_truth() {
    let project = Project::new("");
    let set_back = |editor: &Editor| {
        let ms = -i64::from(23 * 60 * 60 * 1_000);
        assert_eq!(editor.client.call("ghostbench/advanceTime", json!({"ms": ms})), Value::Null);
    };
    let first = editor(&project, setup(&project));
    let (mut buffer, cursor) = ask(&first, "shop.py");
    set_back(&first);
    write(&first, &mut buffer, cursor, "return 1");
    pass(&first, Duration::from_secs(15));
    let text = buffer.text().to_owned();
    first.client.exit();
    // The next server sees a row of the future.
    let second = editor(&project, setup(&project));
    set_back(&second);
    let mut buffer = second.open("shop.py", &text);
    // A row is continued where the text is the same: before anything is typed.
    wait_until("the second session reads the rows", || {
        let entries = fs::read_dir(folder(&project)).expect("it is a folder").flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("session-"))
    });
    pass(&second, Duration::from_millis(1));
    write(&second, &mut buffer, cursor + 7, "20 - ");
    pass(&second, Duration::from_secs(15));
    second.client.exit();
    let row = only_row(&project);
    let truths: Vec<(&str, &str)> =
        row.truths.iter().map(|truth| (truth.stage.name(), &*truth.text)).collect();
    assert_eq!(row.lost, None);
    assert!(truths.iter().all(|(_, text)| *text == "return 20 - 1"), "{truths:?}");
    assert!(row.truths.is_sorted_by_key(|truth| truth.at) && row.truths.len() >= 2, "{row:?}");
}

#[test]
fn time_of_the_system_is_not_advanced() {
    let project = Project::new("");
    let editor = Editor::new(&project);
    let code = editor.client.call_expecting_error("ghostbench/advanceTime", json!({"ms": 1}));
    assert_eq!(code, REQUEST_FAILED);
}
