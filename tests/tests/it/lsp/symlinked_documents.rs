//! Documents opened by another path than the workspace's path of the file: text after the cursor must not come from the file on
//! disk, nor from the same file in another window.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use tests::Project;
use tests::lsp::{ClientSetup, uri};

use super::editor::{Editor, bare_setup, setup};
use super::recording::{LOOP, SHOP, all_cases, lenses, record};
use super::retrieval::{QUESTION, context_at, editor, has};

/// The text after the question in its own file, which would be the answer.
const ANSWER: &str = "(size)\n\n\ndef make_gadget(size):\n    return size\n";

fn text() -> String {
    format!("{QUESTION}{ANSWER}")
}

fn project() -> Project {
    let project = Project::new("//- /other.py\ntotal = 1\n");
    project.write("package/main.py", text());
    project
}

fn link(target: impl AsRef<Path>, path: impl AsRef<Path>) {
    symlink(target, path).expect("the temporary folder is ours");
}

/// Opens the document at `path` with only the question, and checks that the rest of its file on disk is not used; a request in
/// a separate document proves that the text is found elsewhere.
#[track_caller]
fn check_hidden(editor: &Editor, root: &Path, path: &Path) {
    let elsewhere = context_at(editor, &uri(&root.join("elsewhere.py")), QUESTION, QUESTION.len());
    assert!(has(&elsewhere, "package/main.py"), "{elsewhere:?}");
    let seen = context_at(editor, &uri(path), QUESTION, QUESTION.len());
    assert!(!seen.iter().any(|path| path.ends_with(".py") && path != "other.py"), "{seen:?}");
}

#[test]
fn document_in_a_symlinked_folder_is_not_its_own_context() {
    let project = project();
    link("package", project.root().join("link"));
    let editor = editor(&project, |setup| setup);
    check_hidden(&editor, &project.root(), &project.root().join("link/main.py"));
}

#[test]
fn symlinked_document_is_not_its_own_context() {
    let project = project();
    link("package/main.py", project.root().join("link.py"));
    let editor = editor(&project, |setup| setup);
    check_hidden(&editor, &project.root(), &project.root().join("link.py"));
}

#[test]
fn real_path_in_a_symlinked_root_is_not_its_own_context() {
    let project = project();
    let alias = project.sibling_path("alias");
    link(project.root(), &alias);
    let editor = editor(&project, |_| bare_setup().folder(&alias));
    check_hidden(&editor, &project.root(), &project.root().join("package/main.py"));
}

#[test]
fn path_through_a_root_symlink_is_not_its_own_context() {
    let project = project();
    let alias = project.sibling_path("alias");
    link(project.root(), &alias);
    let editor = editor(&project, |setup| setup);
    check_hidden(&editor, &alias, &alias.join("package/main.py"));
}

#[test]
fn open_document_is_not_context_of_its_symlinked_path() {
    let project = Project::new("//- /other.py\ntotal = 1\n");
    project.write("package/main.py", "");
    link("package", project.root().join("link"));
    let editor = editor(&project, |setup| setup);
    editor.open("package/main.py", &text());
    check_hidden(&editor, &project.root(), &project.root().join("link/main.py"));
}

#[test]
fn outside_document_is_not_context_of_its_other_symlink() {
    let project = project();
    std::fs::create_dir(project.sibling_path("outside")).expect("the temporary folder is ours");
    std::fs::write(project.sibling_path("outside/gadgets.py"), text()).expect("the temporary folder is ours");
    for name in ["one", "two"] {
        link(project.sibling_path("outside"), project.root().join(name));
    }
    std::fs::remove_dir_all(project.root().join("package")).expect("it was written");
    let editor = editor(&project, |setup| setup);
    editor.open("one/gadgets.py", &text());
    let elsewhere = super::retrieval::context(&editor, QUESTION);
    assert!(has(&elsewhere, "one/gadgets.py"), "{elsewhere:?}");
    let path = uri(&project.root().join("two/gadgets.py"));
    let seen = context_at(&editor, &path, QUESTION, QUESTION.len());
    assert_eq!(seen.iter().filter(|path| path.ends_with("gadgets.py")).count(), 0, "{seen:?}");
}

#[test]
fn ignored_file_is_gated_behind_a_symlink() {
    let project = project();
    project.write(".gitignore", "/package\n");
    link("package", project.root().join("link"));
    let editor = editor(&project, |setup| setup);
    let buffer = editor.open("link/main.py", &text());
    let id = editor.ask(&buffer, QUESTION.len());
    editor.client.wait(id).expect("it is answered");
    assert_eq!(editor.last_completion(), "gated");
}

#[test]
fn case_recorded_behind_a_symlink_belongs_to_the_real_file() {
    let project = Project::new("");
    project.write("package/shop.py", SHOP);
    link("package", project.root().join("link"));
    let editor = Editor::start(&project, &["--scripted", &json!([]).to_string()], setup(&project));
    let buffer = editor.open("link/shop.py", SHOP);
    record(&editor, &buffer, LOOP);
    assert_eq!(all_cases(&editor)[0]["path"], "package/shop.py");
    assert_eq!(lenses(&editor, &buffer).len(), 1);
}

#[test]
fn file_saved_through_a_root_symlink_is_read_again() {
    let project = project();
    let alias = project.sibling_path("alias");
    link(project.root(), &alias);
    // A client that claims to watch files, and sends no notification.
    let watching = |setup: ClientSetup| {
        setup.capability("/workspace/didChangeWatchedFiles/dynamicRegistration", true.into())
    };
    let editor = editor(&project, watching);
    let saved = editor.open_uri(&uri(&alias.join("other.py")), "total = 1\n");
    let id = editor.ask_at_end(&saved);
    editor.client.wait(id).expect("it is answered");
    project.write("other.py", "def make_widget(size):\n    return size\n");
    editor.client.notify("textDocument/didSave", json!({"textDocument": saved.id()}));
    editor.close(&saved);
    tests::wait_until("the saved text is found", || {
        has(&super::retrieval::context(&editor, "size = 3\nwidget = make_widget"), "other.py")
    });
}
