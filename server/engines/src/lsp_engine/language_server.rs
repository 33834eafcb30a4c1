//! A running language server: start, handshake, requests, shutdown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use text::{Document, PositionEncoding};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Connection, RequestError};
use super::handshake::{initialize_params, remedy, server_capabilities, server_name};
use super::insertion::{COMPLETION, ItemEdit, items};
use super::{LspSettings, documents};
use crate::child_process::{ChildProcess, Program, ProgramError};
use crate::{Request, wire_formats};

/// Servers that register a method do so at once or never.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeout of each of the two shutdown steps; after that the server is killed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A program whose output ends has exited, or does so within this time.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that accepts requests. Dropping it shuts it down.
pub(super) struct LanguageServer {
    settings: Arc<LspSettings>,
    encoding: PositionEncoding,
    /// Its name and version.
    pub(super) name: Option<String>,
    /// Present until it is shut down.
    running: Option<ServerProcess>,
}

/// A server's suggestions.
pub(super) struct ServerSuggestions {
    /// The best suggestion.
    pub(super) first: ItemEdit,
    /// Further suggestions, best first.
    pub(super) others: Vec<String>,
}

impl ServerSuggestions {
    fn nothing(reason: &'static str) -> ServerSuggestions {
        ServerSuggestions { first: ItemEdit::Nothing(reason), others: Vec::new() }
    }
}

/// Everything with the lifetime of the process.
struct ServerProcess {
    connection: Arc<Connection>,
    child: Arc<ChildProcess>,
    ended: watch::Receiver<Option<ProgramError>>,
    _carrying: AbortOnDropHandle<()>,
    folder: TempDir,
}

impl LanguageServer {
    /// Starts the program and completes the handshake.
    pub(super) async fn start(settings: Arc<LspSettings>) -> Result<LanguageServer, ProgramError> {
        let running = ServerProcess::start(&settings)?;
        let introduced = tokio::time::timeout(settings.start_timeout, running.initialize(&settings));
        let (encoding, name) = introduced.await.unwrap_or_else(|_| Err(running.timeout_error(&settings)))?;
        Ok(LanguageServer { settings, encoding, name, running: Some(running) })
    }

    /// Returns why it has ended.
    pub(super) fn fault(&self) -> Option<ProgramError> {
        self.running.as_ref().and_then(|running| running.ended.borrow().clone())
    }

    /// Returns the suggestions, or an error.
    pub(super) async fn ask(&self, request: &Request) -> Result<ServerSuggestions, ProgramError> {
        const NOWHERE: &str = "the cursor is inside of a line end";
        let Some(running) = &self.running else { return Ok(ServerSuggestions::nothing(NOWHERE)) };
        let document = Document::new(&request.input.text);
        let Some(position) = document.position(request.input.cursor, self.encoding) else {
            return Ok(ServerSuggestions::nothing(NOWHERE));
        };
        let shown = documents::documents_of_request(request, running.folder.path());
        let Some(edited) = shown.last().map(|shown| shown.uri.clone()) else {
            return Ok(ServerSuggestions::nothing(NOWHERE));
        };
        let opened: Vec<OpenDocumentGuard<'_>> =
            shown.iter().map(|shown| OpenDocumentGuard::new(&running.connection, shown)).collect();
        let method = &self.settings.request;
        let mut params = Map::from_iter([
            // Copilot needs the version to identify the text.
            ("textDocument".to_owned(), json!({"uri": edited, "version": 1})),
            ("position".to_owned(), json!({"line": position.line, "character": position.character})),
            ("context".to_owned(), json!({"triggerKind": trigger(method, request.invoked)})),
        ]);
        wire_formats::merge_fields(&mut params, &self.settings.extra);
        let answer = running.ask(method, &params.into(), &self.settings).await;
        drop(opened);
        let items = items(method, &answer?);
        let mut edits = items.iter().map(|item| item.edit(&document, request.input.cursor, self.encoding));
        let first = edits.next().unwrap_or(ItemEdit::Nothing("nothing to suggest"));
        // Alternatives are only shown on explicit invocation.
        let others = edits.filter(|_| request.invoked).filter_map(ItemEdit::into_insertion).collect();
        Ok(ServerSuggestions { first, others })
    }
}

/// Trigger kind of the protocol: 1 for explicit invocation. Completion lists have one more kind, and always use 1.
fn trigger(method: &str, invoked: bool) -> u32 {
    if invoked || method == COMPLETION { 1 } else { 2 }
}

impl ServerProcess {
    fn start(settings: &LspSettings) -> Result<ServerProcess, ProgramError> {
        let folder = TempDir::with_prefix("ghostbench-lsp-")
            .map_err(|error| settings.failed(&format!("it has no folder to work in: {error}")))?;
        let program = Program {
            folder: Some(settings.program.folder.clone().unwrap_or_else(|| folder.path().to_owned())),
            ..settings.program.clone()
        };
        let (child, pipes) = ChildProcess::start(&program)?;
        let child = Arc::new(child);
        let (connection, carrying) =
            Connection::new(pipes.stdout, pipes.stdin, settings.settings.expose().clone());
        let (tell, ended) = watch::channel(None);
        let carrying = tokio::spawn({
            let (child, expected) = (Arc::clone(&child), settings.malformed());
            async move {
                let fault = match carrying.await {
                    Err(reason) => expected(reason),
                    Ok(()) => match tokio::time::timeout(EXIT_TIMEOUT, child.wait()).await {
                        Ok(fault) => fault,
                        Err(_) => expected("it closed its output".to_owned()),
                    },
                };
                let _ = tell.send(Some(fault));
            }
        });
        Ok(ServerProcess { connection, child, ended, _carrying: AbortOnDropHandle::new(carrying), folder })
    }

    /// Performs the handshake; returns the position encoding and the server's name.
    async fn initialize(
        &self,
        settings: &LspSettings,
    ) -> Result<(PositionEncoding, Option<String>), ProgramError> {
        let folder = folder_uri(self.folder.path());
        let ours = initialize_params(&folder, settings.options.expose().clone());
        let theirs = self.ask("initialize", &ours, settings).await?;
        let (encoding, is_offered) =
            server_capabilities(&theirs, &settings.request).map_err(|reason| settings.malformed()(reason))?;
        self.connection.notify("initialized", &json!({}));
        if !settings.settings.expose().is_empty() {
            let configuration = json!({"settings": settings.settings.expose()});
            self.connection.notify("workspace/didChangeConfiguration", &configuration);
        }
        let registered = self.connection.wait_for_registration(&settings.request);
        if is_offered || tokio::time::timeout(REGISTRATION_TIMEOUT, registered).await.is_ok() {
            return Ok((encoding, server_name(&theirs).map(|name| settings.quoted(&name))));
        }
        Err(ProgramError::NotOffered {
            program: settings.program.name().to_owned(),
            method: settings.request.clone(),
            remedy: remedy(&theirs, &settings.request),
        })
    }

    async fn ask(&self, method: &str, params: &Value, settings: &LspSettings) -> Result<Value, ProgramError> {
        let answer = match self.connection.request(method, params) {
            Ok(question) => question.answer().await,
            Err(unanswered) => Err(unanswered),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(RequestError::Refused(refusal)) => {
                let shown = self.connection.last_message().filter(|shown| *shown != refusal.message);
                let shown = shown.map(|shown| format!("; it said last: {}", settings.quoted(&shown)));
                let shown = shown.unwrap_or_default();
                let (code, message) = (refusal.code, settings.quoted(&refusal.message));
                Err(settings.failed(&format!("{message} (code {code} to `{method}`){shown}")))
            }
            Err(RequestError::QueueFull) => Err(settings.failed("it does not read its input")),
            Err(RequestError::Closed) => {
                let mut ended = self.ended.clone();
                let fault = ended.wait_for(Option::is_some).await.ok().and_then(|fault| fault.clone());
                Err(fault.unwrap_or_else(|| settings.failed("it ended with Ghostbench")))
            }
        }
    }

    fn timeout_error(&self, settings: &LspSettings) -> ProgramError {
        ProgramError::Timeout {
            program: settings.program.name().to_owned(),
            awaited: "did not answer `initialize`",
            waited: settings.start_timeout,
            last_line: self
                .connection
                .last_message()
                .map(|shown| settings.quoted(&shown))
                .or_else(|| self.child.last_line()),
        }
    }

    /// The protocol's shutdown sequence. A server that doesn't respond is killed.
    async fn shut_down(self) {
        if let Ok(question) = self.connection.request("shutdown", &Value::Null) {
            let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, question.answer()).await;
        }
        self.connection.notify("exit", &Value::Null);
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.child.wait()).await;
    }
}

impl Drop for LanguageServer {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        // Without a runtime there is no shutdown sequence; the process is killed.
        if running.ended.borrow().is_none()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(running.shut_down());
        }
    }
}

/// Returns the URI of a folder; empty if the path is empty.
fn folder_uri(folder: &Path) -> String {
    Url::from_directory_path(folder)
        .map(|uri| uri.as_str().trim_end_matches('/').to_owned())
        .unwrap_or_default()
}

/// An open document of the server; closed on drop.
struct OpenDocumentGuard<'a> {
    connection: &'a Connection,
    uri: String,
}

impl OpenDocumentGuard<'_> {
    fn new<'a>(connection: &'a Connection, shown: &documents::ServerDocument) -> OpenDocumentGuard<'a> {
        connection.notify("textDocument/didOpen", &shown.did_open_params());
        OpenDocumentGuard { connection, uri: shown.uri.clone() }
    }
}

impl Drop for OpenDocumentGuard<'_> {
    fn drop(&mut self) {
        self.connection.notify("textDocument/didClose", &json!({"textDocument": {"uri": self.uri}}));
    }
}
