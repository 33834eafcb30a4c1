//! Engines: anything that completes code, behind one trait.
//!
//! An engine is told the text around a hole and answers with text, piece by piece, until it is done, told to stop, or cancelled.
//! It never sees the document, the workspace or the case: what it may know stands in the [`Request`]. This crate owns every socket and
//! child process of Ghostbench: the embedded engine, models behind HTTP and in files, any program, other language servers, a scripted
//! engine for tests, and embeddings of servers; and the cassettes that stand in for them. The
//! [`Registry`] turns settings into engines.

mod builtin_engine;
mod busy;
mod cassette;
pub mod check;
mod child;
mod command_engine;
mod embeddings;
mod formats;
mod http;
mod http_engine;
mod llama_server;
mod lsp_engine;
mod registry;
mod renamed;
mod scripted;

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use builtin_engine::BuiltinEngine;
pub use busy::Busy;
pub use cassette::{AnswersError, Cassette, CassetteError, Made, Miss, Prompts, Tally, taped};
pub use child::{Program, ProgramFault};
pub use command_engine::{CommandEngine, CommandSettings};
pub use config::Kind;
pub use embeddings::{EmbeddingError, EmbeddingServer, HttpEmbedder};
pub use formats::{Metadata, Sampling};
pub use http::{Fault, Limits, Proxy, Server, Stage};
pub use http_engine::{Fim, HttpEngine, HttpSettings, SetupError, Way};
pub use llama_server::{LLAMA_SERVER, LlamaServerEngine, LlamaServerError, LlamaServerSettings};
pub use lsp_engine::{LspEngine, LspSettings};
pub use prompt::estimate as estimate_tokens;
pub use registry::{
    DEFAULT_ENGINE, HASH_KEY, HashKey, RegisteredEngine, Registry, RegistryOptions, Role, Selection,
    SelectionError, check_named_once, http_engine, is_hashed,
};
pub use renamed::renamed;
pub use scripted::{Rule, Script, ScriptedEngine};

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
    /// Whether the answer is to say where it comes from, as far as the engine knows.
    pub explain: bool,
    /// When nobody wants the answer any more. Whoever asks keeps this deadline, by dropping the answer's future; an engine only judges
    /// by it what is still worth beginning.
    pub deadline: Option<Instant>,
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
    /// How likely it is right, where the engine knows: 0 to 1.
    pub confidence: Option<f64>,
    /// Tokens read and written, where the engine counts them.
    pub usage: Option<Usage>,
    /// Where the engine says its time went.
    pub timings: Option<ServerTimings>,
    /// How often it was asked before it gave this answer: it was loading, busy, or wanted the question in another form.
    pub refusals: u32,
    /// Why the engine had nothing to say, where it knows.
    pub silence: Option<&'static str>,
    /// Where it comes from, if that was asked for and the engine knows.
    pub explanation: Option<Explanation>,
    /// What else the engine would write, best first, if a person asked by key: what it has streamed it prefers to these.
    pub alternatives: Vec<Alternative>,
}

/// A text that an engine would write if what it streamed is not wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alternative {
    /// The text.
    pub text: String,
    /// The lowest probability of any token, where the engine knows it: 0 to 1.
    pub confidence: Option<f64>,
    /// Where it comes from, if that was asked for and the engine knows.
    pub explanation: Option<Explanation>,
}

impl Answer {
    /// An answer that ended so, of which nothing else is known.
    pub fn ended(finish: Finish) -> Answer {
        Answer {
            finish,
            confidence: None,
            usage: None,
            timings: None,
            refusals: 0,
            silence: None,
            explanation: None,
            alternatives: Vec::new(),
        }
    }
}

/// Why an answer is what it is, by an engine that copies from code it was shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Its tokens in order.
    pub tokens: Vec<ExplainedToken>,
    /// Why it ends where it does, or is empty.
    pub ending: &'static str,
    /// What else decided, by name.
    pub figures: Vec<(&'static str, f64)>,
}

/// A token of an answer with the place that it is taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedToken {
    /// Where it stands in the answer, in bytes, with the blanks before it.
    pub range: Range<usize>,
    /// The whole token, which the answer may only end; empty for a newline.
    pub text: String,
    /// How likely it was.
    pub probability: f64,
    /// Where it stands already. A [`builtin::Source::Hint`] counts in [`Request::context`].
    pub origin: builtin::Origin,
}

/// Where an engine's time went, by its own measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerTimings {
    /// Loading the model.
    pub load: Option<Duration>,
    /// Reading the question.
    pub prompt: Option<Duration>,
    /// Writing the answer.
    pub generation: Option<Duration>,
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
    /// The server behind it gave no answer.
    #[error("engine `{engine}`: {fault}")]
    Server {
        /// Its name.
        engine: String,
        /// The cause, with its remedy.
        fault: Fault,
    },
    /// The program behind it gave no answer.
    #[error("engine `{engine}`: {fault}")]
    Program {
        /// Its name.
        engine: String,
        /// The cause, with its remedy.
        fault: ProgramFault,
    },
    /// Nobody knows how its model wants to be asked.
    #[error(
        "engine `{engine}`: no template is known for {model}, and the server makes no prompt itself; name one in `fim`"
    )]
    NoTemplate {
        /// Its name.
        engine: String,
        /// What is known of its model.
        model: String,
    },
    /// There is no room for a prompt.
    #[error("engine `{engine}`: {reason}")]
    Prompt {
        /// Its name.
        engine: String,
        /// How much is missing.
        reason: prompt::NoRoom,
    },
    /// It may not be asked, and its answer is not recorded.
    #[error("engine `{engine}`: {miss}")]
    NotRecorded {
        /// Its name.
        engine: String,
        /// What is missing, with the remedy.
        miss: Miss,
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

impl Error {
    /// A word for the cause, the same for all messages about it: whoever tells users says each once.
    pub fn cause(&self) -> &'static str {
        match self {
            Error::Cancelled => "cancelled",
            Error::NeedsWorkspace { .. } => "needs_workspace",
            Error::Server { fault, .. } => fault.cause(),
            Error::Program { fault, .. } => fault.cause(),
            Error::NoTemplate { .. } => "no_template",
            Error::Prompt { .. } => "no_room",
            Error::NotRecorded { .. } => "not_recorded",
            Error::Failed { .. } => "failed",
        }
    }
}

/// Hears an answer as it comes. A closure that takes text is one.
pub trait Listener: Send {
    /// The prompt that the model reads, as it was rendered for it, before any text; again where the question was asked in another form.
    /// It is heard here and not in the answer, so that it is known of questions without one.
    fn prompt(&mut self, prompt: &str) {
        let _ = prompt;
    }

    /// What the model says, word for word, before anything is read out of it: for who judges models. `Break` as for text. Engines that
    /// give text as it comes say nothing here.
    fn said(&mut self, piece: &str) -> ControlFlow<()> {
        let _ = piece;
        ControlFlow::Continue(())
    }

    /// What comes now is replayed from a cassette: it came so long after the question when it was recorded. `None` where nobody knows.
    fn recorded(&mut self, after: Option<Duration>) {
        let _ = after;
    }

    /// The next piece of text; `Break` means that the reader needs no more.
    fn text(&mut self, piece: &str) -> ControlFlow<()>;
}

impl<F: FnMut(&str) -> ControlFlow<()> + Send> Listener for F {
    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        self(piece)
    }
}

/// Whoever hears an answer.
pub type Sink<'a> = &'a mut dyn Listener;

/// What an engine says of itself, now: for people who want to know whom they ask.
#[derive(Clone, Debug, Default)]
pub struct Introduction {
    /// What it tells of its model.
    pub metadata: Metadata,
    /// How the model is asked; `None` for engines that ask none, or know no way.
    pub way: Option<Way>,
    /// On how many questions it is working, where it tells.
    pub busy: Option<u64>,
    /// The server behind it, for who wants to ask it in another way.
    pub server: Option<HttpSettings>,
}

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

    /// Whether it may have a choice of texts for a person who asks by key. Others are not asked again for what is known.
    fn has_alternatives(&self) -> bool {
        false
    }

    /// Answers one request.
    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>>;

    /// Says who it is, as far as it can. An error is that nobody is there.
    fn introduce(&self) -> BoxFuture<'_, Result<Introduction, Error>> {
        Box::pin(std::future::ready(Ok(Introduction::default())))
    }
}
