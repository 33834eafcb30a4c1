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
mod capabilities;
mod documents;
pub mod ext;
mod folders;
mod from_proto;
mod indexing;
mod item;
mod locks;
mod log;
mod moment;
mod notifications;
mod options;
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
mod stdio;
mod suggestions;
mod summaries;
mod to_proto;
mod transport;
mod turns;
mod watch_files;

use std::num::NonZeroUsize;

use cache::Cache;
use replay::{ConfiguredEngine, DataFolder};

pub use log::Log;
pub use serve::{End, serve};

/// What a server is made of.
pub struct Setup {
    /// The engines; the first one writes the ghost text, all are replayed. At least one.
    pub engines: Vec<EditorEngine>,
    /// Where suites and runs are kept.
    pub data: DataFolder,
    /// Where what was derived from folders is kept for the next start, if anywhere.
    pub cache: Option<Cache>,
    /// Where the server logs, if anywhere.
    pub log: Option<Log>,
}

/// An engine under the settings of each of its uses.
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

impl Setup {
    /// The engine called `name`, or the first one.
    fn engine(&self, name: Option<&str>) -> &EditorEngine {
        let named = name.and_then(|name| self.engines.iter().find(|engine| engine.name() == name));
        named.or(self.engines.first()).expect("a server has an engine")
    }

    /// Whether any engine reads the workspace's tokens.
    fn reads_tokens(&self) -> bool {
        self.engines.iter().any(EditorEngine::reads_tokens)
    }

    /// What the engines are called.
    fn engine_names(&self) -> Vec<String> {
        self.engines.iter().map(|engine| engine.name().to_owned()).collect()
    }
}
