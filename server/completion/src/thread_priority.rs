//! Lower priority for threads of background work, so that requests do not wait for it.

#[cfg(target_os = "linux")]
mod linux;

/// Lowers the priority of this thread and of those it starts. Returns false where the system does not support that.
pub fn lower_thread_priority() -> bool {
    #[cfg(target_os = "linux")]
    return linux::lower_thread_priority();
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Lets this thread, but none that it starts, have a core at once when it wakes while others compute. Returns false where the system does
/// not support that; Linux does since 6.12.
///
/// Without it, one that computes keeps its core for milliseconds, even if it has a lower priority. For threads that pass data on: in the
/// language server, whose threads compute, requests with context took a third longer.
pub fn take_short_turns() -> bool {
    #[cfg(target_os = "linux")]
    return linux::take_short_turns();
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Lets this thread and those it starts run only while a core has nothing else to do. Returns false where the system does not support that.
///
/// A thread of lower priority keeps its core for some milliseconds when another one wakes; this one gives it up at once.
pub fn use_idle_time() -> bool {
    #[cfg(target_os = "linux")]
    return linux::use_idle_time();
    #[cfg(not(target_os = "linux"))]
    return false;
}
