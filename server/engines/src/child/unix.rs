//! A program and all that it starts, as one process group.
//!
//! A group does not end with the process that began it, and this process may be killed at any moment. So a guard stands by: a shell
//! that waits for the end of a pipe of which only we hold the other end, and then kills the group. The system closes the pipe however
//! we end. (Linux alone has a signal for a parent's death; it comes when the *thread* that started the child ends, and reaches none but
//! the child.)

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// Kills the group that is its argument as soon as its standard input ends.
const GUARD: &str = "read -r _; kill -s KILL -- \"-$0\"";

/// A process group for as long as it is needed; dropping it kills it.
pub(super) struct Group {
    id: Option<Pid>,
    /// Without it the group still ends with us, unless we are killed.
    guard: Option<process::Child>,
}

impl Group {
    /// Lets a program begin a group.
    pub(super) fn begin(command: &mut Command) {
        command.process_group(0);
    }

    /// The group that a program has begun.
    pub(super) fn of(leader: &Child) -> Group {
        let id = leader.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        Group { id, guard: id.and_then(guard) }
    }
}

fn guard(group: Pid) -> Option<process::Child> {
    let mut shell = process::Command::new("/bin/sh");
    shell.args(["-c", GUARD, &group.as_raw_nonzero().to_string()]);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Not stopped by Ctrl-C, and in nobody's way who removes our folder.
    shell.process_group(0).current_dir("/").spawn().ok()
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // There may be nobody left in it.
            let _ = kill_process_group(id, Signal::KILL);
        }
        if let Some(mut guard) = self.guard.take() {
            // Killed before its pipe ends, so that it kills nobody who gets the group's number later.
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

/// Whether somebody may run a file.
pub(super) fn may_run(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
