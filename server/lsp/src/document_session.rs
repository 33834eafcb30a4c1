//! What is kept for an open document across its versions.
//!
//! Shared by the ordering layer and the tasks of requests. No lock is held across an await. Those that the ordering layer takes
//! (turns, live, places) are held for a look or a small change. What is derived from the text is derived under its lock, beside the
//! threads that answer, so that who wants the same waits and finds it done.

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

/// One document's life from `didOpen` to `didClose`.
pub(crate) struct DocumentSession {
    /// Who may answer.
    pub(crate) latest_request: Mutex<LatestRequest>,
    /// What was suggested lately, and what is being written.
    pub(crate) completions: CompletionSession,
    /// The one question that gathers context.
    pub(crate) gather_permit: GatherPermit,
    /// The syntax tree.
    pub(crate) syntax: Mutex<SyntaxCache>,
    /// What it holds, for who searches the other documents.
    pub(crate) file_index: Mutex<Option<Arc<FileIndex>>>,
    /// Where cases were recorded, and what was suggested.
    pub(crate) tracked_ranges: Mutex<TrackedRanges>,
    /// What the walk of a folder makes of the file, by the folder's root and the file's name in there; to be asked whether that is
    /// current.
    pub(crate) admissions: Mutex<HashMap<(PathBuf, String), Admission>>,
    /// Which file it is.
    pub(crate) real_path: LazyRealPath,
}

impl DocumentSession {
    /// Of a document that was opened with this text by the message numbered `revision`.
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

    /// Lets everything follow the edits of message `revision`, after which the text is `rope`.
    pub(crate) fn apply_edits(&self, edits: &[Edit], rope: &Rope, revision: u64) {
        lock(&self.latest_request).apply_edits(edits, revision);
        self.completions.apply_edits(edits, rope, revision);
        lock(&self.tracked_ranges).apply_edits(edits, rope, revision);
    }

    /// Ends what is being computed for the text as it was.
    pub(crate) fn cancel_requests(&self) {
        lock(&self.latest_request).cancel();
        self.completions.cancel();
    }

    /// Ends what is being computed, for good.
    pub(crate) fn close(&self) {
        lock(&self.latest_request).close();
        self.completions.cancel();
    }
}
