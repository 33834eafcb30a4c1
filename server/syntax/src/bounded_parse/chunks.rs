//! Chunks of memory from which a parse takes its blocks, one behind the other.
//!
//! ```text
//! chunk  header ─ block ─ block ─ block ─ … ─ free
//!                 └ header with its size and its chunk, content
//! ```
//!
//! A tree has a block for each of its nodes. They are used in about the order in which they were taken, so they are best next to each other,
//! and most of them are freed together. Blocks that the running parse frees are used again by it. After the parse, a chunk is freed with
//! its last block, on whatever thread that is.
//!
//! Responsible for where blocks are. Knows neither the budget of a parse nor blocks outside of one: [`super::memory`] does.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// Alignment of blocks in bytes, as of `malloc`.
const ALIGNMENT: usize = 16;
/// Bytes of a parse's first chunk: small texts, and updates after a key, need a few kilobytes.
const FIRST_CHUNK_BYTES: usize = 16 << 10;
/// Most bytes of a chunk with several blocks. Each one is twice as large as the one before.
const MAX_CHUNK_BYTES: usize = 256 << 10;
/// Largest block whose capacity is a multiple of the alignment; larger ones have a power of two.
const MAX_EXACT_BYTES: usize = 1 << 10;
/// Largest block beside others; a larger one has a chunk of its own, which is freed with it.
const MAX_SHARED_BYTES: usize = 16 << 10;
/// Number of capacities.
const CAPACITIES: usize =
    MAX_EXACT_BYTES / ALIGNMENT + (MAX_SHARED_BYTES / MAX_EXACT_BYTES).trailing_zeros() as usize;

/// In front of every block of the parser.
#[repr(C, align(16))]
pub(super) struct BlockHeader {
    /// Size of the block without its header, in bytes.
    pub(super) size: usize,
    /// Null if it was allocated outside of a parse.
    pub(super) chunk: *mut Chunk,
}

/// The beginning of a chunk.
#[repr(C, align(16))]
pub(super) struct Chunk {
    /// The parse that takes blocks from it; null when that is over.
    parse: *const ParseChunks,
    /// Position among the chunks of its parse.
    place: usize,
    /// Its length with this header.
    bytes: usize,
    /// Blocks in use. While the parse runs, only its thread changes this.
    blocks: AtomicUsize,
}

/// The chunks of a running parse. Must not move.
pub(super) struct ParseChunks {
    chunks: RefCell<Vec<NonNull<Chunk>>>,
    /// The chunk that blocks are taken from, and its unused rest.
    current: Cell<*mut Chunk>,
    rest: Cell<(*mut u8, usize)>,
    /// Length of the next chunk in bytes.
    next_bytes: Cell<usize>,
    /// By capacity: blocks that were freed; each one's content begins with the next one.
    free: [Cell<*mut BlockHeader>; CAPACITIES],
}

impl Default for ParseChunks {
    fn default() -> ParseChunks {
        ParseChunks {
            chunks: RefCell::default(),
            current: Cell::new(ptr::null_mut()),
            rest: Cell::new((ptr::null_mut(), 0)),
            next_bytes: Cell::new(FIRST_CHUNK_BYTES),
            free: [const { Cell::new(ptr::null_mut()) }; CAPACITIES],
        }
    }
}

impl ParseChunks {
    /// Takes a block of `size` bytes.
    pub(super) fn take(&self, size: usize) -> NonNull<BlockHeader> {
        let Some(place) = place_of(size) else { return self.take_alone(size) };
        let free = &self.free[place];
        let header = match NonNull::new(free.get()) {
            Some(header) => {
                // SAFETY: a freed block has room for a pointer, which was written when it was freed.
                free.set(unsafe { content(header).cast::<*mut BlockHeader>().read() });
                header
            }
            None => self.take_new(capacity_of(place)),
        };
        // SAFETY: the header belongs to the block, and its chunk is alive.
        unsafe {
            (*header.as_ptr()).size = size;
            self.count((*header.as_ptr()).chunk, 1);
        }
        header
    }

    /// Takes a block behind the last one, or in a new chunk. Its size is not set.
    fn take_new(&self, capacity: usize) -> NonNull<BlockHeader> {
        let needed = size_of::<BlockHeader>() + capacity;
        if self.rest.get().1 < needed {
            self.begin_chunk();
        }
        let (start, left) = self.rest.get();
        let header: *mut BlockHeader = start.cast();
        // SAFETY: so many bytes are left in the chunk, and all lengths are multiples of the alignment.
        unsafe {
            self.rest.set((start.add(needed), left - needed));
            header.write(BlockHeader { size: 0, chunk: self.current.get() });
            NonNull::new_unchecked(header)
        }
    }

    /// Begins a chunk, which has room for every shared block.
    fn begin_chunk(&self) {
        let bytes = self.next_bytes.get();
        self.next_bytes.set(MAX_CHUNK_BYTES.min(2 * bytes));
        let chunk =
            self.new_chunk(2 * size_of::<BlockHeader>() + size_of::<Chunk>() + MAX_SHARED_BYTES.max(bytes));
        // SAFETY: the chunk has been allocated with this length.
        let (start, left) = unsafe { (chunk.as_ptr().add(1), chunk.as_ref().bytes - size_of::<Chunk>()) };
        self.current.set(chunk.as_ptr());
        self.rest.set((start.cast(), left));
    }

    /// Takes a block in a chunk of its own.
    fn take_alone(&self, size: usize) -> NonNull<BlockHeader> {
        let bytes = size.checked_add(size_of::<Chunk>() + size_of::<BlockHeader>());
        let chunk = self.new_chunk(bytes.unwrap_or(usize::MAX));
        // SAFETY: the header is directly behind that of the chunk.
        unsafe {
            let header: *mut BlockHeader = chunk.as_ptr().add(1).cast();
            header.write(BlockHeader { size, chunk: chunk.as_ptr() });
            self.count(chunk.as_ptr(), 1);
            NonNull::new_unchecked(header)
        }
    }

    fn new_chunk(&self, bytes: usize) -> NonNull<Chunk> {
        let layout = layout(bytes);
        // SAFETY: the layout has room for the header.
        let chunk = unsafe { alloc(layout) }.cast::<Chunk>();
        let chunk = NonNull::new(chunk).unwrap_or_else(|| handle_alloc_error(layout));
        let mut chunks = self.chunks.borrow_mut();
        let header = Chunk { parse: self, place: chunks.len(), bytes, blocks: AtomicUsize::new(0) };
        // SAFETY: this is the beginning of the new memory.
        unsafe { chunk.write(header) };
        chunks.push(chunk);
        chunk
    }

    /// Changes the number of blocks in use of a chunk of this parse.
    ///
    /// # Safety
    ///
    /// The chunk must be alive.
    unsafe fn count(&self, chunk: *mut Chunk, difference: isize) {
        // SAFETY: the caller guarantees this. No other thread reaches a chunk of a running parse.
        let blocks = unsafe { &(*chunk).blocks };
        blocks.store(blocks.load(Ordering::Relaxed).wrapping_add_signed(difference), Ordering::Relaxed);
    }

    /// Whether a block of this chunk was taken from here.
    ///
    /// # Safety
    ///
    /// The chunk must be alive or null.
    pub(super) unsafe fn has(&self, chunk: *mut Chunk) -> bool {
        // SAFETY: the caller guarantees this.
        !chunk.is_null() && ptr::eq(unsafe { (*chunk).parse }, self)
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// The block must have been taken from here, and must no longer be used.
    pub(super) unsafe fn put(&self, header: NonNull<BlockHeader>) {
        // SAFETY: the caller guarantees that the block is alive, and so is its chunk.
        let BlockHeader { size, chunk } = unsafe { header.read() };
        match place_of(size) {
            // SAFETY: the content has room for a pointer.
            Some(place) => unsafe {
                let next = self.free[place].replace(header.as_ptr());
                content(header).cast::<*mut BlockHeader>().write(next);
                self.count(chunk, -1);
            },
            // SAFETY: the block was the only one of the chunk.
            None => unsafe {
                let mut chunks = self.chunks.borrow_mut();
                let place = (*chunk).place;
                chunks.swap_remove(place);
                chunks.get(place).into_iter().for_each(|moved| (*moved.as_ptr()).place = place);
                dealloc(chunk.cast(), layout((*chunk).bytes));
            },
        }
    }

    /// Returns a block with another size and the same content as far as it has room: the same one, or another one instead of it.
    ///
    /// # Safety
    ///
    /// The block must have been taken from here, and must no longer be used.
    pub(super) unsafe fn resize(
        &self,
        mut header: NonNull<BlockHeader>,
        size: usize,
    ) -> NonNull<BlockHeader> {
        // SAFETY: the caller guarantees that the block is alive.
        let old_size = unsafe { header.as_ref().size };
        if place_of(size).is_some_and(|place| place_of(old_size) == Some(place)) {
            // SAFETY: the block has room.
            unsafe { header.as_mut().size = size };
            return header;
        }
        let new = self.take(size);
        // SAFETY: both blocks have so many bytes, and they are different ones.
        unsafe {
            content(new).copy_from_nonoverlapping(content(header), size.min(old_size));
            self.put(header);
        }
        new
    }

    /// Frees all chunks, also those with blocks in use, which must no longer be used.
    pub(super) fn free_all(&self) {
        for chunk in self.chunks.take() {
            // SAFETY: chunks in the list are alive.
            unsafe { dealloc(chunk.as_ptr().cast(), layout(chunk.as_ref().bytes)) };
        }
    }
}

/// After the parse, the chunks belong to the blocks in use.
impl Drop for ParseChunks {
    fn drop(&mut self) {
        for mut chunk in self.chunks.take() {
            // SAFETY: chunks in the list are alive, and no other thread has a block of them yet.
            unsafe {
                chunk.as_mut().parse = ptr::null();
                if chunk.as_ref().blocks.load(Ordering::Relaxed) == 0 {
                    dealloc(chunk.as_ptr().cast(), layout(chunk.as_ref().bytes));
                }
            }
        }
    }
}

/// Frees a block of another parse.
///
/// # Safety
///
/// The chunk must be that of a block in use, which must no longer be used.
pub(super) unsafe fn release(chunk: *mut Chunk) {
    // SAFETY: the caller guarantees that the chunk is alive. Its parse changes only before its blocks leave the thread of the parse. The last
    // one to decrease the number is the only one to know the chunk.
    unsafe {
        let is_over = (*chunk).parse.is_null();
        if (*chunk).blocks.fetch_sub(1, Ordering::Release) == 1 && is_over {
            fence(Ordering::Acquire);
            dealloc(chunk.cast(), layout((*chunk).bytes));
        }
    }
}

/// Returns the content of a block.
pub(super) fn content(header: NonNull<BlockHeader>) -> NonNull<u8> {
    // SAFETY: every block has memory behind its header, or ends there.
    unsafe { header.add(1).cast() }
}

/// Returns the place of a block's capacity among all; `None` if the block has a chunk of its own.
fn place_of(size: usize) -> Option<usize> {
    if size <= MAX_EXACT_BYTES {
        Some(size.max(1).div_ceil(ALIGNMENT) - 1)
    } else if size <= MAX_SHARED_BYTES {
        let doublings = (size.next_power_of_two() / MAX_EXACT_BYTES).trailing_zeros() as usize;
        Some(MAX_EXACT_BYTES / ALIGNMENT + doublings - 1)
    } else {
        None
    }
}

/// Returns the capacity at a place, in bytes.
fn capacity_of(place: usize) -> usize {
    match (place + 1).checked_sub(MAX_EXACT_BYTES / ALIGNMENT) {
        Some(doublings) => MAX_EXACT_BYTES << doublings,
        None => (place + 1) * ALIGNMENT,
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGNMENT).unwrap_or_else(|_| handle_alloc_error(Layout::new::<Chunk>()))
}
