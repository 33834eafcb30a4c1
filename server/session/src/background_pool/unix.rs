//! Process memory on Unix.

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
