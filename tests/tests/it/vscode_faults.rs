//! Faults in a real VS Code: engines and servers that end, other versions, several windows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mock::{MockServer, Reply};
use serde_json::{Value, json};
use tests::unix::{has_variable, kill, language_servers};
use tests::{Project, VsCode, WindowOptions, binary, component, wait_until};

use crate::lsp::trial::rows;
use crate::settings::user_file;

/// What the engines suggest.
const SUGGESTION: &str = "total + price";

/// Longer than any test.
const FOREVER_MS: u64 = 600_000;

/// Crashes after which the server stays stopped.
const MOST_CRASHES: usize = 5;

fn number_of_starts(editor: &VsCode) -> usize {
    editor.sent_by_editor().iter().filter(|message| message["method"] == "initialize").count()
}

/// Returns how often a server has read the workspace.
fn number_of_readings(editor: &VsCode) -> usize {
    let is_read = |message: &&Value| {
        message["method"] == "ghostbench/didChangeStatus" && message["params"]["busy"] == false
    };
    editor.sent_by_server().iter().filter(is_read).count()
}

/// Waits for the only server of the project.
#[track_caller]
fn server_of(project: &Project) -> u32 {
    let mut servers = Vec::new();
    wait_until("one server runs", || {
        servers = language_servers(project);
        servers.len() == 1
    });
    servers[0]
}

#[test]
fn a_server_is_restarted_until_it_has_crashed_too_often() {
    let project = Project::new("//- /a.py\n");
    let rules = json!([{"path": "", "text": SUGGESTION}]).to_string();
    let Some(editor) = VsCode::open(&project, "a.py", &["--scripted", &rules]) else { return };
    for crash in 1..=MOST_CRASHES {
        let starts = number_of_starts(&editor);
        kill(server_of(&project));
        if crash == MOST_CRASHES {
            break;
        }
        // The window shows the state a little later.
        wait_until("the server is started again", || {
            number_of_starts(&editor) > starts && number_of_readings(&editor) > starts
        });
        editor.wait_until("Eyes.isServed()");
        if crash == 1 {
            assert_eq!(editor.evaluate("Eyes.messages()"), json!([]), "one crash is no reason to interrupt");
            // The window may still show the former server.
            let type_again = || {
                editor.press("Control+a");
                editor.type_text("x = ");
            };
            let is_suggested = || editor.evaluate("Eyes.ghostText()") == SUGGESTION;
            editor.repeat_until("the new server suggests", type_again, is_suggested);
        }
    }
    editor.wait_for_message("the server crashed 5 times and was stopped; the last time: ");
    editor.wait_until("Eyes.status()?.endsWith('Ghostbench: no server')");
    assert_eq!((number_of_starts(&editor), language_servers(&project)), (MOST_CRASHES, Vec::new()));
    let messages = editor.evaluate("Eyes.messages()");
    assert_eq!(messages.as_array().map(Vec::len), Some(1), "{messages}");
    // One click leads to the log.
    editor.click(".notification-list-item-buttons-container a:text-is('Show Log')");
    editor.wait_until("Eyes.output() === 'Ghostbench'");
    editor.click("#ghostbench\\.ghostbench\\.ghostbench\\.status a");
    editor.wait_until("Eyes.isServed()");
}

#[test]
fn a_server_of_another_version_is_offered_to_be_replaced() {
    let project = Project::new("//- /a.py\n");
    let Some(node) = component("node") else { return };
    let script = project.sibling_path("other-version");
    let (binary, own) = (json!(binary()), env!("CARGO_PKG_VERSION"));
    let code = format!(
        "#!{}\nconst {{ spawn }} = require('node:child_process');\n\
         const server = spawn({binary}, process.argv.slice(2), {{ stdio: ['inherit', 'pipe', 'inherit'] }});\n\
         server.stdout.on('data', (data) => process.stdout.write(data.toString('latin1').replaceAll('\"version\":\"{own}\"', '\"version\":\"9.9.9\"'), 'latin1'));\n\
         server.on('exit', (code) => process.exit(code ?? 1));\n",
        node.display()
    );
    fs::write(&script, code).expect("the folder is ours");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let opening = WindowOptions { settings: json!({}), server: Some(&script), is_trusted: true };
    let Some(editor) = VsCode::start(&project, "a.py", opening) else { return };
    editor.wait_for_message(&format!("is version 9.9.9, and this extension is version {own}"));
    editor.wait_until("Array.from(document.querySelectorAll('.notification-list-item-buttons-container a'), (a) => a.textContent).includes('How to Install')");
    editor.wait_until("Eyes.isServed()");
    // A key gets to the server by its environment only.
    editor.run("Ghostbench: Set API Key");
    editor.answer("OPENAI_API_KEY");
    editor.wait_until("document.querySelector('.quick-input-box input[type=password]') !== null");
    editor.type_text("sk-of-a-test");
    editor.press("Enter");
    wait_until("another server has the key", || {
        language_servers(&project).iter().any(|id| has_variable(*id, "OPENAI_API_KEY=sk-of-a-test"))
    });
    editor.wait_until("Eyes.isServed()");
    assert!(!editor.evaluate("document.body.innerText").to_string().contains("sk-of-a-test"));
}

#[test]
fn an_engine_that_is_down_is_reported_once_and_used_again() {
    let project = Project::new("//- /a.py\n");
    let is_down = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&is_down);
    let step = json!({"content": SUGGESTION, "stop": true});
    let engine = MockServer::scripted(move |_| match state.load(Ordering::Relaxed) {
        true => Reply::json(503, &json!({"error": {"message": "loading"}})),
        false => Reply::stream("text/event-stream").chunk(format!("data: {step}\n\n").as_bytes()).end(),
    });
    let settings = format!(
        "[[engine]]\nname = \"far\"\nkind = \"llama-cpp\"\nurl = \"{}\"\nfim = \"server\"\ncontext_window = 8192\n",
        engine.url()
    );
    user_file(&project, &settings);
    let Some(editor) = VsCode::open(&project, "a.py", &["--engine", "far"]) else { return };
    editor.type_text("x = ");
    editor.wait_for_message("far");
    for key in ["1", " ", "+", " "] {
        editor.type_text(key);
    }
    assert_eq!(editor.evaluate("Eyes.messages().length"), 1, "each cause is reported once");
    is_down.store(false, Ordering::Relaxed);
    editor.repeat_until(
        "the engine is used again",
        || {
            editor.press("Enter");
            editor.type_text("y = ");
        },
        || editor.evaluate("Eyes.ghostText()") == SUGGESTION,
    );
}

#[test]
fn two_windows_share_a_workspace_and_end_with_the_editor() {
    let project = Project::new("//- /a.py\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n");
    let rules = json!([{"path": "", "text": SUGGESTION}]).to_string();
    let Some(editor) = VsCode::open(&project, "a.py", &["--scripted", &rules]) else { return };
    editor.run("Ghostbench: Start Trial");
    editor.answer("Record one engine");
    editor.answer("scripted");
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    editor.focus_text();
    editor.open_window();
    editor.wait_until("Eyes.isServed()");
    // The other window takes part in the trial.
    editor.wait_until("Eyes.trial()?.endsWith('Trial: recording')");
    assert_eq!(language_servers(&project).len(), 2);
    for (window, line) in [(1, 6), (0, 2)] {
        editor.use_window(window);
        editor.go_to(line, 5);
        editor.run("Ghostbench: Record Case at Cursor");
        editor.wait_for_message(&format!("line {line}"));
    }
    // Each window shows the cases of both.
    for window in [1, 0] {
        editor.use_window(window);
        editor.wait_until("Eyes.lenses().length === 2");
        editor.go_to(3, 1);
        editor.type_text("x = ");
        editor.wait_for_this_ghost_text(SUGGESTION);
        editor.press("Escape");
    }
    editor.wait_until("Eyes.status() !== null");
    wait_until("both are recorded", || {
        let sessions: std::collections::BTreeSet<String> =
            rows(&project).into_iter().map(|row| row.session).collect();
        sessions.len() == 2
    });
    // The editor is closed in the middle of everything.
    drop(editor);
    wait_until("no server is left", || language_servers(&project).is_empty());
    assert!(rows(&project).iter().all(|row| row.trial.is_some()), "the store is readable");
}

#[test]
fn an_editor_that_is_closed_during_a_request_leaves_nothing_behind() {
    let project = Project::new("//- /a.py\n");
    let rules = json!([{"path": "", "delay_ms": FOREVER_MS, "text": SUGGESTION}]).to_string();
    let settings = json!({"ghostbench.server.arguments": ["--scripted", rules], "ghostbench.completion.deadlineMs": "soon"});
    let opening = WindowOptions { settings, server: None, is_trusted: true };
    let Some(editor) = VsCode::start(&project, "a.py", opening) else { return };
    editor.wait_until("Eyes.isServed() || Eyes.status()?.includes('invalid')");
    // A setting of the wrong type is reported, and the others count.
    let complaint = |message: &Value| {
        message["method"] == "window/showMessage" && message.to_string().contains("deadline")
            || message["method"] == "window/logMessage" && message.to_string().contains("deadline")
    };
    wait_until("the setting is reported", || editor.sent_by_server().iter().any(complaint));
    editor.type_text("x = ");
    wait_until("it is asked", || !editor.requests("textDocument/inlineCompletion").is_empty());
    assert_eq!(language_servers(&project).len(), 1);
    drop(editor);
    wait_until("no server is left", || language_servers(&project).is_empty());
}
