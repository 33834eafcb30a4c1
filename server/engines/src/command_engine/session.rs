//! A running program and its pending requests.
//!
//! A separate task reads and writes; callers only access the shared state, so only a request's own caller waits for the
//! program. Dropping the [`Session`] ends the task and the program.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::line::{self, Said};
use crate::child::{Child, Pipes};
use crate::http::{Decoder, EVENT_LIMIT, Framing, Unreadable};
use crate::{Answer, Finish, Program, ProgramFault};

/// Maximum text of an answer in bytes; a longer text is not a completion.
const TEXT_LIMIT: usize = 1 << 20;

/// A program that writes more bytes than this without a pending request won't stop.
const STRAY_LIMIT: usize = 16 << 20;

/// Bytes per read.
const CHUNK: usize = 16 << 10;

/// Time to exit after standard output was closed.
const END: Duration = Duration::from_secs(1);

/// Timeout between two pieces for a program that began an answer and has never completed one. Models generate several tokens a
/// second; without this timeout, an answer that never ends would only be noticed at its deadline, request after request.
const BETWEEN_PIECES: Duration = Duration::from_secs(10);

/// Expected output.
const EXPECTED: &str = "lines of its protocol";

/// A running program.
pub(super) struct Session {
    shared: Arc<Shared>,
    program: Program,
    started: Instant,
    /// Dropping this signals the task.
    _alive: oneshot::Sender<()>,
}

/// Event of a request.
#[derive(Debug)]
pub(super) enum Heard {
    /// The next piece of its answer.
    Text(String),
    /// The end of its answer.
    Done(Answer),
    /// There is no answer.
    Failed(ProgramFault),
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The outbox has lines.
    ready: Notify,
    /// A first answer has begun.
    begun: Notify,
}

#[derive(Default)]
struct State {
    /// Pending requests, oldest first.
    open: BTreeMap<u64, Open>,
    /// Lines to write.
    outbox: VecDeque<Outgoing>,
    /// Whether it has given an answer.
    has_answered: bool,
    /// Whether it has ended an answer, if only with an error.
    has_ended_one: bool,
    /// Requests that timed out since its last output.
    unanswered: u32,
    /// Bytes without a pending request since its last answer to one.
    stray: usize,
    /// Why it ended.
    end: Option<ProgramFault>,
}

struct Open {
    tell: mpsc::UnboundedSender<Heard>,
    /// Bytes of the answer so far.
    length: usize,
    /// Time of its latest piece.
    latest: Option<Instant>,
}

struct Outgoing {
    /// The request that this line sends.
    question: Option<u64>,
    line: Vec<u8>,
}

impl Session {
    /// Starts a program.
    pub(super) fn start(program: &Program) -> Result<Session, ProgramFault> {
        let (child, pipes) = Child::start(program)?;
        let shared = Arc::new(Shared::default());
        let (alive, dropped) = oneshot::channel();
        tokio::spawn(run(child, pipes, Arc::clone(&shared), program.clone(), dropped));
        Ok(Session { shared, program: program.clone(), started: Instant::now(), _alive: alive })
    }

    /// Returns why it ended.
    pub(super) fn end(&self) -> Option<ProgramFault> {
        self.shared.state().end.clone()
    }

    /// Whether it has given an answer.
    pub(super) fn has_answered(&self) -> bool {
        self.shared.state().has_answered
    }

    /// Number of consecutive requests that timed out without any output.
    pub(super) fn unanswered(&self) -> u32 {
        self.shared.state().unanswered
    }

    /// Time since its start.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the timeout error.
    pub(super) fn silent(&self, waited: Duration) -> ProgramFault {
        ProgramFault::Unanswered {
            program: self.program.name().to_owned(),
            missing: "answered no question",
            waited,
            remedy: "it has to write each answer to its standard output and flush it (docs/command-engine.md), and `start_timeout_ms` gives it more time to load",
        }
    }

    /// Sends a request without blocking.
    pub(super) fn ask(&self, id: u64, line: Vec<u8>, deadline: Option<Instant>) -> Question {
        let (tell, heard) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        // If the program has ended, the request's channel is closed.
        if state.end.is_none() {
            state.open.insert(id, Open { tell, length: 0, latest: None });
            state.outbox.push_back(Outgoing { question: Some(id), line });
            self.shared.ready.notify_one();
        }
        drop(state);
        Question { id, deadline, heard, shared: Arc::clone(&self.shared) }
    }
}

/// A pending request. Dropping it cancels it.
pub(super) struct Question {
    id: u64,
    deadline: Option<Instant>,
    heard: mpsc::UnboundedReceiver<Heard>,
    shared: Arc<Shared>,
}

impl Question {
    /// Returns the next event; `None` if the program exited successfully before it acknowledged the request.
    pub(super) async fn next(&mut self) -> Option<Heard> {
        self.heard.recv().await
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if state.open.remove(&self.id).is_none() {
            return;
        }
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            state.unanswered += 1;
        }
        state.take_back(self.id);
        self.shared.ready.notify_one();
    }
}

impl State {
    /// A request that isn't written yet is removed from the outbox; otherwise the program is notified.
    fn take_back(&mut self, id: u64) {
        let waiting = self.outbox.len();
        self.outbox.retain(|outgoing| outgoing.question != Some(id));
        if self.outbox.len() == waiting {
            self.outbox.push_back(Outgoing { question: None, line: line::cancel(id) });
        }
    }

    /// Delivers a line to its request. Lines without a pending request are discarded.
    fn hear(&mut self, said: Said, length: usize, quoted: impl FnOnce(&str) -> String, program: &str) {
        self.unanswered = 0;
        let id = said.id.or_else(|| self.open.keys().next().copied());
        let Some((id, open)) = id.and_then(|id| Some((id, self.open.get_mut(&id)?))) else {
            self.stray += length;
            return;
        };
        self.stray = 0;
        open.latest = Some(Instant::now());
        open.length += said.text.len();
        let end = if let Some(error) = &said.error {
            let message = quoted(error);
            Some(Heard::Failed(ProgramFault::Failed { program: program.to_owned(), message }))
        } else if open.length > TEXT_LIMIT {
            Some(Heard::Done(Answer::ended(Finish::Length)))
        } else {
            said.done.then(|| Heard::Done(said.answer()))
        };
        let is_too_long = open.length > TEXT_LIMIT && !said.done;
        if !said.text.is_empty() {
            // The receiver may just be dropped.
            let _ = open.tell.send(Heard::Text(said.text));
        }
        if let Some(end) = end {
            self.has_answered |= matches!(end, Heard::Done(_));
            self.has_ended_one = true;
            let _ = open.tell.send(end);
            self.open.remove(&id);
        }
        if is_too_long {
            self.take_back(id);
        }
    }

    /// Deadline for the next piece, for a program that has never completed an answer; `None` if no answer has begun.
    fn overdue_at(&self) -> Option<Instant> {
        let begun = self.open.values().filter_map(|open| open.latest);
        begun.min().filter(|_| !self.has_ended_one).map(|latest| latest + BETWEEN_PIECES)
    }

    /// Notifies all pending requests. Those that a program ignored while it answered others can be sent again.
    fn end(&mut self, fault: &ProgramFault) {
        self.end = Some(fault.clone());
        self.outbox.clear();
        for open in std::mem::take(&mut self.open).into_values() {
            if open.latest.is_some() || !self.has_answered {
                let _ = open.tell.send(Heard::Failed(fault.clone()));
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when a first answer has begun and is neither continued nor ended in time.
    async fn overdue(&self) {
        loop {
            let at = self.state().overdue_at();
            match at {
                Some(at) if at <= Instant::now() => return,
                Some(at) => tokio::time::sleep_until(at).await,
                None => self.begun.notified().await,
            }
        }
    }

    /// Returns the next line to write.
    async fn outgoing(&self) -> Vec<u8> {
        loop {
            let next = self.state().outbox.pop_front();
            match next {
                Some(outgoing) => return outgoing.line,
                None => self.ready.notified().await,
            }
        }
    }
}

/// Runs until the program ends, violates the protocol, or is dropped.
async fn run(
    child: Child,
    pipes: Pipes,
    shared: Arc<Shared>,
    program: Program,
    dropped: oneshot::Receiver<()>,
) {
    let fault = tokio::select! {
        fault = read(&child, pipes.stdout, &shared, &program) => fault,
        fault = write(pipes.stdin, &shared) => fault,
        () = shared.overdue() => ProgramFault::Unanswered {
            program: program.name().to_owned(),
            missing: "began an answer and did not end it",
            waited: BETWEEN_PIECES,
            remedy: "the last line of an answer needs `\"done\": true` (docs/command-engine.md)",
        },
        _ = dropped => return,
    };
    shared.state().end(&fault);
}

/// Writes the outbox. Never returns, because a program that has closed its input may still write.
async fn write(mut stdin: ChildStdin, shared: &Shared) -> ProgramFault {
    loop {
        let line = shared.outgoing().await;
        if stdin.write_all(&line).await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Reads all lines, and returns how the output ended.
async fn read(child: &Child, mut stdout: ChildStdout, shared: &Shared, program: &Program) -> ProgramFault {
    let malformed = |reason: String| {
        let program = program.name().to_owned();
        ProgramFault::Malformed { program, expected: EXPECTED, reason }
    };
    let too_long = |what: &'static str, limit: usize| ProgramFault::TooLong {
        program: program.name().to_owned(),
        what,
        limit,
    };
    let mut decoder = Decoder::new(Framing::JsonLines);
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = stdout.read(&mut chunk).await.unwrap_or(0);
        decoder.push(&chunk[..length]);
        loop {
            let event = match if length > 0 { decoder.next() } else { decoder.rest() } {
                Ok(None) => break,
                Ok(Some(event)) => event,
                // An end in the middle of a line counts as a normal end.
                Err(_) if length == 0 => break,
                Err(Unreadable::NotUtf8) => return malformed("it is not UTF-8".to_owned()),
                Err(Unreadable::TooLong) => {
                    return too_long("a line", EVENT_LIMIT);
                }
            };
            match Said::parse(&event.data) {
                Ok(said) => {
                    let quoted = |message: &str| program.quoted(message);
                    let mut state = shared.state();
                    state.hear(said, event.data.len(), quoted, program.name());
                    if state.overdue_at().is_some() {
                        shared.begun.notify_one();
                    }
                    if state.stray > STRAY_LIMIT {
                        return too_long("answers without a pending request", STRAY_LIMIT);
                    }
                }
                Err(_) if length == 0 => break,
                Err(reason) => return malformed(reason),
            }
        }
        if length == 0 {
            let closed = malformed("it closed its standard output".to_owned());
            return tokio::time::timeout(END, child.ended()).await.unwrap_or(closed);
        }
    }
}
