//! Language servers that complete code, queried as an editor does: any vendor is measured without an adapter.
//!
//! ```text
//! Request --turns--> LanguageServer (started when it is first needed, and again after it ended)
//!                      |  didOpen the context, didOpen the document, ask, didClose
//!                      v
//!                    item --insertion--> text at the cursor
//! ```
//!
//! **What a server sees**: the request only. It runs in its own empty folder, which is also its workspace folder, so that it
//! can't read the file that a case was made from. The document is opened under its path in this folder, but isn't on disk;
//! context is opened as further documents. All are closed after the request, so that no request sees another's documents. Only
//! one request runs at a time by default, because a server may read all open documents. A server may still remember closed
//! ones.
//!
//! In editors it is the same, although the server then sees less than it would read from a workspace: measurements match what
//! users get.
//!
//! A dropped request is cancelled, and nothing waits for a server that continues with it. A server that exits or violates the
//! protocol is restarted by the next request, with the backoff of [`RestartBackoff`]. This module must not start processes itself
//! (`child_process` does) and must not choose the displayed text.

mod client_responses;
mod connection;
mod document_locks;
mod documents;
mod handshake;
mod insertion;
mod language_server;
mod message;
mod snippet;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::SecretTable;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::child_process::restart_backoff::RestartBackoff;
use crate::child_process::{Program, ProgramError};
use crate::http::Redactor;
use crate::{
    Alternative, Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineInfo, EngineKind,
    FinishReason, Request, ServerMetadata,
};

use document_locks::DocumentLocks;
use insertion::ItemEdit;
use language_server::{LanguageServer, ServerSuggestions};

/// A configured language server.
#[derive(Clone, Debug)]
pub struct LspSettings {
    /// User-defined name.
    pub name: String,
    /// The program; default working directory: an empty folder.
    pub program: Program,
    /// Name of its model, for the description.
    pub model: Option<String>,
    /// Method of its requests.
    pub request: String,
    /// `initializationOptions`.
    pub options: SecretTable,
    /// Its settings, for `workspace/configuration`.
    pub settings: SecretTable,
    /// Additional fields of every request; they override ours.
    pub extra: Map<String, Value>,
    /// Timeout for its start.
    pub start_timeout: Duration,
    /// Maximum concurrent requests; default: one. Never two for one document.
    pub concurrency: Option<usize>,
}

impl LspSettings {
    /// Secrets in its options and settings.
    fn secrets(&self) -> Redactor {
        let reported = self.options.secrets().iter().chain(self.settings.secrets());
        Redactor::new(None, self.program.env.values().chain(reported), std::iter::empty())
    }

    /// Returns the first line of the server's message, redacted.
    fn quoted(&self, text: &str) -> String {
        self.secrets().quoted(text)
    }

    /// Returns an error reported by the server.
    fn failed(&self, message: &str) -> ProgramError {
        let message = self.secrets().redact(message);
        ProgramError::Failed { program: self.program.name().to_owned(), message }
    }

    /// Returns a constructor of protocol errors.
    fn malformed(&self) -> impl Fn(String) -> ProgramError + Send + use<> {
        let program = self.program.name().to_owned();
        let secrets = self.secrets();
        move |reason| ProgramError::Malformed {
            program: program.clone(),
            expected: "messages of the language server protocol",
            reason: secrets.quoted(&reason),
        }
    }
}

/// An engine that runs a language server.
pub struct LspEngine {
    description: EngineDescription,
    settings: Arc<LspSettings>,
    state: Mutex<EngineState>,
    permits: Semaphore,
    document_locks: DocumentLocks,
}

/// State of the server, from its start.
#[derive(Default)]
struct EngineState {
    server: Option<ServerStart>,
    restarts: RestartBackoff,
}

/// A start in progress or done. It continues if the request that started it is dropped, and ends with the engine.
type ServerStart = Shared<BoxFuture<'static, Result<Arc<LanguageServer>, ProgramError>>>;

impl LspEngine {
    /// Creates the engine; the server is started by the first request.
    pub fn new(settings: LspSettings) -> LspEngine {
        LspEngine {
            description: description(&settings),
            permits: Semaphore::new(settings.concurrency.unwrap_or(1)),
            settings: Arc::new(settings),
            state: Mutex::default(),
            document_locks: DocumentLocks::default(),
        }
    }

    /// Returns the server; starts it if it isn't running. During a backoff, returns the error that caused it.
    fn server(&self) -> Result<ServerStart, ProgramError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = match state.server.as_ref().and_then(|server| server.peek()) {
            Some(Ok(server)) => server.fault(),
            Some(Err(fault)) => Some(fault.clone()),
            None => None,
        };
        if let Some(fault) = fault {
            state.restarts.record_failure(&fault);
            state.server = None;
        }
        if let Some(server) = &state.server {
            return Ok(server.clone());
        }
        match state.restarts.blocked_by().cloned() {
            Some(fault) => Err(fault),
            None => Ok(state.server.insert(start(Arc::clone(&self.settings))).clone()),
        }
    }

    async fn answer(&self, request: &Request, sink: &mut dyn AnswerListener) -> Result<Answer, EngineError> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.ok();
        let others = request.input.context.iter().map(|item| item.path.to_string());
        let documents: BTreeSet<String> = others.chain([request.input.path.to_string()]).collect();
        let _turn = self.document_locks.lock(documents).await;
        let offered = async { self.server()?.await?.ask(request).await };
        let ServerSuggestions { first, others } = offered.await.map_err(|fault| self.error(fault))?;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).restarts.record_success();
        let alternatives =
            others.into_iter().map(|text| Alternative { text, ..Alternative::default() }).collect();
        let answer = Answer { alternatives, ..Answer::with_finish(FinishReason::Stop) };
        Ok(match first {
            ItemEdit::Insertion(text) if text.is_empty() => {
                Answer { silence: Some("nothing to suggest"), ..answer }
            }
            ItemEdit::Insertion(text) if sink.text(&text).is_break() => {
                Answer { finish: FinishReason::Complete, ..answer }
            }
            ItemEdit::Insertion(_) => answer,
            ItemEdit::Elsewhere(edit) => Answer { edits: vec![edit], ..answer },
            ItemEdit::Nothing(silence) => Answer { silence: Some(silence), ..answer },
        })
    }

    fn error(&self, fault: ProgramError) -> EngineError {
        EngineError::Program { engine: self.settings.name.clone(), fault }
    }
}

/// Starts a server in a separate task.
fn start(settings: Arc<LspSettings>) -> ServerStart {
    let program = settings.program.name().to_owned();
    let starting = AbortOnDropHandle::new(tokio::spawn(LanguageServer::start(settings)));
    let started = async move {
        let defect = |_| ProgramError::Failed { program, message: "starting it panicked".to_owned() };
        starting.await.unwrap_or_else(|error| Err(defect(error))).map(Arc::new)
    };
    started.boxed().shared()
}

impl Engine for LspEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
        true
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let answer = self.answer(&request, sink);
            cancel.run_until_cancelled(answer).await.unwrap_or(Err(EngineError::Cancelled))
        }
        .boxed()
    }

    fn probe(&self) -> BoxFuture<'_, Result<EngineInfo, EngineError>> {
        async {
            let server = async { self.server()?.await };
            let server = server.await.map_err(|fault| self.error(fault))?;
            let names = server.name.clone().into_iter().collect();
            let metadata = ServerMetadata { names, ..ServerMetadata::default() };
            Ok(EngineInfo { metadata, ..EngineInfo::default() })
        }
        .boxed()
    }
}

/// Everything that may change its answers. Tables are hashed, because they may contain keys.
fn description(settings: &LspSettings) -> EngineDescription {
    let LspSettings { program, .. } = settings;
    let secrets = settings.secrets();
    let variables: Vec<&str> = program.env.keys().map(String::as_str).collect();
    let mut described = vec![
        ("env".to_owned(), variables.join(" ")),
        ("request".to_owned(), settings.request.clone()),
        ("command".to_owned(), secrets.redact(&program.description())),
    ];
    for (name, table) in [("initialization_options", &settings.options), ("settings", &settings.settings)] {
        let table = Value::from(table.expose().clone()).to_string();
        described.push((name.to_owned(), fingerprint(&secrets.redact(&table))));
    }
    for (name, value) in &settings.extra {
        described.push((format!("extra.{name}"), secrets.redact(&value.to_string())));
    }
    EngineDescription {
        name: settings.name.clone(),
        kind: EngineKind::Lsp,
        model: settings.model.clone().unwrap_or_else(|| "the server's".to_owned()),
        settings: described.into_iter().collect(),
    }
}

/// A short hash, enough to distinguish a few engines.
fn fingerprint(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}
