//! A program and all its child processes, as one process group.
//!
//! A group does not end with its leader, and this process may be killed at any moment. So a guard shell waits for the end of a
//! pipe whose other end only this process holds, and then kills the group. The system closes the pipe however this process
//! ends. (Linux alone has a signal for a parent's death; it comes when the *thread* that started the child ends, and reaches
//! only the direct child.)

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// Script of the guard: kills the group in its argument as soon as standard input ends.
const GUARD: &str = "read -r _; kill -s KILL -- \"-$0\"";

/// A process group. Dropping it kills it.
pub(super) struct ProcessGroup {
    id: Option<Pid>,
    /// Without it the group still ends with this process, unless this process is killed.
    guard: Option<process::Child>,
}

impl ProcessGroup {
    /// Makes the program the leader of a new group.
    pub(super) fn begin(command: &mut Command) {
        command.process_group(0);
    }

    /// The group that a program leads.
    pub(super) fn of(leader: &Child) -> ProcessGroup {
        let id = leader.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        ProcessGroup { id, guard: id.and_then(guard) }
    }
}

fn guard(group: Pid) -> Option<process::Child> {
    let mut shell = process::Command::new("/bin/sh");
    shell.args(["-c", GUARD, &group.as_raw_nonzero().to_string()]);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Own group, so that Ctrl-C doesn't stop it; working directory `/`, so that ours can be removed.
    shell.process_group(0).current_dir("/").spawn().ok()
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // The group may be empty.
            let _ = kill_process_group(id, Signal::KILL);
        }
        if let Some(mut guard) = self.guard.take() {
            // Kill it before its pipe ends, so that it can't kill a later group with the same number.
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

/// Whether a file is executable.
pub(super) fn may_run(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
