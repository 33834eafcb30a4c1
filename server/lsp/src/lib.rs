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
mod around;
mod background;
mod beside;
mod busy_status;
mod capabilities;
mod documents;
pub mod ext;
mod folders;
mod from_proto;
mod health;
mod indexing;
mod item;
mod lenient_json;
mod locks;
mod log;
mod moment;
mod notifications;
mod ordered;
mod parent;
mod parsed;
mod places;
mod progress;
mod real_path;
mod recorded;
mod requests;
mod serve;
mod served;
mod server;
mod service;
mod session;
mod settings;
mod settings_files;
mod stdio;
mod suggestions;
mod summaries;
mod surrogates;
mod to_proto;
mod transport;
mod turns;
mod typed;
mod watch_files;

use std::num::NonZeroUsize;

use cache::Cache;
use config::Variables;
use replay::DataFolder;

pub use log::Log;
pub use serve::{End, serve};
pub use served::{EditorEngine, EngineSource, budget, strategy, with_context};
pub use settings_files::{SettingsFiles, read_settings_file, workspace_file};

/// What a server is made of.
pub struct Setup {
    /// The files of settings.
    pub files: SettingsFiles,
    /// The environment, which settings refer to.
    pub variables: Variables,
    /// The engines that settings are turned into.
    pub engines: EngineSource,
    /// Where suites and runs are kept.
    pub data: DataFolder,
    /// Where what was derived from folders is kept for the next start, if anywhere.
    pub cache: Option<Cache>,
    /// Where the server logs, if anywhere.
    pub log: Option<Log>,
}

/// Threads for work behind the scenes: one core stays free for whoever types.
pub fn background_threads() -> NonZeroUsize {
    NonZeroUsize::new(replay::cores() - 1).unwrap_or(NonZeroUsize::MIN)
}
