//! Ghost text by engines that are programs, which end with the server in every case.

use tests::{Project, wait_until};

use super::editor::{Editor, setup};
use crate::program_engines::{is_alive, processes, program};
use crate::settings::user_file;

/// An editor whose engine is a program that has answered once.
#[track_caller]
fn editor_with_program(project: &Project) -> Editor {
    user_file(project, &program(project));
    let editor = Editor::start(project, &[], setup(project));
    let buffer = editor.open("talk.py", "def f():\n    ");
    for _ in 0..3 {
        let text = editor.ghost_text(&buffer, buffer.text().len());
        assert!(text.contains("total = 1"), "{text}");
    }
    assert_eq!(processes(project).len(), 1, "one program writes it all");
    assert!(is_alive(&processes(project)[0]));
    editor
}

#[test]
fn program_provides_ghost_text_and_exits_with_the_server() {
    let project = Project::new("");
    let editor = editor_with_program(&project);
    editor.client.shutdown();
    editor.client.exit().expect_code(0);
    wait_until("the program has ended", || !is_alive(&processes(&project)[0]));
}

#[test]
fn program_exits_if_the_server_is_killed() {
    let project = Project::new("");
    let editor = editor_with_program(&project);
    let server = editor.client.process_id().to_string();
    let killed = std::process::Command::new("kill").args(["-KILL", &server]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    wait_until("the program has ended", || !is_alive(&processes(&project)[0]));
    editor.client.abandon();
}

#[test]
fn killed_program_is_restarted_by_the_next_request() {
    let project = Project::new("");
    let editor = editor_with_program(&project);
    let killed = std::process::Command::new("kill").args(["-KILL", &processes(&project)[0]]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    wait_until("the program has ended", || !is_alive(&processes(&project)[0]));
    let buffer = editor.open("again.py", "def g():\n    ");
    assert!(editor.ghost_text(&buffer, buffer.text().len()).contains("total = 1"));
    assert_eq!(processes(&project).len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn killed_llama_server_is_restarted() {
    let project = Project::new("");
    let Some(settings) = crate::program_engines::tiny(&project) else { return };
    user_file(&project, &settings);
    // A request before the server's end is detected gets an error.
    let editor = Editor::start(&project, &[], setup(&project).allow("window/showMessage"));
    let servers = || crate::program_engines::processes_naming(&project.sibling_path("tiny.gguf"));
    // Answers are cached, so each request uses a new document.
    let mut documents = 0..;
    let mut ask = || {
        let number = documents.next().unwrap_or(0);
        let buffer = editor.open(&format!("talk_{number}.py"), &format!("def f_{number}():\n    "));
        let id = editor.ask_at_end(&buffer);
        editor.client.wait(id)
    };
    ask().expect("there is an answer");
    let first = servers();
    assert_eq!(first.len(), 1, "{first:?}");
    ask().expect("there is an answer");
    assert_eq!(servers(), first, "it answers all questions");
    let killed = std::process::Command::new("kill").args(["-KILL", &first[0]]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    wait_until("the server has ended", || servers().is_empty());
    wait_until("there is a server again", || {
        let _ = ask();
        !servers().is_empty()
    });
    assert_ne!(servers(), first);
    editor.client.shutdown();
    editor.client.exit().expect_code(0);
    wait_until("the server has ended", || servers().is_empty());
}
