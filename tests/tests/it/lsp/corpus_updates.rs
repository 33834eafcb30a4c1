//! The built-in engine uses the current code: other open documents, files changed on disk, and the cache.

use serde_json::Value;
use tests::{Project, wait_until};

use super::editor::{Editor, INVOKED, completion_params, items, setup};
use super::file_watching::{count, log};
use super::handshake::wait_until_ready;
use super::retrieval::watching;

/// The log message for a full build of the tokens, which updates don't print.
const CORPUS_BUILT: &str = "tokens built";

/// Code that occurs nowhere else.
const GADGETS: &str = "\
def polish(gadget):
    gadget.rotate_clockwise(degrees=90, careful=True)

def sharpen(gadget):
    gadget.rotate_clockwise(degrees=90, careful=True)
";

/// Enough code that a small change does not cause a rebuild.
fn project() -> Project {
    Project::generated(40)
}

fn editor(project: &Project) -> Editor {
    let editor = Editor::start(project, &["--log-level", "debug"], watching(setup(project)));
    wait_until_ready(&editor);
    editor
}

/// The proposal after `gadget.` in a function of this name; each name makes a new request.
fn proposal(editor: &Editor, function: &str) -> String {
    let text = format!("def {function}(gadget):\n    gadget.");
    let buffer = editor.open("question.py", &text);
    let params = completion_params(&buffer, text.len(), INVOKED);
    let answer: Value = editor.client.call("textDocument/inlineCompletion", params);
    let proposed = items(&answer).first().map(|item| buffer.ghost_text(text.len(), item));
    editor.close(&buffer);
    proposed.unwrap_or_default()
}

#[test]
fn unsaved_text_is_suggested_in_other_documents() {
    let project = project();
    let editor = editor(&project);
    assert!(!proposal(&editor, "turn").contains("rotate_clockwise"));
    let mut gadgets = editor.open("gadgets.py", "");
    editor.change(gadgets.append(GADGETS));
    assert_eq!(proposal(&editor, "spin"), "rotate_clockwise(degrees=90, careful=True)");
    let newer = gadgets.change_all(&GADGETS.replace("rotate_clockwise", "turn_around"));
    editor.change(gadgets.did_change(vec![newer]));
    assert_eq!(proposal(&editor, "whirl"), "turn_around(degrees=90, careful=True)");
    editor.close(&gadgets);
    assert!(!proposal(&editor, "reel").contains("turn_around"));
}

#[test]
fn unsaved_document_replaces_its_file_in_the_corpus() {
    let project = project();
    project.write("gadgets.py", GADGETS);
    let editor = editor(&project);
    assert!(proposal(&editor, "turn").contains("rotate_clockwise"));
    editor.open("gadgets.py", "");
    assert!(!proposal(&editor, "spin").contains("rotate_clockwise"));
}

#[test]
fn changes_on_disk_are_suggested_without_a_corpus_rebuild() {
    let project = project();
    let editor = editor(&project);
    project.write("gadgets.py", GADGETS);
    editor.watched("gadgets.py", 1);
    let mut round = 0;
    let mut next = || {
        round += 1;
        proposal(&editor, &format!("turn_{round}"))
    };
    wait_until("the new file is read", || next().contains("rotate_clockwise"));
    project.write("gadgets.py", GADGETS.replace("rotate_clockwise", "turn_around"));
    editor.watched("gadgets.py", 2);
    wait_until("the change is read", || next().contains("turn_around"));
    assert!(!next().contains("rotate_clockwise"));
    assert_eq!(count(&log(&editor), CORPUS_BUILT), 1, "when the folder was opened");
}

#[test]
fn corpus_is_rebuilt_after_large_changes() {
    let project = Project::new("//- /main.py\nsize = 1\n");
    let editor = editor(&project);
    project.write("gadgets.py", GADGETS);
    editor.watched("gadgets.py", 1);
    wait_until("they are", || count(&log(&editor), CORPUS_BUILT) == 2);
    assert!(proposal(&editor, "turn").contains("rotate_clockwise"));
}

#[test]
fn second_start_loads_the_corpus_from_the_cache() {
    let project = project();
    project.write("gadgets.py", GADGETS);
    // The log continues from one start to the next.
    let start = |from_cache: [usize; 2], name: &str| {
        let editor = editor(&project);
        let log = log(&editor);
        let found = [false, true].map(|from_cache| count(&log, &format!("from_cache={from_cache}")));
        assert_eq!(found, from_cache);
        wait_until("they are kept", || count(&log, "tokens cached") == 1);
        let proposed = proposal(&editor, "turn");
        assert!(proposed.contains(name), "{proposed}");
    };
    start([1, 0], "rotate_clockwise");
    start([1, 1], "rotate_clockwise");
    project.write("gadgets.py", GADGETS.replace("rotate_clockwise", "turn_around"));
    start([1, 2], "turn_around");
}
