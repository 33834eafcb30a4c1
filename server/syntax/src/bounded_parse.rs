//! Runs the parser within a budget and on a separate stack. No other module runs the parser.
//!
//! For some texts a parser's time and memory grow quadratically, mostly inside single steps, where tree-sitter calls no progress
//! callback: a lexer reads to the end of the file for every token, or an ambiguous stack is copied once for every path through
//! it. So a parse is a coroutine whose work is counted: bytes read by its lexer, parser steps, bytes allocated. When the budget
//! is exhausted, the coroutine is suspended for good and its allocations are freed.
//!
//! The counts are the same on every machine under any load, so a text is either always parsed or never. This module reads no
//! clock.
//!
//! The stack is far larger than the stacks of our threads and uses memory only as it grows: tree-sitter frees its own stack
//! recursively.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use tree_sitter::{Language as Grammar, ParseOptions, ParseState, Parser, Range, Tree};

use chunks::ParseChunks;
pub(crate) use memory::install;

mod chunks;
mod memory;

/// Limits of a parse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseBudget {
    /// Work units: bytes read by a lexer, or an equivalent of about 10 ns.
    work: u64,
    /// Maximum of bytes allocated at the same time.
    memory: usize,
}

/// Upper bound of what a parse from nothing takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseCost {
    /// Work units, as in [`ParseBudget`].
    work: u64,
    /// Bytes allocated at the same time.
    memory: usize,
}

/// A finished parse.
pub(crate) struct FinishedParse {
    pub(crate) tree: Tree,
    /// What this parse took.
    pub(crate) cost: ParseCost,
}

/// Work of one parser step, in bytes read.
const STEP_WORK: u64 = 32;
/// Steps between two calls of the progress callback; tree-sitter uses the same number.
const STEPS_COUNTED: u64 = 100;
/// Allocated bytes that count as one unit of work.
const ALLOCATED_BYTES_PER_WORK: usize = 8;
/// Bytes given to the lexer at a time. The lexer is charged for the whole chunk, and may read it again without charge for every
/// token.
const CHUNK_BYTES: usize = 256;
/// Chunks that a parse from nothing may read more often than a parse and an update of its tree together: those around the edit.
const CHUNKS_OF_AN_UPDATE: u64 = 4;
/// Address space for a parser's stack. A level of tree-sitter's recursion takes some hundred bytes, and texts parsed within the
/// budget have too few levels to fill this.
const STACK_BYTES: usize = 64 << 20;

impl ParseBudget {
    /// Returns the budget for the text of a file.
    ///
    /// Of 1,494 real files in ten languages, half need 28 of the work per byte, 1 in 100 more than 69, the hardest 128 (a C
    /// header of 10 KB that is full of macros); none needs more than 107 bytes of memory per byte. The constant part is for small
    /// texts, which vary more. Parsing the largest files is aborted after some seconds.
    pub(crate) fn for_file(bytes: usize) -> ParseBudget {
        ParseBudget { work: 24_000_000 + 256 * bytes as u64, memory: (32 << 20) + 256 * bytes }
    }

    /// Returns the budget for a text that an editor changes on every key: some tenths of a second for usual sizes. It cannot be
    /// much smaller, since one key may make the parser read the whole text again.
    pub(crate) fn for_edit(bytes: usize) -> ParseBudget {
        ParseBudget { work: 8_000_000 + 160 * bytes as u64, memory: (32 << 20) + 256 * bytes }
    }

    /// Returns what is left after a parse of this cost; `None` if it exceeds the budget.
    pub(crate) fn after(self, cost: ParseCost) -> Option<ParseBudget> {
        let (work, memory) = (self.work.checked_sub(cost.work)?, self.memory.checked_sub(cost.memory)?);
        Some(ParseBudget { work, memory })
    }
}

impl ParseCost {
    /// Returns the bound after an update that took `update`: a parse from nothing repeats the reused part, which this cost
    /// includes, and the update.
    pub(crate) fn plus_update(self, update: ParseCost) -> ParseCost {
        let work = self.work + update.work + CHUNKS_OF_AN_UPDATE * CHUNK_BYTES as u64;
        ParseCost { work, memory: self.memory + update.memory }
    }
}

/// Input of a parse.
pub(crate) struct ParseInput<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) text: &'a str,
    /// Tree of an older text, with the edits applied since.
    pub(crate) old: Option<&'a Tree>,
    /// Ranges of the text to parse; the whole text if empty.
    pub(crate) pieces: &'a [Range],
}

/// Parses within `budget` and deducts the work from it; `None` if the budget is exhausted.
pub(crate) fn parse(input: &ParseInput<'_>, budget: &mut ParseBudget) -> Option<FinishedParse> {
    install();
    PARSES.fetch_add(1, Ordering::Relaxed);
    let mut stack = STACK.take().or_else(|| DefaultStack::new(STACK_BYTES).ok())?;
    let session = ParseSession::new(*budget);
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
            let work = budget.work - session.work.get();
            let cost = ParseCost { work, memory: budget.memory - session.least_memory.get() };
            budget.work = session.work.get();
            WORK.fetch_add(work, Ordering::Relaxed);
            tree.map(|tree| FinishedParse { tree, cost })
        }
        CoroutineResult::Yield(()) => {
            // SAFETY: the coroutine's stack has only frames of C and, in `run` and the callbacks, a parser and references; the
            // parser's memory is in the blocks, and nothing else needs dropping.
            unsafe { coroutine.force_reset() };
            session.chunks.free_all();
            WORK.fetch_add(budget.work, Ordering::Relaxed);
            budget.work = 0;
            None
        }
    }
}

/// Parses of this process, and their work.
static PARSES: AtomicU64 = AtomicU64::new(0);
static WORK: AtomicU64 = AtomicU64::new(0);

/// Number and work of parses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseCounts {
    /// Runs of the parser, incremental ones included.
    pub parses: u64,
    /// Their work, in units of about 10 ns.
    pub work: u64,
}

/// Returns the parses of this process so far: for tests and measurements, which count work instead of taking its time.
pub fn parse_counts() -> ParseCounts {
    ParseCounts { parses: PARSES.load(Ordering::Relaxed), work: WORK.load(Ordering::Relaxed) }
}

thread_local! {
    /// Stack of the thread's last parse, reused by the next one.
    static STACK: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// Body of the coroutine. Uses a new parser, so that the session owns all of the parser's memory.
fn run(input: &ParseInput<'_>, session: &ParseSession) -> Option<Tree> {
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
struct ParseSession {
    /// Remaining budget.
    work: Cell<u64>,
    memory: Cell<usize>,
    /// Least remaining memory so far.
    least_memory: Cell<usize>,
    chunks: ParseChunks,
    yielder: Cell<*const Yielder<(), ()>>,
}

impl ParseSession {
    fn new(budget: ParseBudget) -> ParseSession {
        ParseSession {
            work: Cell::new(budget.work),
            memory: Cell::new(budget.memory),
            least_memory: Cell::new(budget.memory),
            chunks: ParseChunks::default(),
            yielder: Cell::new(std::ptr::null()),
        }
    }

    /// Counts work; does not return if the budget is exhausted.
    fn work(&self, work: u64) {
        match self.work.get().checked_sub(work) {
            Some(left) => self.work.set(left),
            None => self.abort(),
        }
    }

    /// Counts bytes about to be allocated, `new` of them in addition to the existing ones; does not return if the budget is
    /// exhausted.
    fn allocate(&self, bytes: usize, new: usize) {
        self.work((bytes / ALLOCATED_BYTES_PER_WORK) as u64);
        match self.memory.get().checked_sub(new) {
            Some(left) => {
                self.memory.set(left);
                self.least_memory.set(self.least_memory.get().min(left));
            }
            None => self.abort(),
        }
    }

    fn free(&self, bytes: usize) {
        self.memory.set(self.memory.get() + bytes);
    }

    /// Suspends the coroutine for good.
    fn abort(&self) -> ! {
        loop {
            // SAFETY: only the coroutine calls this, and it has set the pointer to a value that lives as long as the coroutine.
            unsafe { &*self.yielder.get() }.suspend(());
        }
    }
}
