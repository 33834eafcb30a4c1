//! Priorities of threads and the memory of the process on Unix.

/// How much nicer than the server, which is what `nice` adds to a program: beside one of its other threads that wants the same core, a
/// thread gets a tenth of it.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lets this thread give way to others. On Linux this is a matter of each thread; elsewhere it would be one of the whole process, so
/// there nothing happens.
pub(super) fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        let nicer = getpriority_process(None).map(|niceness| niceness + NICENESS);
        if let Err(error) = nicer.and_then(|niceness| setpriority_process(None, niceness)) {
            tracing::debug!(%error, "background work does not give way");
        }
    }
}

/// Has the allocator give what nothing stands in back to the system. The one of glibc keeps most of it, which comes to as much as is in
/// use: pieces of the old are scattered among pieces of the new. Others give back by themselves.
pub(super) fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn malloc_trim(kept: usize) -> i32;
        }
        malloc_trim(0);
    }
}
