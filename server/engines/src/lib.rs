//! Engines: anything that completes code, behind one trait.
//!
//! An engine is told the text around a hole and answers with text, piece by piece, until it is done, told to stop, or cancelled.
//! It never sees the document, the workspace or the case: what it may know stands in the [`Request`]. This crate owns every socket and
//! child process of Ghostbench; today it holds the embedded engine, a scripted one for tests, and embeddings of servers.

mod builtin_engine;
mod busy;
mod embeddings;
mod renamed;
mod scripted;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

pub use builtin_engine::BuiltinEngine;
pub use busy::Busy;
pub use embeddings::{EmbeddingError, EmbeddingServer, HttpEmbedder, Key};
pub use renamed::renamed;
pub use scripted::{Rule, Script, ScriptedEngine};

/// What kind of engine it is; decides how it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The embedded model over the workspace's own tokens.
    Builtin,
    /// A fixed answer, for tests.
    Scripted,
}

impl Kind {
    /// The word for this kind in files and in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Builtin => "builtin",
            Kind::Scripted => "scripted",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Who an engine is, and everything about it that can change its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The user's name for it.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The model it runs.
    pub model: String,
    /// Settings that change answers, by name; no addresses, no keys.
    pub settings: BTreeMap<String, String>,
}

/// A piece of code from elsewhere that goes with the question.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextItem {
    /// File it comes from, relative to the workspace root.
    pub path: String,
    /// The code.
    pub text: String,
}

/// What an engine is asked.
pub struct Request {
    /// File being edited, relative to the workspace root.
    pub path: Arc<str>,
    /// Language, as `syntax` names it.
    pub language: &'static str,
    /// The document; in a replay, the text before the hole and the text after it.
    pub text: Arc<str>,
    /// Where the cursor is, in bytes of the text, between two characters.
    pub cursor: usize,
    /// Code from elsewhere, nearest first.
    pub context: Vec<ContextItem>,
    /// The workspace's tokens without the file being edited, for engines that read the workspace.
    pub corpus: Option<builtin::MaskedCorpus>,
    /// Whether a person asked by key. Then a doubtful answer is better than none; while somebody only types it is worse.
    pub invoked: bool,
}

impl Request {
    /// Text before the cursor.
    pub fn prefix(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Text after the cursor.
    pub fn suffix(&self) -> &str {
        &self.text[self.cursor..]
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The engine ended it.
    Stop,
    /// It reached the token limit.
    Length,
    /// The reader asked for no more.
    Complete,
}

/// What an engine reports besides the text that it streamed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub finish: Finish,
    /// The lowest probability of any token, where the engine knows it: 0 to 1.
    pub confidence: Option<f64>,
    /// Tokens read and written, where the engine counts them.
    pub usage: Option<Usage>,
    /// Why the engine had nothing to say, where it knows.
    pub silence: Option<&'static str>,
}

/// Token counts of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the question.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens of the question that the engine had cached.
    pub cached: Option<u64>,
}

/// Why an engine gave no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The engine needs a workspace and was given none.
    #[error("engine `{engine}` reads the workspace, and none was given; pass --workspace DIR")]
    NeedsWorkspace {
        /// Its name.
        engine: String,
    },
    /// The engine stopped by a defect of its own.
    #[error("engine `{engine}` failed: {message}")]
    Failed {
        /// Its name.
        engine: String,
        /// What happened, without code from the document.
        message: String,
    },
}

/// Takes each piece of text as it comes; `Break` means that the reader needs no more.
pub type Sink<'a> = &'a mut (dyn FnMut(&str) -> ControlFlow<()> + Send);

/// Anything that completes code.
///
/// `complete` streams text into the sink and returns when the text is complete. Dropping the future and cancelling the token both
/// free the engine.
pub trait Engine: Send + Sync {
    /// Who it is.
    fn description(&self) -> &Description;

    /// Whether it needs [`Request::corpus`].
    fn reads_workspace(&self) -> bool;

    /// Whether code is to be chosen from the workspace for [`Request::context`] where the question brings none.
    fn reads_context(&self) -> bool;

    /// Answers one request.
    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>>;
}
