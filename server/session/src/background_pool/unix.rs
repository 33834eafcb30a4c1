//! Thread priority and process memory on Unix.

/// Increment of the nice value, the default of the `nice` command: a thread that competes with one of the server's other threads
/// for a core gets a tenth of it.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lowers the priority of this thread. Only on Linux, where it applies to a single thread; elsewhere it would apply to the whole
/// process.
pub(super) fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        let nicer = getpriority_process(None).map(|niceness| niceness + NICENESS);
        if let Err(error) = nicer.and_then(|niceness| setpriority_process(None, niceness)) {
            tracing::debug!(%error, "cannot lower the priority of background threads");
        }
    }
}

/// Returns free memory of the allocator to the system. glibc keeps most of it, about as much as is in use, because freed blocks
/// are scattered among used ones. Other allocators return memory themselves.
pub(super) fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn malloc_trim(kept: usize) -> i32;
        }
        malloc_trim(0);
    }
}
