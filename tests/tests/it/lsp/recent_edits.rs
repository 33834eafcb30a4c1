//! Recently typed code has more weight in the built-in engine.

use tests::Project;
use tests::lsp::Buffer;

use super::editor::{Editor, INVOKED, completion_params, find, items, setup};
use super::handshake::wait_until_ready;

const WORKSPACE: &str = "\
//- /calls.py
if x:
    reply = fetch(first, 1)
while x:
    reply = fetch(first, 1)
with x:
    reply = fetch(second, 2)

//- /a.py
x = 1

//- /b.py
x = 1
";

/// Two equally likely calls for a third one.
const ALIKE: &str = "if x:\n    a = f(one)\nwhile x:\n    a = f(two)\nfor x in y:\n    a = f(\n";

fn editor(project: &Project) -> Editor {
    let editor = Editor::start(project, &["--engine", "builtin"], setup(project));
    wait_until_ready(&editor);
    editor
}

/// The suggestion on explicit invocation.
#[track_caller]
pub(super) fn suggestion(editor: &Editor, buffer: &Buffer, offset: usize) -> String {
    let answer =
        editor.client.call("textDocument/inlineCompletion", completion_params(buffer, offset, INVOKED));
    let items = items(&answer);
    buffer.ghost_text(offset, items.first().unwrap_or_else(|| panic!("nothing: {answer}")))
}

#[test]
fn recently_typed_code_ranks_higher_in_other_documents() {
    let project = Project::new(WORKSPACE);
    let editor = editor(&project);
    let mut one = editor.open("a.py", "x = 1\n");
    let mut other = editor.open("b.py", "x = 1\n");
    editor.change(other.append("reply = fetch("));
    assert_eq!(suggestion(&editor, &other, other.text().len()), "first, 1)");
    for character in "reply = fetch(second, 2)\n".chars() {
        editor.change(one.append(&character.to_string()));
    }
    assert_eq!(suggestion(&editor, &other, other.text().len()), "second, 2)");
    let start = find(one.text(), "reply");
    editor.change(one.edit(start..start + "reply = fetch(second, 2)".len(), ""));
    assert_eq!(suggestion(&editor, &other, other.text().len()), "first, 1)", "it was taken back");
}

#[test]
fn recently_typed_code_ranks_higher_in_its_document() {
    let project = Project::new("");
    let editor = editor(&project);
    let cursor = ALIKE.len() - 1;
    let opened = editor.open("opened.py", ALIKE);
    assert_eq!(suggestion(&editor, &opened, cursor), "two)");
    // Code in other documents counts too, and this one has no call at the cursor yet.
    editor.close(&opened);
    let mut typed = editor.open("typed.py", &ALIKE.replace("one", ""));
    let at = find(ALIKE, "one");
    editor.change(typed.edit(at..at, "one"));
    assert_eq!(suggestion(&editor, &typed, cursor), "one)");
}
