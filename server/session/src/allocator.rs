//! Settings of the allocator: freed memory is used again, or returned to the system.

/// Size from which a block has pages of its own, which are returned when it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES_BYTES: libc::c_int = 1 << 20;

/// Free memory at the end of an arena from which it is returned.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RETURNED_BYTES: libc::c_int = 8 << 20;

/// Lets threads share memory that was freed, and returns large blocks to the system.
///
/// glibc gives each thread an arena of its own, up to eight for each core, and what one arena has free is of no use to the others: half of
/// a server's memory after a day of typing. More threads than these rarely run at once. Once a large block is freed, glibc also
/// takes blocks up to its size from arenas, and keeps twice as much free at the end of each.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn set_up(cores: usize) {
    let arenas = libc::c_int::try_from(2 * cores).unwrap_or(libc::c_int::MAX);
    for (parameter, value) in [
        (libc::M_ARENA_MAX, arenas),
        (libc::M_MMAP_THRESHOLD, OWN_PAGES_BYTES),
        (libc::M_TRIM_THRESHOLD, RETURNED_BYTES),
    ] {
        // SAFETY: it may be called at any time, from any thread; it locks what it changes.
        unsafe { libc::mallopt(parameter, value) };
    }
}

/// Does nothing: this platform's allocator has other settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn set_up(_cores: usize) {}

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
