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
fn a_question_is_answered_with_code_from_other_files() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    let paths = context(&editor, "from widgets import make_widget\n\nwidget = make_widget");
    assert!(has(&paths, "widgets.py"), "{paths:?}");
    assert!(!has(&paths, "main.py"), "{paths:?}");
}

#[test]
fn what_is_typed_in_one_document_is_found_from_another_at_once() {
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
fn an_answer_is_not_used_again_when_another_document_has_changed() {
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
fn an_answer_is_not_used_again_when_another_document_was_closed() {
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
fn a_document_that_is_not_saved_yet_is_found_too() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    let new = editor.open("gadgets.py", "def make_gadget(size):\n    return size\n");
    assert!(has(&context(&editor, QUESTION), "gadgets.py"));
    editor.close(&new);
    assert!(!has(&context(&editor, QUESTION), "gadgets.py"));
}

#[test]
fn a_document_of_a_folder_within_beats_its_file_in_the_folder_around() {
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
fn what_the_folder_around_ignores_is_not_found_from_it() {
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
fn secrets_that_are_open_are_never_context() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    editor.open("secrets.py", "def make_gadget(size):\n    return size\n");
    assert!(!has(&context(&editor, QUESTION), "secrets.py"));
}

#[test]
fn files_that_the_client_tells_of_are_followed() {
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
fn files_are_followed_for_clients_that_watch_none() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    project.write("deep/down/gadgets.py", "def make_gadget(size):\n    return size\n");
    wait_until("the new folder is found", || has(&context(&editor, QUESTION), "deep/down/gadgets.py"));
    fs::remove_dir_all(project.root().join("deep")).expect("it was written");
    wait_until("it is forgotten", || !has(&context(&editor, QUESTION), "deep/down/gadgets.py"));
}

#[test]
fn a_file_that_becomes_a_folder_is_followed() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project, |setup| setup);
    fs::remove_file(project.root().join("other.py")).expect("it is there");
    project.write("other.py/gadgets.py", "def make_gadget(size):\n    return size\n");
    wait_until("the folder is found", || has(&context(&editor, QUESTION), "other.py/gadgets.py"));
}

#[test]
fn a_switch_of_branches_is_taken_in_behind_the_running_server() {
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
fn what_was_read_is_read_from_the_cache_the_next_time() {
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
fn a_cache_that_cannot_be_written_costs_nothing_but_time() {
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
