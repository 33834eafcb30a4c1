//! Code that must not be sent, recorded or shown, with rules that change while documents are open.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use tests::lsp::{Buffer, uri};
use tests::{Project, wait_until};

use super::editor::{AUTOMATIC, Editor, REQUEST_FAILED, completion_params, find, items, setup};
use super::handshake::wait_until_ready;
use super::recording::{LOOP, SHOP, cursor};
use super::retrieval::{QUESTION, context, editor, has};

/// Whether a completion in this document is answered by the engine and a case is recorded; both or none.
#[track_caller]
fn is_admitted(editor: &Editor, buffer: &Buffer) -> bool {
    let answer = editor
        .client
        .call("textDocument/inlineCompletion", completion_params(buffer, buffer.text().len(), AUTOMATIC));
    let is_answered = !items(&answer).is_empty();
    let id = editor.client.request("ghostbench/recordCase", cursor(buffer, find(buffer.text(), LOOP)));
    let recorded = editor.client.wait(id);
    if let Err(error) = &recorded {
        assert_eq!(error["code"], REQUEST_FAILED, "{error}");
    }
    assert_eq!(recorded.is_ok(), is_answered, "{recorded:?} {}", editor.status());
    is_answered
}

fn editor_with_answers(project: &Project) -> Editor {
    let editor = Editor::scripted(project, &json!([{"path": "", "text": "pass"}]));
    wait_until_ready(&editor);
    editor
}

#[test]
fn ignore_rules_apply_to_open_documents_immediately() {
    let project = Project::new("//- /other.py\nx = 1\n");
    project.write("deep/inside/shop.py", SHOP);
    fs::create_dir_all(project.root().join(".git/info")).expect("the workspace is ours");
    let editor = editor_with_answers(&project);
    let buffer = editor.open("deep/inside/shop.py", SHOP);
    assert!(is_admitted(&editor, &buffer));
    for (file, rule) in [
        (".gitignore", "shop.py\n"),
        ("deep/.gitignore", "inside/\n"),
        ("deep/inside/.ghostbenchignore", "*.py\n"),
        (".git/info/exclude", "deep\n"),
        ("deep/inside/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
    ] {
        let path = project.write(file, rule);
        // The marker file excludes a build output folder.
        assert!(!is_admitted(&editor, &buffer), "{file}");
        if !file.ends_with("TAG") {
            fs::write(&path, "nothing\n").expect("it is ours");
            assert!(is_admitted(&editor, &buffer), "{file} rewritten");
            fs::write(&path, rule).expect("it is ours");
            assert!(!is_admitted(&editor, &buffer), "{file} written back");
        }
        fs::remove_file(&path).expect("it is ours");
        assert!(is_admitted(&editor, &buffer), "{file} removed");
    }
}

#[test]
fn newly_ignored_open_document_is_not_context() {
    let project =
        Project::new("//- /main.py\nx = 1\n//- /gadgets.py\ndef make_gadget(size):\n    return size\n");
    let editor = editor(&project, |setup| setup);
    editor.open("gadgets.py", "def make_gadget(size):\n    return size * 2\n");
    assert!(has(&context(&editor, QUESTION), "gadgets.py"));
    project.write(".ghostbenchignore", "gadgets.py\n");
    assert!(!has(&context(&editor, QUESTION), "gadgets.py"));
    fs::remove_file(project.root().join(".ghostbenchignore")).expect("it is ours");
    assert!(has(&context(&editor, QUESTION), "gadgets.py"));
}

#[test]
fn newly_ignored_closed_file_is_not_context() {
    let project =
        Project::new("//- /main.py\nx = 1\n//- /gadgets.py\ndef make_gadget(size):\n    return size\n");
    let editor = editor(&project, |setup| setup);
    assert!(has(&context(&editor, QUESTION), "gadgets.py"));
    // At the next request, whether or not the watcher has noticed.
    for _ in 0..5 {
        project.write(".ghostbenchignore", "gadgets.py\n");
        assert!(!has(&context(&editor, QUESTION), "gadgets.py"));
        fs::remove_file(project.root().join(".ghostbenchignore")).expect("it is ours");
        wait_until("it is context again", || has(&context(&editor, QUESTION), "gadgets.py"));
    }
}

#[test]
fn document_renamed_to_a_secret_name_is_not_admitted() {
    let project = Project::new("");
    let editor = editor_with_answers(&project);
    let before = editor.open("shop.py", SHOP);
    assert!(is_admitted(&editor, &before));
    editor.close(&before);
    assert!(!is_admitted(&editor, &editor.open("secrets.py", SHOP)));
}

fn link(target: impl AsRef<Path>, path: impl AsRef<Path>) {
    symlink(target, path).expect("the temporary folder is ours");
}

#[test]
fn symlink_is_admitted_by_the_rules_of_its_target() {
    let project = Project::new("//- /.gitignore\n/private\n");
    let outside = project.sibling_path("outside");
    fs::create_dir_all(outside.join(".git")).expect("the temporary folder is ours");
    for (path, text) in
        [("id_rsa", SHOP), ("shop.py", SHOP), ("hidden.py", SHOP), (".gitignore", "hidden.py\n")]
    {
        fs::write(outside.join(path), text).expect("the temporary folder is ours");
    }
    project.write("private/shop.py", SHOP);
    let root = project.root();
    link(outside.join("id_rsa"), root.join("readme_key.py"));
    link(outside.join("shop.py"), root.join("shared.py"));
    link(outside.join("hidden.py"), root.join("shown.py"));
    link("private/shop.py", root.join("public.py"));
    let editor = editor_with_answers(&project);
    for (path, expected) in
        [("readme_key.py", false), ("shared.py", true), ("shown.py", false), ("public.py", false)]
    {
        assert_eq!(is_admitted(&editor, &editor.open(path, SHOP)), expected, "{path}");
    }
    let buffer = editor.open("shared.py", SHOP);
    fs::remove_file(root.join("shared.py")).expect("it is ours");
    link(outside.join("id_rsa"), root.join("shared.py"));
    assert!(!is_admitted(&editor, &buffer), "a link that is led elsewhere while it is open");
}

#[test]
fn documents_with_non_utf8_names_stay_distinct() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &json!([{"path": "", "echo": true}]));
    let folder = uri(&project.root());
    let first = editor.open_uri(&format!("{folder}/caf%E9.py"), "x = 1\n");
    let second = editor.open_uri(&format!("{folder}/caf%E8.py"), "y = 22\n");
    let (one, two) = (editor.ghost_text(&first, 6), editor.ghost_text(&second, 7));
    assert!(one.contains("len=6") && two.contains("len=7"), "{one} {two}");
    editor.close(&first);
    assert!(editor.ghost_text(&second, 7).contains("len=7"));
}

#[test]
fn invisible_characters_are_never_inserted() {
    let project = Project::new("");
    let rules = json!([
        {"path": "escape.py", "text": "\u{1b}]0;title\u{7}pass"},
        {"path": "turned.py", "text": "is_admin = False # \u{202e}eurT = nimda_si\u{202c}"},
        {"path": "nul.py", "text": "pass\u{0}"},
    ]);
    let editor = Editor::start(&project, &["--scripted", &rules.to_string()], setup(&project));
    for (path, character) in [("escape.py", "U+001B"), ("turned.py", "U+202E")] {
        let buffer = editor.open(path, "x = 1\n");
        let answer =
            editor.client.call("textDocument/inlineCompletion", completion_params(&buffer, 6, AUTOMATIC));
        assert_eq!(items(&answer), Vec::<Value>::new());
        let last = &editor.status()["lastCompletion"];
        assert_eq!(last["status"], "gated", "{last}");
        assert!(last["reason"].as_str().is_some_and(|reason| reason.contains(character)), "{last}");
    }
    assert_eq!(editor.ghost_text(&editor.open("nul.py", "x = 1\n"), 6), "pass");
}
