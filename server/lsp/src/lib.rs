//! The language server: ghost text in order and on time; cases recorded at the cursor, replayed and scored in the editor.
//!
//! ```text
//! serve (loop, answers) ─► ordered (state, moments) ─┬─► notifications/*  change documents and folders, at once
//!        │                                           └─► requests/*       answer from the moment of their arrival
//!    transport (frames)                                      │
//!                                      completion::complete, replay, mining, report
//! ```
//!
//! Responsible for the protocol: order, exactly one answer per request, cancellation, the editors' rules for drawing. What a
//! completion is, what a case is and what a score is, other crates decide. Types of the protocol appear nowhere else.

mod admission;
mod background_pool;
mod busy_status;
mod capabilities;
mod case_summaries;
mod document_session;
mod documents;
mod editor_context;
mod engine_health;
pub mod ext;
mod from_proto;
mod indexing;
mod inline_item;
mod latest_request;
mod lazy_real_path;
mod lenient_json;
mod locks;
mod log;
mod main_loop;
mod notifications;
mod ordered_service;
mod parent_process;
mod progress;
mod recorded_cases;
mod register_watchers;
mod request_snapshot;
mod requests;
mod run_blocking;
mod served;
mod server;
mod service;
mod settings;
mod settings_files;
mod stdio;
mod suggestions;
mod surrogates;
mod syntax_cache;
mod to_proto;
mod tracked_ranges;
mod transport;
mod typed_ranges;
mod workspace_folders;

use std::num::NonZeroUsize;

use cache::Cache;
use config::Environment;
use replay::DataFolder;

pub use log::LogSettings;
pub use main_loop::{ExitReason, serve};
pub use served::{EditorEngine, EngineSource, budget, strategy, with_context};
pub use settings_files::{SettingsFiles, read_settings_file, workspace_file};

/// What a server is made of.
pub struct ServerSetup {
    /// The files of settings.
    pub files: SettingsFiles,
    /// The environment, which settings refer to.
    pub variables: Environment,
    /// The engines that settings are turned into.
    pub engines: EngineSource,
    /// Where suites and runs are kept.
    pub data: DataFolder,
    /// Where what was derived from folders is kept for the next start, if anywhere.
    pub cache: Option<Cache>,
    /// Where the server logs, if anywhere.
    pub log: Option<LogSettings>,
}

/// Threads for work behind the scenes: one core stays free for whoever types.
pub fn background_threads() -> NonZeroUsize {
    NonZeroUsize::new(replay::cores() - 1).unwrap_or(NonZeroUsize::MIN)
}
