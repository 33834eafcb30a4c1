//! Language servers that complete code, asked as an editor asks them: any vendor is measured without an adapter.
//!
//! ```text
//! Request --turns--> Server (started when it is first needed, and again after it ended)
//!                      |  didOpen the context, didOpen the document, ask, didClose
//!                      v
//!                    item --insertion--> text at the cursor
//! ```
//!
//! **What a server sees** is the question and nothing else. It runs in an empty folder of its own, which is also the workspace that
//! it is told of, so that it cannot read the file that a case was cut from. The document stands there under its path, but on no
//! disk; code that goes with the question stands there as further documents. All are closed with the question, so that no question sees
//! another's, and by default one question is asked at a time: a server may look at all documents that are open. What it remembers of
//! closed ones is its own affair.
//!
//! It is the same in editors, where the server is shown less than it would read from a workspace: what is measured is what people get.
//!
//! A question that is dropped is taken back, and nobody waits for a server that goes on with it. A server that ends, or says what is no
//! message, is started again with the next question, after [`Restarts`]' pauses. This module starts no process itself (`child` does) and
//! decides nothing about what is shown.

mod connection;
mod documents;
mod frames;
mod handshake;
mod insertion;
mod message;
mod replies;
mod server;
mod snippet;
mod turns;

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

use crate::child::restarts::Restarts;
use crate::child::{Program, ProgramFault};
use crate::http::Secrets;
use crate::{
    Alternative, Answer, Description, Engine, Error, Finish, Introduction, Kind, Metadata, Request, Sink,
};

use server::{Offered, Server};
use turns::Turns;

/// A language server, as somebody configured it.
#[derive(Clone, Debug)]
pub struct LspSettings {
    /// The user's name for it.
    pub name: String,
    /// How it is started; in an empty folder where no other is named.
    pub program: Program,
    /// What is said to be its model.
    pub model: Option<String>,
    /// The method that it is asked by.
    pub request: String,
    /// What it is told in `initialize`.
    pub options: SecretTable,
    /// What it is told when it asks for its settings.
    pub settings: SecretTable,
    /// Fields that go into every request, over ours.
    pub extra: Map<String, Value>,
    /// Time from its start until it can be asked.
    pub start_timeout: Duration,
    /// Questions at once; one where nothing is said, and never two about one document.
    pub concurrency: Option<usize>,
}

impl LspSettings {
    /// What it was told and nobody else is.
    fn secrets(&self) -> Secrets {
        let told = self.options.secrets().iter().chain(self.settings.secrets());
        Secrets::new(None, self.program.env.values().chain(told), std::iter::empty())
    }

    /// The first line of what it says, without what it was told.
    fn quoted(&self, text: &str) -> String {
        self.secrets().quoted(text)
    }

    /// What it says of a failure.
    fn failed(&self, message: &str) -> ProgramFault {
        let message = self.secrets().removed_from(message);
        ProgramFault::Failed { program: self.program.name().to_owned(), message }
    }

    /// What is wrong with what it writes.
    fn malformed(&self) -> impl Fn(String) -> ProgramFault + Send + use<> {
        let program = self.program.name().to_owned();
        let secrets = self.secrets();
        move |reason| ProgramFault::Malformed {
            program: program.clone(),
            expected: "messages of the language server protocol",
            reason: secrets.quoted(&reason),
        }
    }
}

/// A language server behind the trait of all engines.
pub struct LspEngine {
    description: Description,
    settings: Arc<LspSettings>,
    state: Mutex<State>,
    at_once: Semaphore,
    turns: Turns,
}

/// The server that is asked, from its start on.
#[derive(Default)]
struct State {
    server: Option<Starting>,
    restarts: Restarts,
}

/// A start under way or done. It goes on when the question that wanted it is dropped, and ends with the engine.
type Starting = Shared<BoxFuture<'static, Result<Arc<Server>, ProgramFault>>>;

impl LspEngine {
    /// Nothing is started yet.
    pub fn new(settings: LspSettings) -> LspEngine {
        LspEngine {
            description: description(&settings),
            at_once: Semaphore::new(settings.concurrency.unwrap_or(1)),
            settings: Arc::new(settings),
            state: Mutex::default(),
            turns: Turns::default(),
        }
    }

    /// The server, started if it does not run; why there is none while it is too early to try again.
    fn server(&self) -> Result<Starting, ProgramFault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = match state.server.as_ref().and_then(|server| server.peek()) {
            Some(Ok(server)) => server.fault(),
            Some(Err(fault)) => Some(fault.clone()),
            None => None,
        };
        if let Some(fault) = fault {
            state.restarts.failed(&fault);
            state.server = None;
        }
        if let Some(server) = &state.server {
            return Ok(server.clone());
        }
        match state.restarts.refusal().cloned() {
            Some(fault) => Err(fault),
            None => Ok(state.server.insert(start(Arc::clone(&self.settings))).clone()),
        }
    }

    async fn answer(&self, request: &Request, sink: Sink<'_>) -> Result<Answer, Error> {
        // Nobody closes it.
        let _permit = self.at_once.acquire().await.ok();
        let others = request.context.iter().map(|item| item.path.clone());
        let documents: BTreeSet<String> = others.chain([request.path.to_string()]).collect();
        let _turn = self.turns.take(documents).await;
        let offered = async { self.server()?.await?.ask(request).await };
        let Offered { first, others } = offered.await.map_err(|fault| self.error(fault))?;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).restarts.succeeded();
        let alternative = |text| Alternative { text, ..Alternative::default() };
        let alternatives = others.into_iter().map(alternative).collect();
        let answer = Answer { alternatives, ..Answer::ended(Finish::Stop) };
        Ok(match first {
            Ok(text) if text.is_empty() => Answer { silence: Some("nothing to suggest"), ..answer },
            Ok(text) if sink.text(&text).is_break() => Answer { finish: Finish::Complete, ..answer },
            Ok(_) => answer,
            Err(silence) => Answer { silence: Some(silence), ..answer },
        })
    }

    fn error(&self, fault: ProgramFault) -> Error {
        Error::Program { engine: self.settings.name.clone(), fault }
    }
}

/// Starts a server in a task of its own.
fn start(settings: Arc<LspSettings>) -> Starting {
    let program = settings.program.name().to_owned();
    let starting = AbortOnDropHandle::new(tokio::spawn(Server::start(settings)));
    let started = async move {
        let defect =
            |_| ProgramFault::Failed { program, message: "its start stopped by a defect".to_owned() };
        starting.await.unwrap_or_else(|error| Err(defect(error))).map(Arc::new)
    };
    started.boxed().shared()
}

impl Engine for LspEngine {
    fn description(&self) -> &Description {
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
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move {
            let answer = self.answer(&request, sink);
            cancel.run_until_cancelled(answer).await.unwrap_or(Err(Error::Cancelled))
        }
        .boxed()
    }

    fn introduce(&self) -> BoxFuture<'_, Result<Introduction, Error>> {
        async {
            let server = async { self.server()?.await };
            let server = server.await.map_err(|fault| self.error(fault))?;
            let names = server.name.clone().into_iter().collect();
            let metadata = Metadata { names, ..Metadata::default() };
            Ok(Introduction { metadata, ..Introduction::default() })
        }
        .boxed()
    }
}

/// What may change its answers. Tables are told apart without being shown: they may hold keys.
fn description(settings: &LspSettings) -> Description {
    let LspSettings { program, .. } = settings;
    let secrets = settings.secrets();
    let variables: Vec<&str> = program.env.keys().map(String::as_str).collect();
    let mut described = vec![
        ("env".to_owned(), variables.join(" ")),
        ("request".to_owned(), settings.request.clone()),
        ("command".to_owned(), secrets.removed_from(&program.described())),
    ];
    for (name, table) in [("initialization_options", &settings.options), ("settings", &settings.settings)] {
        let table = Value::from(table.expose().clone()).to_string();
        described.push((name.to_owned(), fingerprint(&secrets.removed_from(&table))));
    }
    for (name, value) in &settings.extra {
        described.push((format!("extra.{name}"), secrets.removed_from(&value.to_string())));
    }
    Description {
        name: settings.name.clone(),
        kind: Kind::Lsp,
        model: settings.model.clone().unwrap_or_else(|| "the server's".to_owned()),
        settings: described.into_iter().collect(),
    }
}

/// Enough of a hash to tell a few engines apart.
fn fingerprint(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}
