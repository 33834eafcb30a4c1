//! The parser's memory: what a running parse allocates is counted, and freed as a whole if the parse is left.
//!
//! Every block has a header with its size and its place among the blocks of the parse that allocated it. Outside of a parse, and for
//! blocks of earlier parses, this is the allocator of the program and nothing else.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::Once;

use super::Session;

thread_local! {
    /// The parse that runs on this thread. Set only while it runs.
    pub(super) static SESSION: Cell<*const Session> = const { Cell::new(std::ptr::null()) };
}

/// Lets the parser allocate here. Must come before all other uses of it.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let functions =
            tree_sitter::Allocator { malloc: allocate, calloc: allocate_zeroed, realloc: reallocate, free };
        // SAFETY: the functions are of one family and give memory that is aligned as that of `malloc`, or end the program. Nothing of
        // the parser was used before: queries are compiled and texts parsed after this alone.
        unsafe { tree_sitter::set_allocator(Some(functions)) };
    });
}

/// Stands before every block.
#[repr(C, align(16))]
struct Header {
    /// Of the block without its header.
    size: usize,
    /// Where the block is in the [`Blocks`] of its parse.
    place: usize,
}

/// The blocks that a parse has allocated and not freed.
#[derive(Default)]
pub(super) struct Blocks(RefCell<Vec<*mut Header>>);

impl Blocks {
    fn add(&self, block: *mut Header) -> usize {
        let mut blocks = self.0.borrow_mut();
        blocks.push(block);
        blocks.len() - 1
    }

    /// Whether `block`, which says it is at `place`, is of this parse.
    fn has(&self, block: *mut Header, place: usize) -> bool {
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

    fn replace(&self, place: usize, block: *mut Header) {
        self.0.borrow_mut()[place] = block;
    }

    /// Frees all of them.
    pub(super) fn free_all(&self) {
        for block in self.0.take() {
            // SAFETY: blocks in the list are not freed, and the parse that used them is over.
            unsafe { dealloc(block.cast(), layout((*block).size)) };
        }
    }
}

fn layout(size: usize) -> Layout {
    let whole = size.checked_add(size_of::<Header>());
    let layout = whole.and_then(|whole| Layout::from_size_align(whole, align_of::<Header>()).ok());
    layout.unwrap_or_else(|| handle_alloc_error(Layout::new::<Header>()))
}

/// The parse that runs on this thread.
fn session<'a>() -> Option<&'a Session> {
    // SAFETY: the pointer is null but while the parse runs, and then its session lives.
    unsafe { SESSION.get().as_ref() }
}

/// A new block of `size` bytes, given by `get`.
fn block(size: usize, get: unsafe fn(Layout) -> *mut u8) -> *mut c_void {
    let session = session();
    if let Some(session) = session {
        session.allocate(size, size);
    }
    let layout = layout(size);
    // SAFETY: a layout with a header is not empty.
    let header: *mut Header = unsafe { get(layout) }.cast();
    if header.is_null() {
        handle_alloc_error(layout);
    }
    let place = session.map_or(usize::MAX, |session| session.blocks.add(header));
    // SAFETY: the header is the beginning of the new block.
    unsafe { header.write(Header { size, place }) };
    // SAFETY: the block goes on behind its header.
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
    // SAFETY: the parser gives back what it got, and that is behind its header.
    let (old, Header { size: old_size, place }) = unsafe {
        let header = pointer.cast::<Header>().sub(1);
        (header, header.read())
    };
    let session = session().filter(|session| session.blocks.has(old, place));
    if let Some(session) = session {
        session.allocate(size, size.saturating_sub(old_size));
        session.free(old_size.saturating_sub(size));
    }
    let whole = layout(size);
    // SAFETY: the block was allocated with this layout.
    let header: *mut Header = unsafe { realloc(old.cast(), layout(old_size), whole.size()) }.cast();
    if header.is_null() {
        handle_alloc_error(whole);
    }
    if let Some(session) = session {
        session.blocks.replace(place, header);
    }
    // SAFETY: the block is as large as its header says, and goes on behind it.
    unsafe {
        (*header).size = size;
        header.add(1).cast()
    }
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: the parser gives back what it got, and that is behind its header.
    let (header, Header { size, place }) = unsafe {
        let header = pointer.cast::<Header>().sub(1);
        (header, header.read())
    };
    if let Some(session) = session().filter(|session| session.blocks.has(header, place)) {
        session.blocks.remove(place);
        session.free(size);
    }
    // SAFETY: the block was allocated with this layout, and is in no list any more.
    unsafe { dealloc(header.cast(), layout(size)) };
}
