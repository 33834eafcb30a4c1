//! A running language server: start, handshake, requests, shutdown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use text::{Document, Encoding};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Connection, Unanswered};
use super::handshake::{introduction, name, offer, remedy};
use super::insertion::{COMPLETION, items};
use super::{LspSettings, documents};
use crate::child::{Child, Program, ProgramFault};
use crate::{Request, formats};

/// Servers that register a method do so at once or never.
const REGISTRATION: Duration = Duration::from_secs(2);

/// Timeout of each of the two shutdown steps; after that the server is killed.
const FAREWELL: Duration = Duration::from_secs(1);

/// A program whose output ends has exited, or does so within this time.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A server that accepts requests. Dropping it shuts it down.
pub(super) struct Server {
    settings: Arc<LspSettings>,
    encoding: Encoding,
    /// Its name and version.
    pub(super) name: Option<String>,
    /// Present until it is shut down.
    running: Option<Running>,
}

/// A server's suggestions.
pub(super) struct Offered {
    /// The best suggestion, or why it can't be inserted.
    pub(super) first: Result<String, &'static str>,
    /// Further suggestions, best first.
    pub(super) others: Vec<String>,
}

impl Offered {
    fn nothing(reason: &'static str) -> Offered {
        Offered { first: Err(reason), others: Vec::new() }
    }
}

/// Everything with the lifetime of the process.
struct Running {
    connection: Arc<Connection>,
    child: Arc<Child>,
    ended: watch::Receiver<Option<ProgramFault>>,
    _carrying: AbortOnDropHandle<()>,
    folder: TempDir,
}

impl Server {
    /// Starts the program and completes the handshake.
    pub(super) async fn start(settings: Arc<LspSettings>) -> Result<Server, ProgramFault> {
        let running = Running::start(&settings)?;
        let introduced = tokio::time::timeout(settings.start_timeout, running.introduce(&settings));
        let (encoding, name) = introduced.await.unwrap_or_else(|_| Err(running.silent(&settings)))?;
        Ok(Server { settings, encoding, name, running: Some(running) })
    }

    /// Returns why it has ended.
    pub(super) fn fault(&self) -> Option<ProgramFault> {
        self.running.as_ref().and_then(|running| running.ended.borrow().clone())
    }

    /// Returns the texts to insert at the cursor, or an error.
    pub(super) async fn ask(&self, request: &Request) -> Result<Offered, ProgramFault> {
        const NOWHERE: &str = "the cursor is inside of a line end";
        let Some(running) = &self.running else { return Ok(Offered::nothing(NOWHERE)) };
        let document = Document::new(&request.text);
        let Some(position) = document.position(request.cursor, self.encoding) else {
            return Ok(Offered::nothing(NOWHERE));
        };
        let shown = documents::shown(request, running.folder.path());
        let Some(edited) = shown.last().map(|shown| shown.uri.clone()) else {
            return Ok(Offered::nothing(NOWHERE));
        };
        let opened: Vec<Opened<'_>> =
            shown.iter().map(|shown| Opened::new(&running.connection, shown)).collect();
        let method = &self.settings.request;
        let mut params = Map::from_iter([
            // Copilot needs the version to identify the text.
            ("textDocument".to_owned(), json!({"uri": edited, "version": 1})),
            ("position".to_owned(), json!({"line": position.line, "character": position.character})),
            ("context".to_owned(), json!({"triggerKind": trigger(method, request.invoked)})),
        ]);
        formats::overlay(&mut params, &self.settings.extra);
        let answer = running.ask(method, &params.into(), &self.settings).await;
        drop(opened);
        let items = items(method, &answer?);
        let mut texts = items.iter().map(|item| item.inserted(&document, request.cursor, self.encoding));
        let first = texts.next().unwrap_or(Err("nothing to suggest"));
        // Alternatives are only shown on explicit invocation.
        let others = if request.invoked { texts.filter_map(Result::ok).collect() } else { Vec::new() };
        Ok(Offered { first, others })
    }
}

/// Trigger kind of the protocol: 1 for explicit invocation. Completion lists have one more kind, and always use 1.
fn trigger(method: &str, invoked: bool) -> u32 {
    if invoked || method == COMPLETION { 1 } else { 2 }
}

impl Running {
    fn start(settings: &LspSettings) -> Result<Running, ProgramFault> {
        let folder = TempDir::with_prefix("ghostbench-lsp-")
            .map_err(|error| settings.failed(&format!("it has no folder to work in: {error}")))?;
        let program = Program {
            folder: Some(settings.program.folder.clone().unwrap_or_else(|| folder.path().to_owned())),
            ..settings.program.clone()
        };
        let (child, pipes) = Child::start(&program)?;
        let child = Arc::new(child);
        let (connection, carrying) =
            Connection::new(pipes.stdout, pipes.stdin, settings.settings.expose().clone());
        let (tell, ended) = watch::channel(None);
        let carrying = tokio::spawn({
            let (child, expected) = (Arc::clone(&child), settings.malformed());
            async move {
                let fault = match carrying.await {
                    Err(reason) => expected(reason),
                    Ok(()) => match tokio::time::timeout(LAST_WORDS, child.ended()).await {
                        Ok(fault) => fault,
                        Err(_) => expected("it closed its output".to_owned()),
                    },
                };
                let _ = tell.send(Some(fault));
            }
        });
        Ok(Running { connection, child, ended, _carrying: AbortOnDropHandle::new(carrying), folder })
    }

    /// Performs the handshake; returns the position encoding and the server's name.
    async fn introduce(&self, settings: &LspSettings) -> Result<(Encoding, Option<String>), ProgramFault> {
        let folder = folder_uri(self.folder.path());
        let ours = introduction(&folder, settings.options.expose().clone());
        let theirs = self.ask("initialize", &ours, settings).await?;
        let (encoding, is_offered) =
            offer(&theirs, &settings.request).map_err(|reason| settings.malformed()(reason))?;
        self.connection.tell("initialized", &json!({}));
        if !settings.settings.expose().is_empty() {
            let configuration = json!({"settings": settings.settings.expose()});
            self.connection.tell("workspace/didChangeConfiguration", &configuration);
        }
        let registered = self.connection.registers(&settings.request);
        if is_offered || tokio::time::timeout(REGISTRATION, registered).await.is_ok() {
            return Ok((encoding, name(&theirs).map(|name| settings.quoted(&name))));
        }
        Err(ProgramFault::NotOffered {
            program: settings.program.name().to_owned(),
            method: settings.request.clone(),
            remedy: remedy(&theirs, &settings.request),
        })
    }

    async fn ask(&self, method: &str, params: &Value, settings: &LspSettings) -> Result<Value, ProgramFault> {
        let answer = match self.connection.ask(method, params) {
            Ok(question) => question.answer().await,
            Err(unanswered) => Err(unanswered),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(Unanswered::Refused(refusal)) => {
                let shown = self.connection.shown().filter(|shown| *shown != refusal.message);
                let shown = shown.map(|shown| format!("; it said last: {}", settings.quoted(&shown)));
                let shown = shown.unwrap_or_default();
                let (code, message) = (refusal.code, settings.quoted(&refusal.message));
                Err(settings.failed(&format!("{message} (code {code} to `{method}`){shown}")))
            }
            Err(Unanswered::Deaf) => Err(settings.failed("it does not read its input")),
            Err(Unanswered::Over) => {
                let mut ended = self.ended.clone();
                let fault = ended.wait_for(Option::is_some).await.ok().and_then(|fault| fault.clone());
                Err(fault.unwrap_or_else(|| settings.failed("it ended with Ghostbench")))
            }
        }
    }

    fn silent(&self, settings: &LspSettings) -> ProgramFault {
        ProgramFault::Silent {
            program: settings.program.name().to_owned(),
            awaited: "did not answer `initialize`",
            waited: settings.start_timeout,
            said: self
                .connection
                .shown()
                .map(|shown| settings.quoted(&shown))
                .or_else(|| self.child.last_line()),
        }
    }

    /// The protocol's shutdown sequence. A server that doesn't respond is killed.
    async fn send_away(self) {
        if let Ok(question) = self.connection.ask("shutdown", &Value::Null) {
            let _ = tokio::time::timeout(FAREWELL, question.answer()).await;
        }
        self.connection.tell("exit", &Value::Null);
        let _ = tokio::time::timeout(FAREWELL, self.child.ended()).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        // Without a runtime there is no shutdown sequence; the process is killed.
        if running.ended.borrow().is_none()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(running.send_away());
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
struct Opened<'a> {
    connection: &'a Connection,
    uri: String,
}

impl Opened<'_> {
    fn new<'a>(connection: &'a Connection, shown: &documents::Shown) -> Opened<'a> {
        connection.tell("textDocument/didOpen", &shown.opened());
        Opened { connection, uri: shown.uri.clone() }
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.connection.tell("textDocument/didClose", &json!({"textDocument": {"uri": self.uri}}));
    }
}
