//! Allocator of the parser: counts the memory of a running parse and frees all of it if the parse is aborted.
//!
//! The blocks of a parse are in [`chunks`]. Outside of a parse, this only forwards to the program's allocator.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Once;

use super::ParseSession;
use super::chunks::{self, BlockHeader, Chunk};

thread_local! {
    /// Session of the parse that runs on this thread. Set only during the parse.
    pub(super) static SESSION: Cell<*const ParseSession> = const { Cell::new(ptr::null()) };
}

/// Makes the parser use this allocator. Must be called before any other use of the parser.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let functions =
            tree_sitter::Allocator { malloc: allocate, calloc: allocate_zeroed, realloc: reallocate, free };
        // SAFETY: the functions belong together and either return memory aligned like that of `malloc` or abort the program. The
        // parser was not used before: queries are compiled and texts parsed only after this.
        unsafe { tree_sitter::set_allocator(Some(functions)) };
    });
}

/// Returns the layout of a block outside of chunks, with its header.
fn layout(size: usize) -> Layout {
    let whole = size.checked_add(size_of::<BlockHeader>());
    let layout = whole.and_then(|whole| Layout::from_size_align(whole, align_of::<BlockHeader>()).ok());
    layout.unwrap_or_else(|| handle_alloc_error(Layout::new::<BlockHeader>()))
}

/// Returns the session of the parse that runs on this thread.
fn session<'a>() -> Option<&'a ParseSession> {
    // SAFETY: the pointer is null except while the parse runs, and then its session is alive.
    unsafe { SESSION.get().as_ref() }
}

/// Returns the session of the parse that runs on this thread if the chunk of a block in use belongs to it.
fn session_of<'a>(chunk: *mut Chunk) -> Option<&'a ParseSession> {
    // SAFETY: the chunk of a block in use is alive.
    session().filter(|session| unsafe { session.chunks.has(chunk) })
}

/// Returns the header of a block.
///
/// # Safety
///
/// The pointer must be one that this module has returned, or null.
unsafe fn header_of(pointer: *mut c_void) -> Option<NonNull<BlockHeader>> {
    // SAFETY: the header is directly before the block.
    NonNull::new(pointer.cast::<BlockHeader>()).map(|block| unsafe { block.sub(1) })
}

/// Allocates a block of `size` bytes.
fn block(size: usize) -> NonNull<BlockHeader> {
    if let Some(session) = session() {
        session.allocate(size, size);
        return session.chunks.take(size);
    }
    let layout = layout(size);
    // SAFETY: a layout with a header is not empty.
    let header = NonNull::new(unsafe { alloc(layout) }.cast::<BlockHeader>());
    let header = header.unwrap_or_else(|| handle_alloc_error(layout));
    // SAFETY: the header is the beginning of the new block.
    unsafe { header.write(BlockHeader { size, chunk: ptr::null_mut() }) };
    header
}

unsafe extern "C" fn allocate(size: usize) -> *mut c_void {
    chunks::content(block(size)).as_ptr().cast()
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize) -> *mut c_void {
    let size = count.saturating_mul(size);
    let content = chunks::content(block(size));
    // SAFETY: the block has this size.
    unsafe { content.write_bytes(0, size) };
    content.as_ptr().cast()
}

unsafe extern "C" fn reallocate(pointer: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the parser passes a pointer that it got from here.
    let Some(old) = (unsafe { header_of(pointer) }) else {
        return chunks::content(block(size)).as_ptr().cast();
    };
    // SAFETY: the block is in use.
    let BlockHeader { size: old_size, chunk } = unsafe { old.read() };
    let new = match session_of(chunk) {
        Some(session) => {
            session.allocate(size, size.saturating_sub(old_size));
            session.free(old_size.saturating_sub(size));
            // SAFETY: the block is from these chunks, and the parser uses the new one from now on.
            chunks::content(unsafe { session.chunks.resize(old, size) })
        }
        None => {
            let new = chunks::content(block(size));
            // SAFETY: both blocks have so many bytes, and they are different ones.
            unsafe {
                new.copy_from_nonoverlapping(chunks::content(old), size.min(old_size));
                free(pointer);
            }
            new
        }
    };
    new.as_ptr().cast()
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    // SAFETY: the parser passes a pointer that it got from here.
    let Some(header) = (unsafe { header_of(pointer) }) else { return };
    // SAFETY: the block is in use.
    let BlockHeader { size, chunk } = unsafe { header.read() };
    if chunk.is_null() {
        // SAFETY: the block was allocated with this layout.
        unsafe { dealloc(header.as_ptr().cast(), layout(size)) };
        return;
    }
    match session_of(chunk) {
        Some(session) => {
            session.free(size);
            // SAFETY: the block is from these chunks.
            unsafe { session.chunks.put(header) };
        }
        // SAFETY: the block is no longer used.
        None => unsafe { chunks::release(chunk) },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bounded_parse::ParseBudget;

    /// What the parser may do. Numbers select a block in use.
    #[derive(Clone, Debug)]
    enum Step {
        Allocate(usize),
        AllocateZeroed(usize),
        Reallocate(usize, usize),
        Free(usize),
        EndParse,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let size = || prop_oneof![4 => 0_usize..200, 2 => 0_usize..5_000, 1 => 16_000_usize..17_000, 1 => 0_usize..100_000];
        let step = prop_oneof![
            6 => size().prop_map(Step::Allocate),
            2 => size().prop_map(Step::AllocateZeroed),
            4 => (any::<usize>(), size()).prop_map(|(block, size)| Step::Reallocate(block, size)),
            6 => any::<usize>().prop_map(Step::Free),
            1 => Just(Step::EndParse),
        ];
        prop::collection::vec(step, 0..300)
    }

    /// A block in use, filled with one byte.
    struct Filled {
        pointer: *mut c_void,
        size: usize,
        byte: u8,
    }

    // SAFETY: blocks may be freed on any thread after their parse.
    unsafe impl Send for Filled {}

    impl Filled {
        fn new(pointer: *mut c_void, size: usize, byte: u8) -> Filled {
            assert!(!pointer.is_null() && pointer.addr().is_multiple_of(16));
            // SAFETY: the block has this size.
            unsafe { pointer.cast::<u8>().write_bytes(byte, size) };
            Filled { pointer, size, byte }
        }

        fn check(&self) {
            // SAFETY: the block has this size, and was filled.
            let bytes: &[u8] = unsafe { std::slice::from_raw_parts(self.pointer.cast(), self.size) };
            assert!(bytes.iter().all(|byte| *byte == self.byte));
        }

        fn resized(self, size: usize, byte: u8) -> Filled {
            self.check();
            // SAFETY: the block is in use, and only its replacement is used from now on.
            let pointer = unsafe { reallocate(self.pointer, size) };
            Filled { pointer, size: size.min(self.size), ..self }.check();
            Filled::new(pointer, size, byte)
        }

        fn free(self) {
            self.check();
            // SAFETY: the block is in use, and no longer used from now on.
            unsafe { free(self.pointer) };
        }
    }

    /// Does what the parser may do to the blocks in use, each of which gets a byte of its own.
    fn run(steps: &[Step], used: &mut Vec<Filled>) {
        for (step, byte) in steps.iter().zip((1..=u8::MAX).cycle()) {
            match *step {
                // SAFETY: it may be called at any time.
                Step::Allocate(size) => used.push(Filled::new(unsafe { allocate(size) }, size, byte)),
                Step::AllocateZeroed(size) => {
                    // SAFETY: it may be called at any time.
                    let pointer = unsafe { allocate_zeroed(size, 1) };
                    Filled { pointer, size, byte: 0 }.check();
                    used.push(Filled::new(pointer, size, byte));
                }
                Step::Reallocate(block, size) if !used.is_empty() => {
                    let old = used.swap_remove(block % used.len());
                    used.push(old.resized(size, byte));
                }
                Step::Free(block) if !used.is_empty() => used.swap_remove(block % used.len()).free(),
                _ => {}
            }
        }
    }

    /// Bytes within which every parse is.
    const MEMORY: usize = 1 << 40;

    fn session() -> ParseSession {
        ParseSession::new(ParseBudget { work: u64::MAX, memory: MEMORY })
    }

    proptest! {
        #[test]
        fn blocks_keep_their_content_until_they_are_freed(steps in steps(), is_in_parse: bool) {
            let mut used = Vec::new();
            for part in steps.split(|step| matches!(step, Step::EndParse)) {
                let session = session();
                SESSION.set(if is_in_parse { &session } else { ptr::null() });
                run(part, &mut used);
                SESSION.set(ptr::null());
            }
            std::thread::spawn(move || used.into_iter().for_each(Filled::free)).join().unwrap();
        }

        #[test]
        fn a_parse_counts_its_blocks_in_use(steps in steps()) {
            let session = session();
            SESSION.set(&session);
            let mut used = Vec::new();
            run(&steps, &mut used);
            SESSION.set(ptr::null());
            let bytes: usize = used.iter().map(|block| block.size).sum();
            prop_assert_eq!(session.memory.get() + bytes, MEMORY);
            session.chunks.free_all();
        }
    }
}
