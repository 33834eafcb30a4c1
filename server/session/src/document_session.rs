//! State of an open document that outlives its revisions.
//!
//! Shared by the owner of the documents and the request tasks. No lock is held across an await. The owner holds its locks only
//! for a lookup or a small change. Data derived from the text is computed under its lock on a blocking thread, so that other
//! requests for it wait and find it done.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use completion::{CompletionSession, GatherPermit};
use index::FileIndex;
use syntax::SyntaxCache;
use text::{Document as Rope, Revision};
use tokio_util::sync::CancellationToken;
use workspace::Admission;

use crate::fast_disk_check::FastDiskCheck;
use crate::last_request::{EditorRequestRecord, EngineRequestRecord, LastRequests};
use crate::latest_request::LatestRequest;
use crate::lazy_real_path::LazyRealPath;
use crate::locks::lock;
use crate::tracked_ranges::TrackedRanges;
use crate::typed_ranges::TypedRanges;

/// Session of one document from its opening to its closing.
pub struct DocumentSession {
    /// The request that may currently answer.
    latest_request: Mutex<LatestRequest>,
    /// Answer cache and running generation.
    pub completions: CompletionSession,
    /// Permit to gather context: one request at a time.
    pub gather_permit: GatherPermit,
    /// Syntax of the text, computed on first use.
    pub syntax: SyntaxCache,
    /// Index of the document, for searches from other documents.
    pub(crate) file_index: Mutex<Option<Arc<FileIndex>>>,
    /// The edits and the ranges that follow them.
    tracked_ranges: Mutex<TrackedRanges>,
    /// Whether the walk of a folder admits the file, by folder root and the file's name in it. Check that an entry is current
    /// before using it.
    pub(crate) admissions: Mutex<HashMap<(PathBuf, String), Arc<Admission>>>,
    /// The last requests, for the developer to see.
    last_requests: Mutex<LastRequests>,
    /// The disk of the file.
    pub(crate) fast_disk_check: FastDiskCheck,
    /// The file without links.
    pub(crate) real_path: LazyRealPath,
}

impl DocumentSession {
    /// Creates the session of a document that `revision` opened with this text.
    pub(crate) fn new(rope: Rope, revision: u64) -> DocumentSession {
        DocumentSession {
            latest_request: Mutex::new(LatestRequest::new(revision)),
            completions: CompletionSession::new(revision),
            gather_permit: GatherPermit::default(),
            syntax: SyntaxCache::default(),
            file_index: Mutex::default(),
            tracked_ranges: Mutex::new(TrackedRanges::new(rope, revision)),
            admissions: Mutex::default(),
            last_requests: Mutex::default(),
            fast_disk_check: FastDiskCheck::default(),
            real_path: LazyRealPath::default(),
        }
    }

    /// Logs a revision, after which the text is `rope`. Everything that follows the edits reads them from the log.
    pub(crate) fn push(&self, revision: Revision, rope: &Rope, typed: &mut TypedRanges) {
        let mut tracked = self.tracked_ranges();
        tracked.push(revision, rope);
        lock(&self.latest_request).follow_edits(tracked.log());
        self.completions.follow_edits(tracked.log(), rope);
        typed.follow_edits(tracked.log());
    }

    /// Makes the completion request with number `arrival` the active one, for the cursor at byte `cursor` of the text of
    /// `revision`. The returned token is cancelled when another request or an edit replaces it; `None` if that has already
    /// happened.
    pub fn begin_request(&self, arrival: u64, cursor: usize, revision: u64) -> Option<CancellationToken> {
        lock(&self.latest_request).begin(arrival, cursor, revision)
    }

    /// Returns whether an answer of request `arrival` to the text of `revision` may be shown.
    pub fn may_answer(&self, arrival: u64, revision: u64) -> bool {
        lock(&self.latest_request).may_answer(arrival, revision)
    }

    /// Returns the last requests.
    pub fn last_requests(&self) -> LastRequests {
        lock(&self.last_requests).clone()
    }

    /// Keeps the last request of the editor.
    pub fn record_editor_request(&self, request: EditorRequestRecord) {
        lock(&self.last_requests).editor = Some(Arc::new(request));
    }

    /// Keeps the last request to an engine.
    pub fn record_engine_request(&self, request: EngineRequestRecord) {
        lock(&self.last_requests).engine = Some(Arc::new(request));
    }

    /// Drops the last requests.
    pub fn forget_requests(&self) {
        *lock(&self.last_requests) = LastRequests::default();
    }

    /// Returns the edits and the ranges that follow them. Release the guard before waiting for anything.
    pub fn tracked_ranges(&self) -> MutexGuard<'_, TrackedRanges> {
        lock(&self.tracked_ranges)
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
