//! An allocator that counts the bytes that are allocated now.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with a counter, for `#[global_allocator]`.
pub struct CountingAllocator;

impl CountingAllocator {
    /// Returns the bytes that are allocated now; 0 if this is not the global allocator.
    pub fn allocated_bytes() -> usize {
        ALLOCATED.load(Ordering::Relaxed)
    }
}

// SAFETY: every call is the system allocator's; only a counter is kept beside it.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}
