//! Several languages in one workspace.

use tests::Project;
use tests::lsp::{Buffer, Encoding};

use super::editor::{Editor, items, setup};
use super::handshake::wait_until_ready;
use super::recent_edits::suggestion;

const WORKSPACE: &str = "\
//- /a.py
reply = fetch(python, 1)
other = fetch(python, 1)

//- /web/a.ts
reply = fetch(script, 2);
other = fetch(script, 2);

//- /A.java
reply = fetch(java, 3);
other = fetch(java, 3);

//- /a.rs
reply = fetch(rust, 4);
other = fetch(rust, 4);

//- /a.go
reply = fetch(golang, 5)
other = fetch(golang, 5)

//- /include/a.h
reply = fetch(header, 6);
other = fetch(header, 6);

//- /index.html
<script>reply = fetch(html, 7); other = fetch(html, 7);</script>
";

#[test]
fn each_language_is_completed_from_its_own_family() {
    let project = Project::new(WORKSPACE);
    let editor = Editor::start(&project, &["--engine", "builtin"], setup(&project));
    wait_until_ready(&editor);
    for (path, expected) in [
        ("b.py", "python, 1)"),
        ("b.ts", "script, 2);"),
        ("web/b.jsx", "script, 2);"),
        ("B.java", "java, 3);"),
        ("b.rs", "rust, 4);"),
        ("b.go", "golang, 5)"),
        ("b.c", "header, 6);"),
        ("src/b.cpp", "header, 6);"),
    ] {
        let buffer = editor.open(path, "last = fetch(");
        assert_eq!(suggestion(&editor, &buffer, buffer.text().len()), expected, "{path}");
        editor.close(&buffer);
    }
}

#[test]
fn unsupported_language_is_gated() {
    let project = Project::new(WORKSPACE);
    let editor = Editor::start(&project, &["--engine", "builtin"], setup(&project));
    wait_until_ready(&editor);
    for (path, language) in [("b.html", "html"), ("b.vue", "vue")] {
        let buffer = Buffer::new(
            editor.uri(path),
            language,
            Encoding::Utf16,
            "<script>\nlast = fetch(script, 2);\nlast = ",
        );
        editor.client.notify("textDocument/didOpen", buffer.did_open());
        let answer = editor.client.wait(editor.ask_at_end(&buffer)).expect("a gate is no failure");
        assert!(items(&answer).is_empty(), "{path}: {answer}");
        assert_eq!(editor.last_completion(), "gated", "{path}");
    }
}
