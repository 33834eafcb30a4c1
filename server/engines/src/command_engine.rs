//! Any program as an [`Engine`]: requests and answers are lines of JSON on its standard input and output.
//!
//! ```text
//! Request --line--> outbox --stdin--> program --stdout--> lines --id--> the question it belongs to --> pieces
//! ```
//!
//! One process answers all requests concurrently and is started by the first one. A process that ends after an answer is
//! restarted by the next request; one that ends without any answer is restarted with backoff. `docs/command-engine.md`
//! specifies the protocol, `line` implements it, and `session` matches answers to requests.
//!
//! The program must never block other work: a program that reads nothing, writes without end or never answers only makes its
//! own requests fail.

mod protocol;
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

use crate::child_process::restart_backoff::RestartBackoff;
use crate::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, FinishReason, Program,
    ProgramError, Request,
};

use session::{CommandSession, ResponseEvent};

/// Consecutive requests without any output before their deadline after which the program is restarted.
const MAX_TIMEOUTS: u32 = 3;

/// A configured program.
#[derive(Clone, Debug)]
pub struct CommandSettings {
    /// User-defined name.
    pub name: String,
    /// The program to run.
    pub program: Program,
    /// Model name, passed to the program.
    pub model: Option<String>,
    /// Maximum tokens of an answer, passed to the program.
    pub max_tokens: u32,
    /// Maximum concurrent requests; further ones are queued. `None`: unlimited.
    pub max_concurrency: Option<usize>,
    /// Timeout for its start.
    pub start_timeout: Duration,
}

/// An engine that runs a program.
pub struct CommandEngine {
    description: EngineDescription,
    settings: CommandSettings,
    permits: Option<Semaphore>,
    next_id: AtomicU64,
    running: Mutex<RunningProgram>,
}

#[derive(Default)]
struct RunningProgram {
    session: Option<Arc<CommandSession>>,
    restarts: RestartBackoff,
}

impl CommandEngine {
    /// Creates the engine; the program is started by the first request.
    pub fn new(settings: CommandSettings) -> CommandEngine {
        CommandEngine {
            description: description(&settings),
            permits: settings.max_concurrency.map(|count| Semaphore::new(count.max(1))),
            settings,
            next_id: AtomicU64::new(1),
            running: Mutex::default(),
        }
    }

    /// Returns the running session; restarts a program that has ended if its backoff is over.
    fn session(&self) -> Result<Arc<CommandSession>, ProgramError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let RunningProgram { session, restarts } = &mut *running;
        if let Some(old) = session {
            match old.end() {
                None if old.unanswered() < MAX_TIMEOUTS || old.uptime() < self.settings.start_timeout => {
                    return Ok(Arc::clone(old));
                }
                None => {
                    let fault = old.timeout_error(self.settings.start_timeout);
                    restarts.record_failure(&fault);
                    *session = None;
                    return Err(fault);
                }
                Some(_) if old.has_answered() => restarts.record_success(),
                Some(fault) => restarts.record_failure(&fault),
            }
            *session = None;
        }
        if let Some(fault) = restarts.blocked_by() {
            return Err(fault.clone());
        }
        let new = CommandSession::start(&self.settings.program)
            .inspect_err(|fault| restarts.record_failure(fault))?;
        Ok(Arc::clone(session.insert(Arc::new(new))))
    }

    async fn answer(&self, request: &Request, sink: &mut dyn AnswerListener) -> Result<Answer, EngineError> {
        let _permit = match &self.permits {
            // The semaphore is never closed.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        loop {
            let session = self.session().map_err(|fault| self.error(fault))?;
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            let line = protocol::request_line(id, request, &self.settings);
            let mut question = session.ask(id, line, request.deadline);
            // If a program ended after other answers and before it acknowledged this request, the request is sent again.
            while let Some(heard) = question.next().await {
                match heard {
                    ResponseEvent::Text(piece) if sink.text(&piece).is_break() => {
                        return Ok(Answer::with_finish(FinishReason::Complete));
                    }
                    ResponseEvent::Text(_) => {}
                    ResponseEvent::Done(answer) => return Ok(answer),
                    ResponseEvent::Failed(fault) => return Err(self.error(fault)),
                }
            }
        }
    }

    fn error(&self, fault: ProgramError) -> EngineError {
        EngineError::Program { engine: self.settings.name.clone(), fault }
    }
}

impl Engine for CommandEngine {
    fn description(&self) -> &EngineDescription {
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
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let answer = self.answer(&request, sink);
            cancel.run_until_cancelled(answer).await.unwrap_or(Err(EngineError::Cancelled))
        }
        .boxed()
    }
}

/// Everything that may change its answers: the command line, the same on every machine, and the names of its variables.
fn description(settings: &CommandSettings) -> EngineDescription {
    let names: Vec<&str> = settings.program.env.keys().map(String::as_str).collect();
    let described: BTreeMap<String, String> = [
        ("command".to_owned(), settings.program.description()),
        ("env".to_owned(), names.join(" ")),
        ("max_tokens".to_owned(), settings.max_tokens.to_string()),
    ]
    .into();
    EngineDescription {
        name: settings.name.clone(),
        kind: EngineKind::Command,
        model: settings.model.clone().unwrap_or_else(|| "the program's".to_owned()),
        settings: described,
    }
}

/// Milliseconds until a deadline.
fn remaining_ms(deadline: Instant) -> u64 {
    deadline.saturating_duration_since(Instant::now()).as_millis().try_into().unwrap_or(u64::MAX)
}
