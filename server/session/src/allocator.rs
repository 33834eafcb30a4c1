//! Settings of the allocator: freed memory is used again, or returned to the system.

/// Lets threads share memory that was freed. glibc gives each thread an arena of its own, up to eight for each core, and what one arena
/// has free is of no use to the others: half of a server's memory after a day of typing. More threads than these rarely run at once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn limit_arenas(cores: usize) {
    let arenas = libc::c_int::try_from(2 * cores).unwrap_or(libc::c_int::MAX);
    // SAFETY: it may be called at any time, from any thread; it locks what it changes.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
}

/// Does nothing: this platform's allocator has other settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_arenas(_cores: usize) {}

/// Returns the memory that this process has freed to the system.
///
/// Deriving an index frees much more memory than it keeps, on all threads, and glibc returns little of that by itself: 70 MB per
/// million lines. Takes 3 ms per million lines. Other allocators return freed memory themselves.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn release_memory() {
    // SAFETY: it may be called at any time, from any thread; it locks what it changes.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: this platform's allocator returns freed memory itself.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn release_memory() {}
