//! The only place that runs the parser: within a budget, on a stack of its own.
//!
//! A parser takes time and memory that grow with the square of some texts, most of it inside single steps, where tree-sitter calls no
//! progress callback: a lexer reads to the end of the file for every token, an ambiguous stack is copied once for every path through
//! it. So a parse is a coroutine, and all that it does is counted: bytes that its lexer reads, its steps, bytes that it allocates.
//! Where the budget ends, the coroutine is left on the spot and never resumed, and what it has allocated is freed.
//!
//! What is counted is the same on every machine, however busy it is, so a text is always parsed or never. No clock is read here.
//!
//! The stack is far larger than those of our threads and costs memory only where it is used: tree-sitter frees its own stack by
//! recursion.

use std::cell::Cell;
use std::ops::ControlFlow;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use tree_sitter::{Language as Grammar, ParseOptions, ParseState, Parser, Range, Tree};

use memory::Blocks;
pub(crate) use memory::install;

mod memory;

/// How much a parse may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// In bytes that a lexer reads, or what takes as long: about 10 ns.
    work: u64,
    /// Bytes allocated at the same time.
    memory: usize,
}

/// A step of the parser takes about as long as reading so many bytes.
const STEP_WORK: u64 = 32;
/// Steps between two calls of the progress callback; tree-sitter has this number, too.
const STEPS_COUNTED: u64 = 100;
/// So many allocated bytes take about as long as reading one.
const ALLOCATED_BYTES_PER_WORK: usize = 8;
/// Bytes that the lexer is given at a time. It is counted as reading all of them, and may read them again uncounted for every token.
const CHUNK_BYTES: usize = 256;
/// Address space for a parser's stack. A level of tree-sitter's recursion takes some hundred bytes, and the texts that are parsed
/// within the budget have fewer levels than fill this.
const STACK_BYTES: usize = 64 << 20;

impl Budget {
    /// For the text of a file. Of 1,494 real files in ten languages half need 28 of the work per byte, 1 in 100 more than 69, the
    /// hardest 128 (a C header of 10 KB that is full of macros); none needs more than 107 bytes of memory per byte. The constant part is for
    /// small texts, whose share of hard code varies. The largest files that are read are given up after some seconds.
    pub(crate) fn of_file(bytes: usize) -> Budget {
        Budget { work: 24_000_000 + 256 * bytes as u64, memory: (32 << 20) + 256 * bytes }
    }

    /// For a text that an editor shows and changes at every key: some tenths of a second for usual sizes. It cannot be much smaller, since
    /// one key may make the parser read all of the text again.
    pub(crate) fn of_edit(bytes: usize) -> Budget {
        Budget { work: 8_000_000 + 160 * bytes as u64, memory: (32 << 20) + 256 * bytes }
    }
}

/// A text to parse.
pub(crate) struct Input<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) text: &'a str,
    /// The tree of an older text, with the edits since.
    pub(crate) old: Option<&'a Tree>,
    /// What of the text is looked at; all of it if empty.
    pub(crate) pieces: &'a [Range],
}

/// Parses within `budget`, and takes from it what that needs; `None` where it was not enough.
pub(crate) fn parse(input: &Input<'_>, budget: &mut Budget) -> Option<Tree> {
    install();
    let mut stack = STACK.take().or_else(|| DefaultStack::new(STACK_BYTES).ok())?;
    let session = Session::new(*budget);
    let body = |yielder: &Yielder<(), ()>, ()| {
        session.yielder.set(yielder);
        run(input, &session)
    };
    // SAFETY: the coroutine ends or is reset in this function, so `body` outlives it.
    let mut coroutine =
        unsafe { Coroutine::<(), (), Option<Tree>, _>::with_stack_unchecked(&mut stack, body) };
    let outer = memory::SESSION.replace(&session);
    let result = coroutine.resume(());
    memory::SESSION.set(outer);
    match result {
        CoroutineResult::Return(tree) => {
            drop(coroutine);
            STACK.set(Some(stack));
            budget.work = session.work.get();
            tree
        }
        CoroutineResult::Yield(()) => {
            // SAFETY: on its stack are frames of C and, in `run` and the callbacks, a parser and references; the parser's memory is
            // among the blocks, and nothing else has anything to drop.
            unsafe { coroutine.force_reset() };
            session.blocks.free_all();
            budget.work = 0;
            None
        }
    }
}

thread_local! {
    /// The stack of the thread's last parse, for its next one.
    static STACK: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// What the coroutine does. The parser is new, so that all its memory is the session's.
fn run(input: &Input<'_>, session: &Session) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(input.grammar).expect("the grammars fit the tree-sitter of this build");
    if !input.pieces.is_empty() {
        parser.set_included_ranges(input.pieces).ok()?;
    }
    let bytes = input.text.as_bytes();
    let mut read = |at: usize, _| {
        let chunk = &bytes[at.min(bytes.len())..bytes.len().min(at.saturating_add(CHUNK_BYTES))];
        session.work(chunk.len() as u64);
        chunk
    };
    let mut step = |_: &ParseState| {
        session.work(STEPS_COUNTED * STEP_WORK);
        ControlFlow::Continue(())
    };
    let options = ParseOptions::new().progress_callback(&mut step);
    parser.parse_with_options(&mut read, input.old, Some(options))
}

/// A running parse.
struct Session {
    /// What is left of the budget.
    work: Cell<u64>,
    memory: Cell<usize>,
    blocks: Blocks,
    yielder: Cell<*const Yielder<(), ()>>,
}

impl Session {
    fn new(budget: Budget) -> Session {
        Session {
            work: Cell::new(budget.work),
            memory: Cell::new(budget.memory),
            blocks: Blocks::default(),
            yielder: Cell::new(std::ptr::null()),
        }
    }

    /// Counts work; does not return where there is too much of it.
    fn work(&self, work: u64) {
        match self.work.get().checked_sub(work) {
            Some(left) => self.work.set(left),
            None => self.leave(),
        }
    }

    /// Counts bytes that are about to be allocated, of which `new` are more than before; does not return where there are too many.
    fn allocate(&self, bytes: usize, new: usize) {
        self.work((bytes / ALLOCATED_BYTES_PER_WORK) as u64);
        match self.memory.get().checked_sub(new) {
            Some(left) => self.memory.set(left),
            None => self.leave(),
        }
    }

    fn free(&self, bytes: usize) {
        self.memory.set(self.memory.get() + bytes);
    }

    /// Leaves the coroutine for good.
    fn leave(&self) -> ! {
        loop {
            // SAFETY: only the coroutine calls this, which has set the pointer to what lives as long as it does.
            unsafe { &*self.yielder.get() }.suspend(());
        }
    }
}
