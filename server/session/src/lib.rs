//! Editor sessions, without any protocol: open documents, suggestions, the workspace folders and their index.
//!
//! ```text
//! edits ──► Documents ──► EditLog of each document ──► tracked ranges, typed ranges, latest request, answer in flight
//!               └──► RequestSnapshot: all documents at one moment
//! ```
//!
//! Responsible for the state that an editor and we share. It must never name a type of the language server protocol, and no lock is
//! held across an await.

mod document_session;
mod documents;
mod indexer;
mod latest_request;
mod lazy_real_path;
mod locks;
mod open_document;
mod request_snapshot;
mod suggestions;
mod syntax_cache;
mod tracked_ranges;
mod typed_ranges;

pub use document_session::DocumentSession;
pub use documents::{Documents, NewDocument, SyncOutcome};
pub use indexer::{Indexer, LoadedCorpus, OpenStats, save_corpus};
pub use lazy_real_path::LazyRealPath;
pub use locks::lock;
pub use open_document::OpenDocument;
pub use request_snapshot::RequestSnapshot;
pub use suggestions::Suggestions;
pub use tracked_ranges::{CaseLocation, CaseMatch, TrackedRanges};
pub use typed_ranges::MAX_PIECES;
