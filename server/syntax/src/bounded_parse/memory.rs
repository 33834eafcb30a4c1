//! Allocator of the parser: counts the memory of a running parse and frees all of it if the parse is aborted.
//!
//! Every block has a header with its size and its position among the blocks of its parse. Outside of a parse, and for blocks of
//! earlier parses, this only forwards to the program's allocator.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::Once;

use super::ParseSession;

thread_local! {
    /// Session of the parse that runs on this thread. Set only during the parse.
    pub(super) static SESSION: Cell<*const ParseSession> = const { Cell::new(std::ptr::null()) };
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

/// Header in front of every block.
#[repr(C, align(16))]
struct BlockHeader {
    /// Size of the block without its header, in bytes.
    size: usize,
    /// Position of the block in the [`AllocatedBlocks`] of its parse.
    place: usize,
}

/// Blocks that a parse has allocated and not freed.
#[derive(Default)]
pub(super) struct AllocatedBlocks(RefCell<Vec<*mut BlockHeader>>);

impl AllocatedBlocks {
    fn add(&self, block: *mut BlockHeader) -> usize {
        let mut blocks = self.0.borrow_mut();
        blocks.push(block);
        blocks.len() - 1
    }

    /// Whether `block`, whose header has position `place`, belongs to this parse.
    fn has(&self, block: *mut BlockHeader, place: usize) -> bool {
        self.0.borrow().get(place) == Some(&block)
    }

    fn remove(&self, place: usize) {
        let mut blocks = self.0.borrow_mut();
        blocks.swap_remove(place);
        if let Some(&moved) = blocks.get(place) {
            // SAFETY: blocks in the list are not freed.
            unsafe { (*moved).place = place };
        }
    }

    fn replace(&self, place: usize, block: *mut BlockHeader) {
        self.0.borrow_mut()[place] = block;
    }

    /// Frees all blocks.
    pub(super) fn free_all(&self) {
        for block in self.0.take() {
            // SAFETY: blocks in the list are not freed, and the parse that used them is over.
            unsafe { dealloc(block.cast(), layout((*block).size)) };
        }
    }
}

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

/// Allocates a new block of `size` bytes with `get`.
fn block(size: usize, get: unsafe fn(Layout) -> *mut u8) -> *mut c_void {
    let session = session();
    if let Some(session) = session {
        session.allocate(size, size);
    }
    let layout = layout(size);
    // SAFETY: a layout with a header is not empty.
    let header: *mut BlockHeader = unsafe { get(layout) }.cast();
    if header.is_null() {
        handle_alloc_error(layout);
    }
    let place = session.map_or(usize::MAX, |session| session.blocks.add(header));
    // SAFETY: the header is the beginning of the new block.
    unsafe { header.write(BlockHeader { size, place }) };
    // SAFETY: the block's memory continues after its header.
    unsafe { header.add(1) }.cast()
}

unsafe extern "C" fn allocate(size: usize) -> *mut c_void {
    block(size, alloc)
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize) -> *mut c_void {
    block(count.saturating_mul(size), alloc_zeroed)
}

unsafe extern "C" fn reallocate(pointer: *mut c_void, size: usize) -> *mut c_void {
    if pointer.is_null() {
        return block(size, alloc);
    }
    // SAFETY: the parser passes a pointer that it got from here, directly after a header.
    let (old, BlockHeader { size: old_size, place }) = unsafe {
        let header = pointer.cast::<BlockHeader>().sub(1);
        (header, header.read())
    };
    let session = session().filter(|session| session.blocks.has(old, place));
    if let Some(session) = session {
        session.allocate(size, size.saturating_sub(old_size));
        session.free(old_size.saturating_sub(size));
    }
    let whole = layout(size);
    // SAFETY: the block was allocated with this layout.
    let header: *mut BlockHeader = unsafe { realloc(old.cast(), layout(old_size), whole.size()) }.cast();
    if header.is_null() {
        handle_alloc_error(whole);
    }
    if let Some(session) = session {
        session.blocks.replace(place, header);
    }
    // SAFETY: the block has the size in its header, and continues after it.
    unsafe {
        (*header).size = size;
        header.add(1).cast()
    }
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: the parser passes a pointer that it got from here, directly after a header.
    let (header, BlockHeader { size, place }) = unsafe {
        let header = pointer.cast::<BlockHeader>().sub(1);
        (header, header.read())
    };
    if let Some(session) = session().filter(|session| session.blocks.has(header, place)) {
        session.blocks.remove(place);
        session.free(size);
    }
    // SAFETY: the block was allocated with this layout, and is no longer in any list.
    unsafe { dealloc(header.cast(), layout(size)) };
}
