//! Process checks on Unix.

use rustix::process::{Pid, test_kill_process};

/// Whether a process with this id exists, ours or not. Invalid ids count as alive, since nothing is known about them.
pub(crate) fn is_alive(id: i32) -> bool {
    let Some(pid) = Pid::from_raw(id).filter(|_| id > 0) else { return true };
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
