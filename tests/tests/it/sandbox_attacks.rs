//! Hostile code in the sandbox of unit tests: it is contained, and leaves nothing behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{
    ChangedFile, CommandOutcome, Exit, Limits, ReportFiles, Sandbox, SandboxCommand, SandboxError,
    SandboxOptions,
};
use tests::{Project, binary, component, wait_until};
use tokio_util::sync::CancellationToken;

/// Moments of a start at which a sandbox is killed.
const MOMENTS: u32 = 100;

/// A sandbox over a workspace with small limits; `None` if bubblewrap is not installed.
fn small_sandbox(project: &Project) -> Option<Sandbox> {
    component("bwrap")?;
    let limits = Limits {
        time: Duration::from_secs(20),
        memory_bytes: 600 << 20,
        processes: 60,
        output_bytes: 8 << 20,
        disk_bytes: 60 << 20,
    };
    let options = SandboxOptions { limits, program: Some(binary()), ..SandboxOptions::default() };
    Some(Sandbox::new(&project.root(), &options).expect("a sandbox"))
}

/// Runs a script of the shell; the workspace must be the same afterwards, and no process may be left.
#[track_caller]
fn attack(script: &str) -> Option<CommandOutcome> {
    attack_with(&Project::new("//- /a.txt\nhello\n"), script)
}

#[track_caller]
fn attack_with(project: &Project, script: &str) -> Option<CommandOutcome> {
    let sandbox = small_sandbox(project)?;
    let before = tree(&project.root());
    let command = SandboxCommand {
        words: ["sh", "-c", script].map(str::to_owned).to_vec(),
        reports: vec![ReportFiles::File("report.txt".into())],
        ..SandboxCommand::default()
    };
    let outcome = sandbox.run(&[], &command).expect("the sandbox itself works");
    assert_eq!(tree(&project.root()), before, "the workspace has changed");
    assert_eq!(sandboxed_processes(project), [0; 0], "processes are left");
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    assert!(!mounts.contains("ghostbench"), "mounts are left: {mounts}");
    Some(outcome)
}

/// Files of a folder with their contents.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(tree(&path));
        } else {
            let content = fs::read(&path).unwrap_or_default();
            found.push((path, content));
        }
    }
    found.sort();
    found
}

/// Returns the processes whose arguments contain a mark.
pub(crate) fn processes_with(mark: &str) -> Vec<u32> {
    processes_whose("cmdline", mark)
}

/// Returns all processes of sandboxes of a project, of whatever program: its folder is mounted in their namespaces.
pub(crate) fn sandboxed_processes(project: &Project) -> Vec<u32> {
    let root = project.root().canonicalize().expect("a folder");
    processes_whose("mountinfo", &root.to_string_lossy())
}

/// Returns the processes with a mark in one of their files in `/proc`.
fn processes_whose(file: &str, mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has_mark = |pid: &u32| {
        fs::read(format!("/proc/{pid}/{file}"))
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains(mark))
    };
    pids.filter(has_mark).collect()
}

#[test]
fn ordinary_command_sees_the_workspace_and_its_changes() {
    let project = Project::new("//- /src/a.txt\nold\n");
    let Some(sandbox) = small_sandbox(&project) else { return };
    assert!(sandbox.has_overlays(), "this machine has overlays");
    let script = "cat src/a.txt new/b.txt; pwd; echo done > report.txt";
    let command = SandboxCommand {
        words: ["sh", "-c", script].map(str::to_owned).to_vec(),
        reports: vec![ReportFiles::File("report.txt".into())],
        ..SandboxCommand::default()
    };
    let change = |path: &str, text: &str| ChangedFile { path: path.into(), text: text.to_owned() };
    let changes = [change("src/a.txt", "new\n"), change("new/b.txt", "created\n")];
    let outcome = sandbox.run(&changes, &command).expect("an outcome");
    assert_eq!(outcome.exit, Exit::Code(0), "{}", outcome.output);
    let root = project.root().canonicalize().expect("a folder");
    assert_eq!(outcome.output, format!("new\ncreated\n{}\n", root.display()));
    assert_eq!(outcome.reports[0].text, "done\n");
    assert_eq!(fs::read_to_string(project.root().join("src/a.txt")).expect("a file"), "old\n");
    assert!(!project.root().join("new").exists());
}

#[test]
fn prepared_command_runs_only_once_it_is_started() {
    let project = Project::new("//- /a.txt\nhello\n");
    let Some(sandbox) = small_sandbox(&project) else { return };
    let root = project.root().to_string_lossy().into_owned();
    let mark = format!("prepared-command-{}", std::process::id());
    let command = SandboxCommand {
        words: ["sh", "-c", "echo ran", &mark].map(str::to_owned).to_vec(),
        ..SandboxCommand::default()
    };
    let waiting = sandbox.prepare(&[], &command).expect("a sandbox");
    wait_until("the sandbox is made", || !processes_with(&root).is_empty());
    assert_eq!(processes_with(&mark), [0; 0], "it has not been started");
    drop(waiting);
    wait_until("the sandbox is gone", || processes_with(&root).is_empty());
    let started = sandbox.prepare(&[], &command).expect("a sandbox");
    started.start();
    assert_eq!(started.outcome().expect("an outcome").output, "ran\n");
}

#[test]
fn sandbox_killed_at_any_moment_of_its_start_leaves_no_process() {
    let project = Project::new("//- /a.txt\nhello\n");
    let Some(sandbox) = small_sandbox(&project) else { return };
    let command = SandboxCommand { words: vec!["true".to_owned()], ..SandboxCommand::default() };
    let start = Instant::now();
    sandbox.run(&[], &command).expect("an outcome");
    let time = start.elapsed();
    for moment in 0..MOMENTS {
        let made = sandbox.prepare(&[], &command).expect("a sandbox");
        thread::sleep(time * moment / MOMENTS);
        drop(made);
    }
    wait_until("all sandboxes are gone", || sandboxed_processes(&project).is_empty());
}

#[test]
fn files_outside_are_neither_readable_nor_writable() {
    let Some(outcome) = attack(
        "cat /etc/shadow ~/.ssh/id_rsa ~/.cargo/credentials.toml; touch /usr/x /x /etc/x ~/../y; ls -A ~; \
         for f in /usr/x /x /etc/x; do test -e $f && echo written; done; env",
    ) else {
        return;
    };
    assert!(!outcome.output.contains("written"), "{}", outcome.output);
    assert!(!outcome.output.contains("GHOSTBENCH_"), "the environment is passed on: {}", outcome.output);
    assert!(!outcome.output.contains("root:"), "{}", outcome.output);
}

#[test]
fn links_out_of_the_workspace_lead_nowhere() {
    let project = Project::new("//- /a.txt\nhello\n");
    let secret = project.sibling_path("secret");
    fs::write(&secret, "secret").expect("a file");
    let script = format!(
        "ln -s {0} link; cat link; echo overwritten > link; rm -rf ./* .git; ls -A",
        secret.display()
    );
    let Some(outcome) = attack_with(&project, &script) else { return };
    assert!(!outcome.output.contains("secret\n"), "{}", outcome.output);
    assert_eq!(fs::read_to_string(secret).expect("a file"), "secret");
}

#[test]
fn changed_files_are_not_written_through_links() {
    let project = Project::new("//- /a.txt\nhello\n");
    let outside = project.sibling_path("outside");
    fs::create_dir(&outside).expect("a folder");
    std::os::unix::fs::symlink(&outside, project.root().join("link")).expect("a link");
    let Some(sandbox) = small_sandbox(&project) else { return };
    for path in ["link/x", "../outside/x", "/tmp/x"] {
        let change = ChangedFile { path: path.into(), text: "x".to_owned() };
        let command = SandboxCommand { words: vec!["true".to_owned()], ..SandboxCommand::default() };
        sandbox.run(&[change], &command).expect_err(path);
    }
    assert_eq!(fs::read_dir(outside).expect("a folder").count(), 0);
}

#[test]
fn network_is_not_reachable() {
    let script = "python3 -c 'import socket
s = socket.socket()
s.settimeout(5)
s.connect((\"1.1.1.1\", 80))'";
    let Some(outcome) = attack(script) else { return };
    assert_eq!(outcome.exit, Exit::Code(1));
    assert!(outcome.output.contains("Network is unreachable"), "{}", outcome.output);
}

#[test]
fn fork_bomb_ends() {
    let Some(outcome) = attack("f() { f | f & f; }; f") else { return };
    assert_ne!(outcome.exit, Exit::Code(0), "{}", outcome.output);
}

#[test]
fn full_disk_is_a_failure_of_the_command_only() {
    let Some(outcome) = attack(
        "for f in big /tmp/big /dev/shm/big /var/tmp/big ~/big; do head -c 200000000 /dev/zero > $f && echo written; done",
    ) else {
        return;
    };
    assert!(!outcome.output.contains("written"), "{}", outcome.output);
}

#[test]
fn memory_is_limited_for_one_process_and_for_all() {
    let Some(outcome) = attack("python3 -c 'x = bytearray(100 << 30)'") else { return };
    assert_eq!(outcome.exit, Exit::Code(1), "{}", outcome.output);
    let script = "python3 -c 'import os, time
for _ in range(8):
    if os.fork() == 0: break
x = [bytearray(b\"x\" * (10 << 20)) for _ in range(12)]
time.sleep(60)'";
    let Some(outcome) = attack(script) else { return };
    assert_eq!(outcome.exit, Exit::OutOfMemory, "{}", outcome.output);
}

#[test]
fn parents_and_other_processes_cannot_be_killed() {
    let Some(outcome) =
        attack("kill -9 1; kill -9 $PPID; kill -STOP 1; echo alive; kill -9 -1; echo still; exit 7")
    else {
        return;
    };
    assert!(outcome.output.contains("alive"), "{}", outcome.output);
    // The shell may be among those that `kill -9 -1` kills.
    assert!(matches!(outcome.exit, Exit::Code(7) | Exit::Signal(9)), "{:?}", outcome.exit);
}

#[test]
fn daemons_end_before_reports_are_read() {
    // They may write until they are killed, on a busy machine for a while. Only if they were waited for, the report would be the late one.
    let Some(outcome) = attack(
        "echo right > report.txt; (setsid sh -c 'trap \"\" TERM HUP INT; sleep 2; echo late > report.txt; sleep 100' &) ; exit 3",
    ) else {
        return;
    };
    assert_eq!(outcome.exit, Exit::Code(3));
    assert_eq!(outcome.reports[0].text, "right\n");
}

#[test]
fn command_that_stops_itself_or_ignores_signals_ends_at_its_time() {
    let project = Project::new("//- /a.txt\nhello\n");
    let Some(sandbox) = small_sandbox(&project) else { return };
    drop(sandbox);
    let limits = Limits { time: Duration::from_millis(700), ..Limits::default() };
    let options = SandboxOptions { limits, program: Some(binary()), ..SandboxOptions::default() };
    let sandbox = Sandbox::new(&project.root(), &options).expect("a sandbox");
    for script in ["kill -STOP $$", "trap '' TERM INT HUP; while :; do :; done", "sleep 100 & sleep 100"] {
        let command = SandboxCommand {
            words: ["sh", "-c", script].map(str::to_owned).to_vec(),
            ..SandboxCommand::default()
        };
        assert_eq!(sandbox.run(&[], &command).expect("an outcome").exit, Exit::TimedOut, "{script}");
    }
}

#[test]
fn stopped_command_leaves_nothing_behind() {
    let project = Project::new("//- /a.txt\nhello\n");
    let Some(sandbox) = small_sandbox(&project) else { return };
    let stop = CancellationToken::new();
    let sandbox = sandbox.stopped_by(stop.clone());
    let mark = format!("600.{}", std::process::id());
    let script = format!("trap '' TERM INT HUP; sleep {mark} & sleep {mark}");
    let command = SandboxCommand {
        words: ["sh", "-c", &script].map(str::to_owned).to_vec(),
        ..SandboxCommand::default()
    };
    let ended = thread::scope(|scope| {
        let running = scope.spawn(|| sandbox.run(&[], &command));
        wait_until("both run", || processes_with(&format!("sleep\0{mark}")).len() == 2);
        stop.cancel();
        running.join().expect("no panic")
    });
    assert!(matches!(ended, Err(SandboxError::Stopped)), "{ended:?}");
    wait_until("all are killed", || sandboxed_processes(&project).is_empty());
}

#[test]
fn time_in_which_the_sandbox_is_stopped_does_not_count() {
    let project = Project::new("//- /a.txt\nhello\n");
    let Some(sandbox) = small_sandbox(&project) else { return };
    let limit = Duration::from_secs(3);
    let mark = format!("stopped-sandbox-{}", std::process::id());
    let command = SandboxCommand {
        words: ["sh", "-c", "while test ! -e go; do sleep 0.01; done; exit 7", &mark]
            .map(str::to_owned)
            .to_vec(),
        time_limit: Some(limit),
        ..SandboxCommand::default()
    };
    let signal = |signal: &str, process: u32| {
        let sent = std::process::Command::new("kill").args([signal, &process.to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{signal} {process}");
    };
    let outcome = thread::scope(|scope| {
        let running = scope.spawn(|| sandbox.run(&[], &command));
        wait_until("it runs", || !processes_with(&mark).is_empty());
        let shell = processes_with(&mark)[0];
        let first_process = parent(shell);
        signal("-STOP", first_process);
        signal("-STOP", shell);
        // Longer than the limit: this is what must not count.
        thread::sleep(limit + Duration::from_millis(500));
        fs::write(format!("/proc/{shell}/cwd/go"), "").expect("the sandbox is ours");
        signal("-CONT", shell);
        signal("-CONT", first_process);
        running.join().expect("no panic")
    });
    let outcome = outcome.expect("an outcome");
    assert_eq!(outcome.exit, Exit::Code(7));
    assert!(outcome.wall < limit, "{:?}", outcome.wall);
}

/// Returns the parent of a process.
fn parent(process: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    fields.split(' ').nth(1).and_then(|pid| pid.parse().ok()).expect("a process")
}

#[test]
fn endless_output_is_cut_and_ends_the_command() {
    let Some(outcome) = attack("yes") else { return };
    assert_eq!(outcome.exit, Exit::TooMuchOutput);
    assert!(outcome.output.len() < 10 << 20);
}

#[test]
fn first_process_hides_its_memory_and_files() {
    let script = "for f in /proc/1/fd/*; do (echo forged > $f) 2> /dev/null && echo written; done; \
                  cat /proc/1/environ /proc/1/mem && echo seen; mount -t tmpfs x /tmp && echo mounted; \
                  unshare --user true && echo nested; true";
    let Some(outcome) = attack(script) else { return };
    for word in ["written", "seen", "mounted", "nested"] {
        assert!(!outcome.output.contains(word), "{word}: {}", outcome.output);
    }
}

#[test]
fn nothing_is_left_if_ghostbench_is_killed() {
    let project = Project::new("//- /a.txt\nhello\n");
    if component("bwrap").is_none() {
        return;
    }
    // The command of the settings is the test; it sleeps far longer than this test.
    project.write(
        "ghostbench.toml",
        "[tests]\ncommand = [\"sh\", \"-c\", \"sleep 300\", \"killed-sandbox-mark\"]\n",
    );
    project.write(
        "m.py",
        "def f(a):\n    if a:\n        return 1\n    return 2\n\n\ndef g(a):\n    return f(a) + 1\n",
    );
    let mut build = tests::RunningProcess::start(project.ghostbench(
        "build codev-bench . --with-tests --test-runs 1 --size 4 --out ../codev --config ghostbench.toml",
    ));
    tests::wait_until("the tests run", || {
        !processes_with("killed-sandbox-mark").is_empty() || build.has_ended()
    });
    assert!(!build.has_ended(), "it waits for the tests");
    build.kill();
    tests::wait_until("all processes are gone", || sandboxed_processes(&project).is_empty());
}
