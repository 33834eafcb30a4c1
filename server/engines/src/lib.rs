//! Engines: everything that completes code, behind one trait.
//!
//! An engine gets the text around the cursor and streams an answer until it is done, stopped or cancelled. It never sees the
//! document, the workspace or the case: everything it may know is in the [`Request`]. This crate owns every socket and child
//! process of Ghostbench: the embedded engine, HTTP servers, GGUF models, external programs, language servers, a scripted
//! engine for tests, and embedding servers; and the cassettes that replace them. The
//! [`Registry`] turns settings into engines.

mod builtin_engine;
mod busy_counter;
mod cassette;
pub mod check;
mod child_process;
mod command_engine;
mod embeddings;
mod engine_wrapper;
mod function_task;
mod http;
mod http_engine;
mod llama_server;
mod lsp_engine;
pub mod lsp_frames;
mod registry;
mod renamed_engine;
mod scripted_engine;
mod telemetry_collector;
mod wire_formats;

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::time::Duration;

use builtin::RecentTyping;
use futures_util::future::BoxFuture;
use text::Edit;
use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use builtin_engine::BuiltinEngine;
pub use busy_counter::BusyCounter;
pub use cassette::{
    AnswersError, AnswersFile, Cassette, CassetteError, CassetteMiss, CassetteStats, ImportSummary, recorded,
};
pub use child_process::{Program, ProgramError};
pub use command_engine::{CommandEngine, CommandSettings};
pub use config::EngineKind;
pub use embeddings::{EmbeddingServer, EmbeddingServerError, HttpEmbedder};
pub use engine_wrapper::EngineWrapper;
pub use function_task::{FunctionSearch, FunctionTask, TaskForm};
pub use http::{
    HttpLimits, HttpServerConfig, PassThrough, PassedRequest, PassedResponse, Proxy, ServerError,
    TimeoutStage, exponential_backoff, retry_after,
};
pub use http_engine::{
    FUNCTION_TOKENS, FimSetting, HttpEngine, HttpSettings, PROMPT_TOKENS, PromptMode, SetupError,
};
pub use llama_server::{LLAMA_SERVER, LlamaServerEngine, LlamaServerError, LlamaServerSettings};
pub use lsp_engine::{LspEngine, LspSettings};
pub use prompt::template_check::{Symptom, symptoms_of};
pub use prompt::{PromptInput, estimate as estimate_tokens};
pub use registry::{
    DEFAULT_ENGINE, EngineSelection, HASH_KEY, HashKey, RegisteredEngine, Registry, RegistryOptions, Role,
    SelectionError, TokenPrice, check_named_once, http_engine, is_hashed, pass_through,
};
pub use renamed_engine::with_name;
pub use scripted_engine::{Script, ScriptedEngine, ScriptedReply};
pub use telemetry_collector::TelemetryCollector;
pub use wire_formats::{Sampling, ServerMetadata};

/// An engine's name, and everything about it that can change its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineDescription {
    /// User-defined name.
    pub name: String,
    /// Its kind.
    pub kind: EngineKind,
    /// Its model.
    pub model: String,
    /// Settings that change answers, by name; without addresses and keys.
    pub settings: BTreeMap<String, String>,
}

/// A completion request: the one form from the pipeline to an engine. Engines behind HTTP turn it into the body that they send.
#[derive(Clone, Debug)]
pub struct Request {
    /// The document with its cursor, and context from other files.
    pub input: PromptInput,
    /// Code that was typed or accepted recently, here and in other files.
    pub recent_edits: RecentTyping,
    /// The workspace's tokens without the edited file, for engines that read the workspace.
    pub corpus: Option<builtin::MaskedCorpus>,
    /// Whether the completion was explicitly invoked. Then an uncertain answer is better than none; while typing it is worse.
    pub invoked: bool,
    /// Whether the answer should explain its origin, as far as the engine can.
    pub explain: bool,
    /// Deadline of the answer. The caller enforces it by dropping the answer's future; an engine only uses it to decide which
    /// steps are still worth starting.
    pub deadline: Option<Instant>,
    /// A task without a cursor; `input` is then the code to continue, for engines that only complete.
    pub function: Option<FunctionTask>,
}

impl Request {
    /// Returns an automatic request with this input and nothing else.
    pub fn new(input: PromptInput) -> Request {
        Request {
            input,
            recent_edits: RecentTyping::default(),
            corpus: None,
            invoked: false,
            explain: false,
            deadline: None,
            function: None,
        }
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The engine ended it.
    Stop,
    /// It reached the token limit.
    Length,
    /// The listener needed no more.
    Complete,
}

/// Result of an engine besides the streamed text.
///
/// An engine proposes a list of text edits. The first one is in nearly all answers the only one: the streamed text, inserted at
/// the cursor. The others are in `edits`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Edits of the document besides the insertion at the cursor, in bytes of the request's text. They belong together: applying
    /// a part of them would break the code.
    pub edits: Vec<Edit>,
    /// Why it ended.
    pub finish: FinishReason,
    /// Confidence from 0 to 1, if the engine reports it.
    pub confidence: Option<f64>,
    /// Token counts, if the engine reports them.
    pub usage: Option<Usage>,
    /// Time measurements, if the engine reports them.
    pub timings: Option<ServerTimings>,
    /// Number of failed attempts before this answer: the engine was loading or busy, or required another form of the request.
    pub refusals: u32,
    /// Why the answer is empty, if the engine reports it.
    pub silence: Option<&'static str>,
    /// Origin of the answer, if requested and supported.
    pub explanation: Option<TokenExplanation>,
    /// Alternatives, best first, on explicit invocation; the streamed text ranks above them.
    pub alternatives: Vec<Alternative>,
}

/// An alternative to the streamed text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alternative {
    /// The text.
    pub text: String,
    /// Lowest probability of any token, from 0 to 1, if the engine reports it.
    pub confidence: Option<f64>,
    /// Its origin, if requested and supported.
    pub explanation: Option<TokenExplanation>,
}

impl Answer {
    /// An answer with this finish reason and nothing else.
    pub fn with_finish(finish: FinishReason) -> Answer {
        Answer {
            edits: Vec::new(),
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

/// Explanation of an answer by an engine that copies from code in its input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenExplanation {
    /// Its tokens in order.
    pub tokens: Vec<ExplainedToken>,
    /// Why it ends at this point, or is empty.
    pub ending: &'static str,
    /// Other decisive numbers, by name.
    pub figures: Vec<(&'static str, f64)>,
}

/// A token of an answer with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedToken {
    /// Byte range in the answer, with the preceding blanks.
    pub range: Range<usize>,
    /// The whole token, of which the answer may contain only the end; empty for a newline.
    pub text: String,
    /// Its probability.
    pub probability: f64,
    /// Where it is copied from. A [`builtin::TokenSource::Hint`] is an index into [`PromptInput::context`].
    pub origin: builtin::TokenOrigin,
}

/// Time measurements by the engine itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerTimings {
    /// Loading the model.
    pub load: Option<Duration>,
    /// Prompt evaluation.
    pub prompt: Option<Duration>,
    /// Generation.
    pub generation: Option<Duration>,
}

/// Token counts of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that were cached.
    pub cached: Option<u64>,
}

/// Error of an engine.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The request was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The engine needs a workspace, but the request has none.
    #[error("engine `{engine}` reads the workspace, and none was given; pass --workspace DIR")]
    NeedsWorkspace {
        /// Its name.
        engine: String,
    },
    /// The server failed.
    #[error("engine `{engine}`: {fault}")]
    Server {
        /// Its name.
        engine: String,
        /// The cause, with its remedy.
        fault: ServerError,
    },
    /// The program failed.
    #[error("engine `{engine}`: {fault}")]
    Program {
        /// Its name.
        engine: String,
        /// The cause, with its remedy.
        fault: ProgramError,
    },
    /// No prompt template is known for the model.
    #[error(
        "engine `{engine}`: no template is known for {model}, and the server makes no prompt itself; name one in `fim`"
    )]
    NoTemplate {
        /// Its name.
        engine: String,
        /// Known names of the model.
        model: String,
    },
    /// The prompt doesn't fit.
    #[error("engine `{engine}`: {reason}")]
    Prompt {
        /// Its name.
        engine: String,
        /// Missing space.
        reason: prompt::PromptTooLong,
    },
    /// A task without a cursor, which must not be cut, doesn't fit.
    #[error(
        "engine `{engine}`: the task has about {needed} tokens, but the model's context window has {window}; import smaller contexts \
         (--context-tokens), or raise `context_window`"
    )]
    TaskTooLong {
        /// Its name.
        engine: String,
        /// Estimated tokens of the prompt.
        needed: u64,
        /// Tokens of the window.
        window: u64,
    },
    /// Offline, and the answer is not recorded.
    #[error("engine `{engine}`: {miss}")]
    NotRecorded {
        /// Its name.
        engine: String,
        /// The missing recording, with a remedy.
        miss: CassetteMiss,
    },
    /// The engine panicked.
    #[error("engine `{engine}` failed: {message}")]
    Failed {
        /// Its name.
        engine: String,
        /// The error, without code from the document.
        message: String,
    },
}

impl EngineError {
    /// Identifier of the cause, the same for all its messages, so that each cause is reported once.
    pub fn cause(&self) -> &'static str {
        match self {
            EngineError::Cancelled => "cancelled",
            EngineError::NeedsWorkspace { .. } => "needs_workspace",
            EngineError::Server { fault, .. } => fault.cause(),
            EngineError::Program { fault, .. } => fault.cause(),
            EngineError::NoTemplate { .. } => "no_template",
            EngineError::Prompt { .. } => "no_room",
            EngineError::TaskTooLong { .. } => "task_too_long",
            EngineError::NotRecorded { .. } => "not_recorded",
            EngineError::Failed { .. } => "failed",
        }
    }
}

/// Receives an answer while it is streamed. Implemented for closures that take text.
pub trait AnswerListener: Send {
    /// Receives the rendered prompt before any text; called again if the request was repeated in another form. It is reported
    /// here and not in the answer, so that it is known for failed requests too.
    fn prompt(&mut self, prompt: &str) {
        let _ = prompt;
    }

    /// Receives the model's raw text before it is parsed, for judging models. `Break` as for text. Engines without a parser
    /// don't call this.
    fn raw_text(&mut self, piece: &str) -> ControlFlow<()> {
        let _ = piece;
        ControlFlow::Continue(())
    }

    /// Marks the following pieces as replayed from a cassette; they were recorded this long after the request. `None` if
    /// unknown.
    fn replayed(&mut self, after: Option<Duration>) {
        let _ = after;
    }

    /// Receives the next piece of text; `Break` stops the engine.
    fn text(&mut self, piece: &str) -> ControlFlow<()>;
}

impl<F: FnMut(&str) -> ControlFlow<()> + Send> AnswerListener for F {
    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        self(piece)
    }
}

/// Information about an engine, for people.
#[derive(Clone, Debug, Default)]
pub struct EngineInfo {
    /// The model's metadata.
    pub metadata: ServerMetadata,
    /// Prompt mode; `None` for engines without one, or if none is known.
    pub prompt_mode: Option<PromptMode>,
    /// Number of requests in progress, if reported.
    pub busy: Option<u64>,
    /// The server, to test other prompt forms.
    pub server: Option<HttpSettings>,
}

/// An engine that completes code.
///
/// `complete` streams text into the sink and returns when the text is complete. Dropping the future and cancelling the token
/// both free the engine.
pub trait Engine: Send + Sync {
    /// Returns its description.
    fn description(&self) -> &EngineDescription;

    /// Whether it needs [`Request::corpus`].
    fn reads_workspace(&self) -> bool;

    /// Whether to retrieve workspace code for [`PromptInput::context`] if the request has none.
    fn reads_context(&self) -> bool;

    /// Whether it may return alternatives on explicit invocation. Other engines aren't queried again for a cached answer.
    fn has_alternatives(&self) -> bool {
        false
    }

    /// Returns how it takes a task without a cursor.
    fn task_form(&self, task: &FunctionTask) -> TaskForm {
        let _ = task;
        TaskForm::FillIn
    }

    /// Answers one request.
    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>>;

    /// Returns the number of tokens of a text in the model's own tokenizer; `None` if the engine has none that answers.
    fn count_tokens<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Option<usize>> {
        let _ = text;
        Box::pin(std::future::ready(None))
    }

    /// Returns information about the engine, as far as available. An error means that it is unreachable.
    fn probe(&self) -> BoxFuture<'_, Result<EngineInfo, EngineError>> {
        Box::pin(std::future::ready(Ok(EngineInfo::default())))
    }
}
