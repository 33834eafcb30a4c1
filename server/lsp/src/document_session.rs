//! State of an open document that outlives its versions.
//!
//! Shared by the ordering layer and the request tasks. No lock is held across an await. The ordering layer holds its locks
//! (turns, live, places) only for a lookup or a small change. Data derived from the text is computed under its lock on a blocking
//! thread, so that other requests for it wait and find it done.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use completion::{CompletionSession, GatherPermit};
use index::FileIndex;
use text::{Document as Rope, Edit};
use workspace::Admission;

use crate::latest_request::LatestRequest;
use crate::lazy_real_path::LazyRealPath;
use crate::locks::lock;
use crate::syntax_cache::SyntaxCache;
use crate::tracked_ranges::TrackedRanges;

/// Session of one document from `didOpen` to `didClose`.
pub(crate) struct DocumentSession {
    /// The request that may currently answer.
    pub(crate) latest_request: Mutex<LatestRequest>,
    /// Answer cache and running generation.
    pub(crate) completions: CompletionSession,
    /// Permit to gather context: one request at a time.
    pub(crate) gather_permit: GatherPermit,
    /// Syntax tree.
    pub(crate) syntax: Mutex<SyntaxCache>,
    /// Index of the document, for searches from other documents.
    pub(crate) file_index: Mutex<Option<Arc<FileIndex>>>,
    /// Ranges of recorded cases and of suggestions.
    pub(crate) tracked_ranges: Mutex<TrackedRanges>,
    /// Whether the walk of a folder admits the file, by folder root and the file's name in it. Check that an entry is current
    /// before using it.
    pub(crate) admissions: Mutex<HashMap<(PathBuf, String), Admission>>,
    /// The file without links.
    pub(crate) real_path: LazyRealPath,
}

impl DocumentSession {
    /// Creates the session of a document that message `revision` opened with this text.
    pub(crate) fn new(rope: Rope, revision: u64) -> DocumentSession {
        DocumentSession {
            latest_request: Mutex::new(LatestRequest::new(revision)),
            completions: CompletionSession::new(revision),
            gather_permit: GatherPermit::default(),
            syntax: Mutex::default(),
            file_index: Mutex::default(),
            tracked_ranges: Mutex::new(TrackedRanges::new(rope, revision)),
            admissions: Mutex::default(),
            real_path: LazyRealPath::default(),
        }
    }

    /// Applies the edits of message `revision`, after which the text is `rope`.
    pub(crate) fn apply_edits(&self, edits: &[Edit], rope: &Rope, revision: u64) {
        lock(&self.latest_request).apply_edits(edits, revision);
        self.completions.apply_edits(edits, rope, revision);
        lock(&self.tracked_ranges).apply_edits(edits, rope, revision);
    }

    /// Cancels everything that is being computed for the current text.
    pub(crate) fn cancel_requests(&self) {
        lock(&self.latest_request).cancel();
        self.completions.cancel();
    }

    /// Cancels everything that is being computed, and accepts no further requests.
    pub(crate) fn close(&self) {
        lock(&self.latest_request).close();
        self.completions.cancel();
    }
}
