//! Asking about processes on Unix.

use rustix::process::{Pid, test_kill_process};

/// Whether there is a process with this number, ours or not. Numbers that no process can have count as alive, since they tell nothing.
pub(crate) fn is_alive(id: i32) -> bool {
    let Some(pid) = Pid::from_raw(id).filter(|_| id > 0) else { return true };
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
