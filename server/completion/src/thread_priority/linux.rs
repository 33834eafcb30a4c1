//! Thread priority on Linux, where the nice value belongs to a single thread. On other Unix systems it belongs to the process.

use rustix::process::{getpriority_process, setpriority_process};

/// Increment of the nice value, the default of the `nice` command: a thread that competes with one of the program's other threads
/// for a core gets a tenth of it.
const NICENESS: i32 = 10;

pub(super) fn lower_thread_priority() -> bool {
    let nicer = getpriority_process(None).map(|niceness| niceness + NICENESS);
    nicer.and_then(|niceness| setpriority_process(None, niceness)).is_ok()
}

pub(super) fn use_idle_time() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameters are valid during the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) == 0 }
}
