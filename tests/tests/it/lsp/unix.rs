//! Processes that end without a word, and memory.

use std::fs;
use std::process::{Command, Stdio};

use tests::{Project, wait_until};

use super::editor::{Editor, setup};
use super::scripts::RULES;

#[test]
fn the_server_ends_when_the_editor_died() {
    let project = Project::new("");
    let mut editor_process =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat runs");
    let client = setup(&project).process_id(editor_process.id());
    let editor = Editor::start(&project, &["--scripted", &RULES.to_string()], client);
    assert!(editor.status().is_object(), "the server lives while the editor does");
    editor_process.kill().expect("it is ours");
    editor_process.wait().expect("it is ours");
    wait_until("the server ends", || editor.client.has_ended());
    editor.client.abandon().expect_code(0);
}

#[test]
fn a_killed_server_leaves_a_suite_that_the_next_one_reads() {
    use super::recording::{LOOP, SHOP, all_cases, record};
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    record(&editor, &editor.open("shop.py", SHOP), LOOP);
    let kill = Command::new("kill").args(["-KILL", &editor.client.process_id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    assert_eq!(editor.client.abandon().code(), None);
    let editor = Editor::scripted(&project, &RULES);
    assert_eq!(all_cases(&editor).len(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn ten_thousand_requests_leave_memory_as_it_was() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("talk.py", &"x = 1\n".repeat(500));
    let mut ask = |count: usize| {
        for _ in 0..count {
            editor.change(buffer.edit(0..1, "x"));
            let id = editor.ask_at_end(&buffer);
            editor.client.wait(id).expect("it is answered");
        }
    };
    ask(1_000);
    let before = resident_kib(editor.client.process_id());
    ask(10_000);
    let after = resident_kib(editor.client.process_id());
    assert!(after < before + (10 << 10), "{before} KiB became {after} KiB");
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_never_reads_is_given_bounded_memory() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let client = editor.client;
    client.stop_reading();
    let id = client.process_id();
    let mut most = 0;
    let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "ghostbench/status"}).to_string();
    let frame = format!("Content-Length: {}\r\n\r\n{request}", request.len()).repeat(1_000);
    for _ in 0..500 {
        if !client.try_send_bytes(frame.as_bytes()) {
            break;
        }
        most = most.max(resident_kib(id));
    }
    assert!(most < 400 << 10, "{most} KiB");
    client.close_stdin();
    wait_until("the server ends though nobody reads", || client.has_ended());
    client.abandon();
}

/// Memory of a process; 0 once it has ended.
#[cfg(target_os = "linux")]
fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|number| number.parse().ok()).unwrap_or(0)
}
