//! Processes that are killed, and memory.

use std::fs;
use std::ops::Range;
use std::process::{Command, Stdio};

use tests::{Project, wait_until};

use super::editor::{Editor, setup};
use super::scripted_engine::{RULES, TALK};

#[test]
fn server_exits_when_the_editor_process_dies() {
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
fn suite_is_readable_after_the_server_was_killed() {
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
fn memory_does_not_grow_over_ten_thousand_requests() {
    let project = Project::new("");
    let editor = Editor::scripted(&project, &RULES);
    let mut buffer = editor.open("talk.py", &"0000 = x\n".repeat(500));
    let mut ask = |numbers: Range<usize>| {
        for number in numbers {
            // Every text is new, so that no answer comes from a cache.
            editor.change(buffer.edit(0..4, &format!("{number:04x}")));
            assert_eq!(editor.ghost_text(&buffer, buffer.text().len()), TALK);
            assert_eq!(editor.last_completion(), "ok");
        }
    };
    ask(0..1_000);
    let before = resident_kib(editor.client.process_id());
    ask(1_000..11_000);
    let after = resident_kib(editor.client.process_id());
    assert!(after < before + (10 << 10), "{before} KiB became {after} KiB");
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded_if_the_client_never_reads() {
    const LIMIT_KIB: u64 = 400 << 10;
    let project = Project::new("");
    let client = Editor::scripted(&project, &RULES).client;
    client.stop_reading();
    let mut most = 0;
    super::shutdown::send_until_refused(&client, || most = most.max(resident_kib(client.process_id())));
    client.abandon();
    assert!((1..LIMIT_KIB).contains(&most), "{most} KiB");
}

/// Memory of a process; 0 once it has exited.
#[cfg(target_os = "linux")]
fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|number| number.parse().ok()).unwrap_or(0)
}
