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
mod server;
mod service;
mod session;
mod settings;
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
use std::path::Path;
use std::sync::Arc;

use cache::Cache;
use config::{Config, Files, Problem, Variables};
use replay::{ConfiguredEngine, DataFolder};

pub use log::Log;
pub use serve::{End, serve};

/// What a server is made of.
pub struct Setup {
    /// What is set, and the engines that it comes to.
    pub settings: Arc<dyn Settings>,
    /// Where suites and runs are kept.
    pub data: DataFolder,
    /// Where what was derived from folders is kept for the next start, if anywhere.
    pub cache: Option<Cache>,
    /// Where the server logs, if anywhere.
    pub log: Option<Log>,
}

/// What the server leaves to whoever starts it: where settings are, and what engines are made of.
pub trait Settings: Send + Sync {
    /// What the files hold now for the folder at `root`, if for any. Waits for the disk.
    fn read(&self, root: Option<&Path>) -> Files;

    /// The environment.
    fn variables(&self) -> &Variables;

    /// The engines for these settings. An engine that is as it was before is the same one. May wait for the disk.
    fn engines(&self, config: &Config) -> Served;
}

/// The engines that some settings come to.
#[derive(Clone)]
pub struct Served {
    /// Those that can be asked: the first one writes the ghost text where the settings name none, all are replayed. At least one.
    pub engines: Vec<EditorEngine>,
    /// The others.
    pub not_asked: Vec<NotAsked>,
    /// What is wrong with engines beyond what is wrong with the settings.
    pub problems: Vec<Problem>,
}

/// An engine that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAsked {
    /// The user's name for it.
    pub name: String,
    /// Its kind, as far as it is known.
    pub kind: String,
    /// Why.
    pub reason: String,
}

/// An engine under the settings of each of its uses.
#[derive(Clone)]
pub struct EditorEngine {
    /// While somebody types.
    pub automatic: ConfiguredEngine,
    /// When somebody asks for a suggestion by hand: less shy.
    pub invoked: ConfiguredEngine,
    /// When recorded cases are asked again: nothing is kept back.
    pub replayed: ConfiguredEngine,
}

/// Threads for work behind the scenes: one core stays free for whoever types.
pub fn background_threads() -> NonZeroUsize {
    NonZeroUsize::new(replay::cores() - 1).unwrap_or(NonZeroUsize::MIN)
}

impl EditorEngine {
    /// The user's name for it.
    fn name(&self) -> &str {
        &self.automatic.engine.description().name
    }

    /// Whether it reads the workspace's tokens in any of its uses.
    fn reads_tokens(&self) -> bool {
        [&self.automatic, &self.invoked, &self.replayed].iter().any(|asked| asked.engine.reads_workspace())
    }

    /// The engine in each of its uses.
    fn uses(&mut self) -> [&mut ConfiguredEngine; 3] {
        [&mut self.automatic, &mut self.invoked, &mut self.replayed]
    }
}
