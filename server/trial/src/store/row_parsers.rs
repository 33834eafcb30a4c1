//! Parses rows on several threads, and returns them in their order.
//!
//! ```text
//! rows ─RowBatch::read─► batch ─► queue of each parser in turn ─► parsed batches, taken in the same turn
//! ```
//!
//! Parsing takes most of the time of reading a store. Responsible for rows without their documents; must never read the database from
//! another thread than the one that opened it, or keep more than a few batches.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, Scope};

use rusqlite::Rows;

use super::reader::StoredOpportunity;

/// Rows of a batch: enough for the cost of passing it on, and few enough to begin early.
const MAX_ROWS: usize = 256;
/// Bytes of the rows of a batch, but for the last one.
const MAX_BYTES: usize = 1 << 20;
/// Most threads; more wait for the database.
const MAX_THREADS: usize = 4;
/// Batches of each thread that are parsed or wait.
const MAX_WAITING: usize = 2;

/// A parsed row, or the id of a row that cannot be parsed with the reason.
pub(super) type ParsedRow = Result<StoredOpportunity, (String, String)>;

/// A row as it is stored.
struct StoredRow {
    id: String,
    row: String,
    is_reviewed: bool,
}

/// Rows that follow each other.
pub(super) struct RowBatch {
    rows: Vec<StoredRow>,
    /// Whether no rows follow.
    pub(super) is_last: bool,
}

impl RowBatch {
    /// Reads the next rows with the columns `id`, `row`, any, `reviewed`.
    pub(super) fn read(rows: &mut Rows<'_>) -> rusqlite::Result<RowBatch> {
        let mut batch = RowBatch { rows: Vec::new(), is_last: false };
        let mut bytes = 0;
        while batch.rows.len() < MAX_ROWS && bytes < MAX_BYTES {
            let Some(row) = rows.next()? else {
                batch.is_last = true;
                break;
            };
            let row = StoredRow { id: row.get(0)?, row: row.get(1)?, is_reviewed: row.get(3)? };
            bytes += row.row.len();
            batch.rows.push(row);
        }
        Ok(batch)
    }

    fn parse(self) -> Vec<ParsedRow> {
        self.rows.into_iter().map(StoredRow::parse).collect()
    }
}

impl StoredRow {
    fn parse(self) -> ParsedRow {
        let StoredRow { id, row, is_reviewed } = self;
        let parsed = serde_json::from_str(&row).map_err(|error| (id, error.to_string()))?;
        Ok(StoredOpportunity { opportunity: parsed, is_reviewed })
    }
}

/// The threads, which are started with the first batch that others follow.
pub(super) struct RowParsers<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    threads: Vec<ParserThread>,
    /// The parsed or waiting batches, the oldest first.
    batches: VecDeque<Batch>,
    /// Number of batches that were passed on.
    added: usize,
}

struct ParserThread {
    queue: SyncSender<RowBatch>,
    parsed: Receiver<Vec<ParsedRow>>,
}

/// Where a batch is.
enum Batch {
    /// At the thread with this number.
    Passed(usize),
    /// Here, parsed already.
    Here(Vec<ParsedRow>),
}

impl<'scope, 'env> RowParsers<'scope, 'env> {
    /// Threads of this scope end with it.
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>) -> RowParsers<'scope, 'env> {
        RowParsers { scope, threads: Vec::new(), batches: VecDeque::new(), added: 0 }
    }

    /// Passes a batch on. Only the last batch, or one that no thread takes, is parsed here.
    pub(super) fn add(&mut self, batch: RowBatch) {
        if self.threads.is_empty() && !batch.is_last {
            self.threads = (0..thread_count()).filter_map(|_| ParserThread::start(self.scope)).collect();
        }
        let turn = self.added.checked_rem(self.threads.len());
        self.added += 1;
        let batch = match turn {
            None => Batch::Here(batch.parse()),
            Some(turn) => match self.threads[turn].queue.try_send(batch) {
                Ok(()) => Batch::Passed(turn),
                Err(mpsc::TrySendError::Full(batch) | mpsc::TrySendError::Disconnected(batch)) => {
                    Batch::Here(batch.parse())
                }
            },
        };
        self.batches.push_back(batch);
    }

    /// Whether the oldest batch is to be taken before the next one is read.
    pub(super) fn is_full(&self) -> bool {
        self.batches.len() > self.threads.len() * MAX_WAITING
    }

    /// Whether there is a batch.
    pub(super) fn is_busy(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Waits for the oldest batch.
    pub(super) fn take(&mut self) -> Vec<ParsedRow> {
        match self.batches.pop_front() {
            // A thread that panicked ends the scope with its panic.
            Some(Batch::Passed(turn)) => self.threads[turn].parsed.recv().unwrap_or_default(),
            Some(Batch::Here(rows)) => rows,
            None => Vec::new(),
        }
    }
}

impl ParserThread {
    /// Returns `None` if the system has no further thread.
    fn start<'scope>(scope: &'scope Scope<'scope, '_>) -> Option<ParserThread> {
        let (queue, batches) = mpsc::sync_channel::<RowBatch>(MAX_WAITING);
        let (done, parsed) = mpsc::sync_channel(MAX_WAITING);
        let work = move || {
            // Ends when the rows were read, or when they are not taken any more.
            while let Ok(batch) = batches.recv() {
                if done.send(batch.parse()).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("row-parser".to_owned()).spawn_scoped(scope, work).ok()?;
        Some(ParserThread { queue, parsed })
    }
}

/// The thread that reads the database has a core of its own.
fn thread_count() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).saturating_sub(1).clamp(1, MAX_THREADS)
}
