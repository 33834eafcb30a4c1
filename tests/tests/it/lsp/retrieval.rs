//! Retrieved context of a request: from open documents and from changes on disk.

use std::fs;

use serde_json::{Value, json};
use tests::lsp::ClientSetup;
use tests::{Project, wait_until};

use super::editor::{Editor, setup};
use super::file_watching::{count, log};
use super::handshake::wait_until_ready;

/// An engine that answers with the files of its context.
fn rules() -> Value {
    json!([{"path": "", "context": true}])
}

const WORKSPACE: &str = "\
//- /main.py
from widgets import make_widget

//- /widgets.py
def make_widget(size):
    return size

//- /other.py
total = 1
";

/// A request whose answer needs `make_gadget`.
pub(super) const QUESTION: &str = "size = 3\ngadget = make_gadget(size)\nprint(gadget)\nother = make_gadget";

pub(super) fn editor(project: &Project, client: impl FnOnce(ClientSetup) -> ClientSetup) -> Editor {
    let editor = Editor::start(project, &["--scripted", &rules().to_string()], client(setup(project)));
    wait_until_ready(&editor);
    editor
}

/// A client that watches files itself.
pub(super) fn watching(setup: ClientSetup) -> ClientSetup {
    setup.capability("/workspace/didChangeWatchedFiles/dynamicRegistration", true.into())
}

/// The files of a request's context. Each request differs, so that no answer is reused.
#[track_caller]
pub(super) fn context(editor: &Editor, question: &str) -> Vec<String> {
    context_at(editor, &editor.uri("main.py"), question, question.len())
}

/// The files of the context of a request at an offset of a document.
#[track_caller]
pub(super) fn context_at(editor: &Editor, uri: &str, text: &str, offset: usize) -> Vec<String> {
    let buffer = editor.open_uri(uri, text);
    let answer = editor.ghost_text(&buffer, offset);
    editor.close(&buffer);
    let paths = answer.strip_prefix("context=").unwrap_or_else(|| panic!("no context: {answer}"));
    paths.split_whitespace().map(str::to_owned).collect()
}

pub(super) fn has(paths: &[String], path: &str) -> bool {
    paths.iter().any(|known| known == path)
}

#[test]
fn request_context_contains_code_from_other_files() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    let paths = context(&editor, "from widgets import make_widget\n\nwidget = make_widget");
    assert!(has(&paths, "widgets.py"), "{paths:?}");
    assert!(!has(&paths, "main.py"), "{paths:?}");
}

#[test]
fn unsaved_text_of_another_document_is_context() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    assert!(!has(&context(&editor, QUESTION), "other.py"));
    let mut other = editor.open("other.py", "total = 1\n");
    editor.change(other.append("\ndef make_gadget(size):\n    return size\n"));
    assert!(has(&context(&editor, QUESTION), "other.py"));
    let back = other.change_all("total = 1\n");
    editor.change(other.did_change(vec![back]));
    assert!(!has(&context(&editor, QUESTION), "other.py"));
}

#[test]
fn changing_another_document_invalidates_cached_answers() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    let mut other = editor.open("other.py", "total = 1\n");
    let question = editor.open("question.py", QUESTION);
    let before = editor.ghost_text(&question, QUESTION.len());
    assert_eq!(editor.ghost_text(&question, QUESTION.len()), before);
    assert_eq!(editor.last_completion(), "reused");
    editor.change(other.append("\ndef make_gadget(size):\n    return size\n"));
    assert_ne!(editor.ghost_text(&question, QUESTION.len()), before);
    assert_eq!(editor.last_completion(), "ok");
}

#[test]
fn closing_another_document_invalidates_cached_answers() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    let mut other = editor.open("other.py", "total = 1\n");
    editor.change(other.append("\ndef make_gadget(size):\n    return size\n"));
    // The request is newer than any content of the other document.
    let question = editor.open("question.py", QUESTION);
    let before = editor.ghost_text(&question, QUESTION.len());
    assert!(before.contains("other.py"), "{before}");
    assert_eq!(editor.ghost_text(&question, QUESTION.len()), before);
    assert_eq!(editor.last_completion(), "reused");
    editor.close(&other);
    let after = editor.ghost_text(&question, QUESTION.len());
    assert_eq!(editor.last_completion(), "ok");
    assert!(!after.contains("other.py"), "what was never saved is gone: {after}");
}

#[test]
fn unsaved_new_document_is_context() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    let new = editor.open("gadgets.py", "def make_gadget(size):\n    return size\n");
    assert!(has(&context(&editor, QUESTION), "gadgets.py"));
    editor.close(&new);
    assert!(!has(&context(&editor, QUESTION), "gadgets.py"));
}

#[test]
fn open_document_replaces_its_file_in_the_outer_folder() {
    let project = Project::new(WORKSPACE);
    project.write("inner/gadgets.py", "count = 1\n");
    let inner = project.root().join("inner");
    let editor = editor(&project, |setup| setup.folder(&inner));
    assert!(!has(&context(&editor, QUESTION), "inner/gadgets.py"));
    let gadgets = editor.open("inner/gadgets.py", "def make_gadget(size):\n    return size\n");
    assert!(has(&context(&editor, QUESTION), "inner/gadgets.py"));
    editor.close(&gadgets);
    assert!(!has(&context(&editor, QUESTION), "inner/gadgets.py"));
}

#[test]
fn document_ignored_by_the_outer_folder_is_not_its_context() {
    let project = Project::new(WORKSPACE);
    project.write(".gitignore", "/inner\n");
    project.write("inner/gadgets.py", "count = 1\n");
    let inner = project.root().join("inner");
    let editor = editor(&project, |setup| setup.folder(&inner));
    editor.open("inner/gadgets.py", "def make_gadget(size):\n    return size\n");
    let main = editor.uri("inner/main.py");
    assert!(has(&context_at(&editor, &main, QUESTION, QUESTION.len()), "gadgets.py"));
    assert!(!has(&context(&editor, QUESTION), "inner/gadgets.py"));
}

#[test]
fn open_secret_files_are_never_context() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    editor.open("secrets.py", "def make_gadget(size):\n    return size\n");
    assert!(!has(&context(&editor, QUESTION), "secrets.py"));
}

#[test]
fn client_file_events_update_the_index() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, watching);
    editor.client.expect_request("client/registerCapability");
    project.write("gadgets.py", "def make_gadget(size):\n    return size\n");
    editor.watched("gadgets.py", 1);
    wait_until("the new file is found", || has(&context(&editor, QUESTION), "gadgets.py"));
    fs::rename(project.root().join("gadgets.py"), project.root().join("renamed.py")).expect("it was written");
    editor.watched("gadgets.py", 3);
    editor.watched("renamed.py", 1);
    wait_until("the name is followed", || has(&context(&editor, QUESTION), "renamed.py"));
    assert!(!has(&context(&editor, QUESTION), "gadgets.py"));
}

#[test]
fn server_watches_files_for_clients_that_do_not() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    project.write("deep/down/gadgets.py", "def make_gadget(size):\n    return size\n");
    wait_until("the new folder is found", || has(&context(&editor, QUESTION), "deep/down/gadgets.py"));
    fs::remove_dir_all(project.root().join("deep")).expect("it was written");
    wait_until("it is forgotten", || !has(&context(&editor, QUESTION), "deep/down/gadgets.py"));
}

#[test]
fn file_replaced_by_a_folder_is_indexed() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    fs::remove_file(project.root().join("other.py")).expect("it is there");
    project.write("other.py/gadgets.py", "def make_gadget(size):\n    return size\n");
    wait_until("the folder is found", || has(&context(&editor, QUESTION), "other.py/gadgets.py"));
}

#[test]
fn many_changed_files_are_indexed_while_serving_requests() {
    let project = Project::generated(300);
    let editor = editor(&project, |setup| setup);
    for number in 0..300 {
        project.write(
            &format!("shop/module_{number}.py"),
            format!("def changed_{number}(size):\n    return size\n"),
        );
    }
    // It answers all the time.
    wait_until("the last change is found", || {
        has(&context(&editor, "x = changed_299(2)\ny = changed_299"), "shop/module_299.py")
    });
}

#[test]
fn index_is_cached_for_the_next_start() {
    let project = Project::new(WORKSPACE);
    let first = editor(&project, |setup| setup);
    let caches = || {
        let listed = project.run("index --list --json");
        serde_json::from_str::<Value>(&listed.stdout).expect("a list")
    };
    wait_until("the index is cached", || caches()[0]["files"] == 3);
    drop(first);
    project.write("other.py", "def make_gadget(size):\n    return size\n");
    let again = project.run("index . --json");
    let again: Value = serde_json::from_str(&again.stdout).expect("a report");
    assert_eq!((&again["reused"], &again["derived"]), (&json!(2), &json!(1)), "{again}");
    let editor = editor(&project, |setup| setup);
    assert!(has(&context(&editor, QUESTION), "other.py"));
}

#[test]
fn unwritable_cache_is_reported_once_and_indexing_continues() {
    let project = Project::new(WORKSPACE);
    // There is a file at the path of the cache folder.
    project.write("../home/.cache", "");
    let editor = editor(&project, |setup| setup);
    assert!(has(&context(&editor, "from widgets import make_widget\n\nwidget = make_widget"), "widgets.py"));
    let log = log(&editor);
    wait_until("it is reported", || count(&log, "nothing is cached") == 1);
    // Each of these would be cached.
    for round in ["one", "two", "three"] {
        let gadgets = format!("def make_gadget_{round}(size):\n    return size\n");
        project.write(&format!("{round}.py"), gadgets.repeat(100));
        let question = format!("size = 3\ngadget = make_gadget_{round}");
        wait_until("it is found", || has(&context(&editor, &question), &format!("{round}.py")));
    }
    drop(editor);
    assert_eq!(count(&log, "nothing is cached"), 1, "it is reported once");
}
