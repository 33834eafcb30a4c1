//! Ghost text by engines behind HTTP.

use mock::MockServer;
use tests::Project;

use super::editor::{Editor, setup};
use crate::engines::{WRITTEN, llama_cpp, open_ai};
use crate::language_servers::own_server_settings;
use crate::settings::user_file;

#[track_caller]
fn check((server, settings): (MockServer, String)) {
    let project = Project::new("");
    user_file(&project, &settings);
    let editor = Editor::start(&project, &[], setup(&project));
    let buffer = editor.open("talk.py", "def f():\n    ");
    let item = editor.item(&buffer, buffer.text().len());
    assert!(item["insertText"].to_string().contains(WRITTEN), "{item}; the server saw {:?}", server.log());
}

#[test]
fn openai_server_provides_ghost_text() {
    check(open_ai());
}

#[test]
fn llama_cpp_server_provides_ghost_text() {
    check(llama_cpp());
}

/// Our server with an engine that is another language server.
#[test]
fn language_server_provides_ghost_text() {
    let project = Project::new("");
    user_file(&project, &own_server_settings("served"));
    let editor = Editor::start(&project, &["--engine", "served"], setup(&project));
    let text =
        "def send(message):\n    log(message)\n    return message\n\ndef receive(message):\n    log(mess";
    let buffer = editor.open("talk.py", text);
    let item = editor.item(&buffer, text.len());
    assert!(item["insertText"].to_string().contains("age)"), "{item}");
}
