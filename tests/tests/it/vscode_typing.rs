//! Ghost text in a real VS Code: keys, cursors, documents of all kinds.

use std::fs;

use serde_json::{Value, json};
use tests::{Project, VsCode, wait_until};

const INLINE_COMPLETION: &str = "textDocument/inlineCompletion";

/// Longer than renaming a file takes.
const SLOW_MS: u64 = 4_000;

/// What the engine suggests everywhere.
const SUGGESTION: &str = "total + price";

#[track_caller]
fn open(project: &Project, file: &str, rules: &Value) -> Option<VsCode> {
    VsCode::open(project, file, &["--scripted", &rules.to_string()])
}

/// Whether the document has this line. VS Code may ask for the next suggestion after each change, which then follows it.
fn has_line(text: &str) -> String {
    format!("Eyes.written().includes({})", Value::from(text))
}

#[test]
fn keys_cursors_and_line_ends() {
    let project = Project::new("");
    project.write("a.py", "# \u{1f642}\r\n\r\nx = 1\r\n");
    let Some(editor) = open(&project, "a.py", &json!([{"path": "", "text": SUGGESTION}])) else { return };
    // Typing along the suggestion shortens it; another key removes it, and the next one is asked for.
    editor.go_to(2, 1);
    editor.type_text("y = ");
    editor.wait_for_this_ghost_text(SUGGESTION);
    editor.type_text("tot");
    editor.wait_for_this_ghost_text("al + price");
    // A word, then the rest.
    editor.press("Control+ArrowRight");
    editor.wait_for_this_ghost_text(" + price");
    editor.press("Tab");
    editor.wait_until(&has_line("y = total + price"));
    // Undo takes the accepted text back; redo brings it again.
    editor.press("Control+z");
    editor.wait_until(&format!("!{}", has_line("y = total + price")));
    editor.press("Control+y");
    editor.wait_until(&has_line("y = total + price"));
    // Dismissed suggestions stay away until the next key.
    editor.press("Enter");
    editor.type_text("z = ");
    editor.wait_for_this_ghost_text(SUGGESTION);
    editor.press("Escape");
    editor.wait_until(&format!("Eyes.ghostText() === null && {}", has_line("z = ")));
    editor.type_text("'\u{1f643}' + ");
    editor.wait_for_this_ghost_text(SUGGESTION);
    editor.press("Tab");
    editor.wait_until(&has_line("z = '\u{1f643}' + total + price"));
    // With two cursors, typed text goes to both, and a suggestion at one of them changes nothing.
    editor.press("Control+End");
    editor.type_text("a = \nb = ");
    editor.press("Escape");
    editor.run("Add Cursor Above");
    editor.wait_until(
        "/2 selections/.test(document.querySelector('#status\\\\.editor\\\\.selection')?.textContent ?? '')",
    );
    editor.type_text("9");
    editor.wait_until(
        "['a', 'b'].every((name) => Eyes.lines().some((line) => line.startsWith(`${name} = 9`)))",
    );
    editor.check_saved(
        "# \u{1f642}\r\ny = total + price\r\nz = '\u{1f643}' + total + price\r\nx = 1\r\na = 9\r\nb = 9",
    );
}

/// A notebook with a cell.
const NOTEBOOK: &str = r#"{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["x = 1"]}],
"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}"#;

#[test]
fn long_files_notebooks_and_renamed_files() {
    let project = Project::new("//- /a.py\n");
    project.write("cells.ipynb", NOTEBOOK);
    project.write("long.py", "value = compute(1, 2, 3)\n".repeat(20_000));
    project.write("slow.py", "\n");
    let rules = json!([
        {"path": "slow.py", "delay_ms": SLOW_MS, "text": "too_late"},
        {"path": "", "text": SUGGESTION},
    ]);
    let Some(editor) = open(&project, "a.py", &rules) else { return };
    editor.open_file("long.py");
    editor.focus_text();
    editor.press("Control+End");
    editor.wait_until("Eyes.cursor() === 'Ln 20001, Col 1'");
    editor.type_text("w = ");
    editor.wait_for_ghost_text();
    let (_, answer) = editor.requests(INLINE_COMPLETION).pop().expect("it was asked");
    assert!(answer.is_some_and(|answer| answer["result"].to_string().contains(SUGGESTION)));
    editor.press("Escape");
    editor.press("Control+z");

    // A request for a file that is renamed meanwhile is not drawn in the new one, which has suggestions of its own.
    editor.open_file("slow.py");
    editor.focus_text();
    let asked = editor.requests(INLINE_COMPLETION).len();
    editor.type_text("q = ");
    wait_until("it is asked", || editor.requests(INLINE_COMPLETION).len() > asked);
    editor.press("Control+s");
    editor.run("File: Reveal Active File in Explorer View");
    editor.press("F2");
    editor.wait_until("document.activeElement?.closest('.explorer-item-edited, .monaco-inputbox') !== null");
    editor.press("Control+a");
    editor.type_text("fast.py");
    editor.press("Enter");
    editor.wait_until("Eyes.tab() === 'fast.py'");
    editor.focus_text();
    editor.press("Control+End");
    editor.type_text("r = ");
    editor.wait_for_this_ghost_text(SUGGESTION);
    assert!(!editor.evaluate("Eyes.drawn").to_string().contains("too_late"));
    assert!(project.root().join("fast.py").is_file() && !project.root().join("slow.py").exists());

    editor.open_file("cells.ipynb");
    editor.wait_until("document.querySelector('.notebookOverlay .cell-list-container .view-lines') !== null");
    editor.run("Ghostbench: Record Case at Cursor");
    editor.wait_for_message("notebooks are not supported");
    let opened = editor.sent_by_editor();
    let cells = opened.iter().filter(|message| message.to_string().contains("vscode-notebook-cell"));
    assert_eq!(cells.count(), 0, "cells are not sent");
    assert!(fs::read_to_string(project.root().join("cells.ipynb")).is_ok_and(|text| text == NOTEBOOK));
}
