//! The completion pipeline: editor, command line, trial and replay all call [`complete()`].
//!
//! ```text
//! snapshot + offset --gate--> --gather--> request --engine--> pieces --stop--> --clean--> --gate--> outcome
//! ```
//!
//! Responsible for gates, context, the end of reading, and cleaning of the answer. Must not depend on editor protocols or
//! cases. A [`DocumentSnapshot`] holds the open document as displayed and the workspace without that file, so a request cannot reach text
//! that was removed from the document.
//!
//! [`ask()`] puts tasks without a cursor to the same engines.
//!
//! An editor requests a completion at every key. [`CompletionSession`] wraps [`complete()`] for editors: it caches answers, shares the one
//! in flight and debounces. Measurements call [`complete()`] directly.

mod alternatives;
mod answer_cache;
mod ask;
mod clean;
mod complete;
mod completion_session;
mod configured_engine;
mod cursor_snapshot;
mod debounce;
mod explain;
mod extent;
mod gate;
mod gather_permit;
mod in_flight_request;
mod lazy_cleaning_context;
mod path_gate;
mod run_blocking;
mod server_embedder;
mod settings;
mod shared_context;
mod thread_priority;
mod trace;
mod workspace_index;

pub use answer_cache::AnswerCache;
pub use ask::{FunctionRequest, ask};
pub use builtin::{RecentTyping, TypedPassage};
pub use complete::{choose_context_ahead, complete, complete_shared, gathered_context, retrieved_hits};
pub use completion_session::{CompletionRequest, CompletionSession, SuggestionOutcome};
pub use configured_engine::ConfiguredEngine;
pub use cursor_snapshot::{CacheKey, CursorSnapshot};
pub use debounce::{CursorContext, ResponseTime};
pub use explain::{CopiedSpan, CopySource, Explanation};
pub use gate::{Gate, MAX_DOCUMENT_BYTES};
pub use gather_permit::GatherPermit;
pub use in_flight_request::{InFlightRequest, ReuseDecision, reuse_decision};
pub use path_gate::PathGate;
pub use run_blocking::run_blocking;
pub use server_embedder::ServerEmbedder;
pub use settings::CompletionSettings;
pub use shared_context::{ContextShare, SharedContext};
pub use text::Snippet;
pub use thread_priority::{lower_thread_priority, take_short_turns, use_idle_time};
pub use trace::{
    CleanedAlternative, FilterChange, KeptPart, Outcome, OutcomeStatus, RequestSize, TimingSource, Timings,
    Trace,
};
pub use workspace_index::{DocumentSnapshot, DocumentText, EditorContext, WorkspaceIndex};
