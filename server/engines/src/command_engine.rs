//! Any program as an [`Engine`]: questions and answers are lines of JSON on its standard input and output.
//!
//! ```text
//! Request --line--> outbox --stdin--> program --stdout--> lines --id--> the question it belongs to --> pieces
//! ```
//!
//! One program answers all questions, as many at once as it likes, and is started when the first one comes. One that ends after its
//! answer is started again for the next question; one that ends without any answer is given pauses. `docs/command-engine.md` is the
//! protocol; it is written down in `line`, and `session` keeps a running program and the questions that it was asked apart.
//!
//! It must never wait for the program where others wait for it: a program that reads nothing, writes without end or never answers
//! costs its own questions their answers, and nothing else.

mod line;
mod session;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::child::restarts::Restarts;
use crate::{Answer, Description, Engine, Error, Finish, Kind, Program, ProgramFault, Request, Sink};

use session::{Heard, Session};

/// So many questions in a row that the program let pass their deadline without a word, and it is started anew.
const PATIENCE: u32 = 3;

/// A program, as somebody configured it.
#[derive(Clone, Debug)]
pub struct CommandSettings {
    /// The user's name for it.
    pub name: String,
    /// What is run.
    pub program: Program,
    /// The model that it shall use; it is told.
    pub model: Option<String>,
    /// Tokens of an answer, at most; it is told.
    pub max_tokens: u32,
    /// Questions at once; further ones wait their turn. `None` for as many as come.
    pub at_once: Option<usize>,
    /// Time for it to get ready, from its start.
    pub start_timeout: Duration,
}

/// A program that completes code.
pub struct CommandEngine {
    description: Description,
    settings: CommandSettings,
    permits: Option<Semaphore>,
    next_id: AtomicU64,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    session: Option<Arc<Session>>,
    restarts: Restarts,
}

impl CommandEngine {
    /// Nothing is started yet.
    pub fn new(settings: CommandSettings) -> CommandEngine {
        CommandEngine {
            description: description(&settings),
            permits: settings.at_once.map(|count| Semaphore::new(count.max(1))),
            settings,
            next_id: AtomicU64::new(1),
            running: Mutex::default(),
        }
    }

    /// The running program; one that has ended is started again, if its pause is over.
    fn session(&self) -> Result<Arc<Session>, ProgramFault> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Running { session, restarts } = &mut *running;
        if let Some(old) = session {
            match old.end() {
                None if old.unanswered() < PATIENCE || old.age() < self.settings.start_timeout => {
                    return Ok(Arc::clone(old));
                }
                None => {
                    let fault = old.silent(self.settings.start_timeout);
                    restarts.failed(&fault);
                    *session = None;
                    return Err(fault);
                }
                Some(_) if old.has_answered() => restarts.succeeded(),
                Some(fault) => restarts.failed(&fault),
            }
            *session = None;
        }
        if let Some(fault) = restarts.refusal() {
            return Err(fault.clone());
        }
        let new = Session::start(&self.settings.program).inspect_err(|fault| restarts.failed(fault))?;
        Ok(Arc::clone(session.insert(Arc::new(new))))
    }

    async fn answer(&self, request: &Request, sink: Sink<'_>) -> Result<Answer, Error> {
        let _permit = match &self.permits {
            // Nobody closes it.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        loop {
            let session = self.session().map_err(|fault| self.error(fault))?;
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            let line = line::question(id, request, &self.settings);
            let mut question = session.ask(id, line, request.deadline);
            // A program that ended after other answers, and before it took notice of this question, is asked again.
            while let Some(heard) = question.next().await {
                match heard {
                    Heard::Text(piece) if sink.text(&piece).is_break() => {
                        return Ok(Answer::ended(Finish::Complete));
                    }
                    Heard::Text(_) => {}
                    Heard::Done(answer) => return Ok(answer),
                    Heard::Failed(fault) => return Err(self.error(fault)),
                }
            }
        }
    }

    fn error(&self, fault: ProgramFault) -> Error {
        Error::Program { engine: self.settings.name.clone(), fault }
    }
}

impl Engine for CommandEngine {
    fn description(&self) -> &Description {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        false
    }

    fn reads_context(&self) -> bool {
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
}

/// What may change its answers: its command line, the same on every machine, and the names of its variables.
fn description(settings: &CommandSettings) -> Description {
    let names: Vec<&str> = settings.program.env.keys().map(String::as_str).collect();
    let described: BTreeMap<String, String> = [
        ("command".to_owned(), settings.program.described()),
        ("env".to_owned(), names.join(" ")),
        ("max_tokens".to_owned(), settings.max_tokens.to_string()),
    ]
    .into();
    Description {
        name: settings.name.clone(),
        kind: Kind::Command,
        model: settings.model.clone().unwrap_or_else(|| "the program's".to_owned()),
        settings: described,
    }
}

/// Milliseconds that are left until a deadline.
fn left(deadline: Instant) -> u64 {
    deadline.saturating_duration_since(Instant::now()).as_millis().try_into().unwrap_or(u64::MAX)
}
