//! The language server: inline completion, and cases recorded at the cursor, replayed and scored in the editor.
//!
//! ```text
//! serve (loop, answers) ─► ordered (state, snapshots) ─┬─► notifications/*  change documents and folders, at once
//!        │                                             └─► requests/*       answer from the snapshot of their arrival
//!    transport (frames)                                        │
//!                                        completion::complete, replay, mining, report
//! ```
//!
//! Responsible for the protocol: message order, exactly one answer per request, cancellation, the editors' rules for rendering.
//! Completions, cases and scores are defined in other crates. Protocol types appear nowhere else.

mod busy_status;
mod capabilities;
mod case_summaries;
mod case_title;
pub mod ext;
mod from_proto;
mod front_door;
mod lenient_json;
mod log;
mod main_loop;
mod notifications;
mod ordered_service;
mod parent_process;
mod progress;
mod register_watchers;
mod request_context;
mod requests;
mod run_blocking;
mod runtime;
mod server;
mod service;
mod session_events;
mod stdio;
mod suite_document;
mod surrogates;
mod text_sync;
mod to_proto;
mod transport;
mod trial_state;

use session::SessionSetup;

pub use log::{LogSettings, start_logging};
pub use main_loop::{ExitReason, serve, serve_streams};
pub use recording::ClockKind;

/// The parts a server is built from.
pub struct ServerSetup {
    /// The parts of the session.
    pub session: SessionSetup,
    /// Log file; `None` disables logging.
    pub log: Option<LogSettings>,
    /// The clock of live trials.
    pub clock: ClockKind,
}
