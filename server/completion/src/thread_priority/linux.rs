//! Thread priority on Linux, where the nice value belongs to a single thread. On other Unix systems it belongs to the process.

use rustix::process::{getpriority_process, setpriority_process};

/// Increment of the nice value, the default of the `nice` command: a thread that competes with one of the program's other threads
/// for a core gets a tenth of it.
const NICENESS: i32 = 10;

/// Time in nanoseconds after which a thread of short turns lets others run; the shortest that Linux takes.
const SHORT_TURN: u64 = 100_000;

pub(super) fn lower_thread_priority() -> bool {
    let nicer = getpriority_process(None).map(|niceness| niceness + NICENESS);
    nicer.and_then(|niceness| setpriority_process(None, niceness)).is_ok()
}

pub(super) fn take_short_turns() -> bool {
    set_attributes(libc::SCHED_OTHER, libc::SCHED_FLAG_RESET_ON_FORK, SHORT_TURN)
}

pub(super) fn use_idle_time() -> bool {
    set_attributes(libc::SCHED_IDLE, 0, 0)
}

/// Sets the policy of this thread, its flags and its turn in nanoseconds (0: the system's own). libc has no function for it, and `musl` refuses
/// to set a policy.
fn set_attributes(policy: libc::c_int, flags: libc::c_int, turn: u64) -> bool {
    let Ok(niceness) = getpriority_process(None) else { return false };
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: policy as u32,
        sched_flags: flags as u64,
        sched_nice: niceness,
        sched_priority: 0,
        sched_runtime: turn,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the attributes are valid during the call; thread 0 is the calling one, and there are no flags.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}
