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

mod admission;
mod background_pool;
mod busy_status;
mod capabilities;
mod case_summaries;
mod editor_context;
mod editor_engines;
mod engine_health;
pub mod ext;
mod from_proto;
mod indexing;
mod inline_item;
mod lenient_json;
mod log;
mod main_loop;
mod notifications;
mod ordered_service;
mod parent_process;
mod progress;
mod recorded_cases;
mod register_watchers;
mod request_context;
mod requests;
mod run_blocking;
mod server;
mod service;
mod settings;
mod settings_files;
mod stdio;
mod surrogates;
mod text_sync;
mod to_proto;
mod transport;
mod workspace_folders;

use std::num::NonZeroUsize;

use cache::Cache;
use config::Environment;
use replay::DataFolder;

pub use editor_engines::{EditorEngine, EngineSource, with_context};
pub use log::LogSettings;
pub use main_loop::{ExitReason, serve};
pub use settings_files::{SettingsFiles, read_settings_file, workspace_file};

/// The parts a server is built from.
pub struct ServerSetup {
    /// Settings files.
    pub files: SettingsFiles,
    /// Environment variables that settings refer to.
    pub variables: Environment,
    /// Creates engines from settings.
    pub engines: EngineSource,
    /// Folder for suites and runs.
    pub data: DataFolder,
    /// Cache of derived data, for the next start; `None` disables it.
    pub cache: Option<Cache>,
    /// Log file; `None` disables logging.
    pub log: Option<LogSettings>,
}

/// Number of background threads: one fewer than there are cores, at least one.
pub fn background_threads() -> NonZeroUsize {
    NonZeroUsize::new(replay::cores() - 1).unwrap_or(NonZeroUsize::MIN)
}
