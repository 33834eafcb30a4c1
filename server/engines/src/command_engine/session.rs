//! A running program and its pending requests.
//!
//! A separate task reads and writes; callers only access the shared state, so only a request's own caller waits for the
//! program. Dropping the [`CommandSession`] ends the task and the program.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::protocol::{self, ResponseLine};
use crate::child_process::{ChildPipes, ChildProcess};
use crate::http::{EVENT_LIMIT, EventDecoder, Framing, StreamError};
use crate::{Answer, FinishReason, Program, ProgramError};

/// Maximum text of an answer in bytes; a longer text is not a completion.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// A program that writes more bytes than this without a pending request won't stop.
const MAX_STRAY_BYTES: usize = 16 << 20;

/// Bytes per read.
const CHUNK: usize = 16 << 10;

/// Time to exit after standard output was closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout between two pieces for a program that began an answer and has never completed one. Models generate several tokens a
/// second; without this timeout, an answer that never ends would only be noticed at its deadline, request after request.
const BETWEEN_PIECES: Duration = Duration::from_secs(10);

/// Expected output.
const EXPECTED: &str = "lines of its protocol";

/// A running program.
pub(super) struct CommandSession {
    shared: Arc<SessionShared>,
    program: Program,
    started: Instant,
    /// Dropping this signals the task.
    _alive: oneshot::Sender<()>,
}

/// Event of a request.
#[derive(Debug)]
pub(super) enum ResponseEvent {
    /// The next piece of its answer.
    Text(String),
    /// The end of its answer.
    Done(Answer),
    /// There is no answer.
    Failed(ProgramError),
}

#[derive(Default)]
struct SessionShared {
    state: Mutex<CommandState>,
    /// The outbox has lines.
    ready: Notify,
    /// A first answer has begun.
    begun: Notify,
}

#[derive(Default)]
struct CommandState {
    /// Pending requests, oldest first.
    open: BTreeMap<u64, OpenRequest>,
    /// Lines to write.
    outbox: VecDeque<OutgoingLine>,
    /// Whether it has given an answer.
    has_answered: bool,
    /// Whether it has ended an answer, if only with an error.
    has_ended_one: bool,
    /// Requests that timed out since its last output.
    unanswered: u32,
    /// Bytes without a pending request since its last answer to one.
    stray: usize,
    /// Why it ended.
    end: Option<ProgramError>,
}

struct OpenRequest {
    tell: mpsc::UnboundedSender<ResponseEvent>,
    /// Bytes of the answer so far.
    length: usize,
    /// Time of its latest piece.
    latest: Option<Instant>,
}

struct OutgoingLine {
    /// The request that this line sends.
    question: Option<u64>,
    line: Vec<u8>,
}

impl CommandSession {
    /// Starts a program.
    pub(super) fn start(program: &Program) -> Result<CommandSession, ProgramError> {
        let (child, pipes) = ChildProcess::start(program)?;
        let shared = Arc::new(SessionShared::default());
        let (alive, dropped) = oneshot::channel();
        tokio::spawn(run(child, pipes, Arc::clone(&shared), program.clone(), dropped));
        Ok(CommandSession { shared, program: program.clone(), started: Instant::now(), _alive: alive })
    }

    /// Returns why it ended.
    pub(super) fn end(&self) -> Option<ProgramError> {
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
    pub(super) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the timeout error.
    pub(super) fn timeout_error(&self, waited: Duration) -> ProgramError {
        ProgramError::Unanswered {
            program: self.program.name().to_owned(),
            missing: "answered no question",
            waited,
            remedy: "it has to write each answer to its standard output and flush it (docs/command-engine.md), and `start_timeout_ms` gives it more time to load",
        }
    }

    /// Sends a request without blocking.
    pub(super) fn ask(&self, id: u64, line: Vec<u8>, deadline: Option<Instant>) -> PendingRequest {
        let (tell, heard) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        // If the program has ended, the request's channel is closed.
        if state.end.is_none() {
            state.open.insert(id, OpenRequest { tell, length: 0, latest: None });
            state.outbox.push_back(OutgoingLine { question: Some(id), line });
            self.shared.ready.notify_one();
        }
        drop(state);
        PendingRequest { id, deadline, heard, shared: Arc::clone(&self.shared) }
    }
}

/// A pending request. Dropping it cancels it.
pub(super) struct PendingRequest {
    id: u64,
    deadline: Option<Instant>,
    heard: mpsc::UnboundedReceiver<ResponseEvent>,
    shared: Arc<SessionShared>,
}

impl PendingRequest {
    /// Returns the next event; `None` if the program exited successfully before it acknowledged the request.
    pub(super) async fn next(&mut self) -> Option<ResponseEvent> {
        self.heard.recv().await
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if state.open.remove(&self.id).is_none() {
            return;
        }
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            state.unanswered += 1;
        }
        state.cancel(self.id);
        self.shared.ready.notify_one();
    }
}

impl CommandState {
    /// A request that isn't written yet is removed from the outbox; otherwise the program is notified.
    fn cancel(&mut self, id: u64) {
        let waiting = self.outbox.len();
        self.outbox.retain(|outgoing| outgoing.question != Some(id));
        if self.outbox.len() == waiting {
            self.outbox.push_back(OutgoingLine { question: None, line: protocol::cancel_line(id) });
        }
    }

    /// Delivers a line to its request. Lines without a pending request are discarded.
    fn dispatch(
        &mut self,
        response: ResponseLine,
        length: usize,
        quoted: impl FnOnce(&str) -> String,
        program: &str,
    ) {
        self.unanswered = 0;
        let id = response.id.or_else(|| self.open.keys().next().copied());
        let Some((id, open)) = id.and_then(|id| Some((id, self.open.get_mut(&id)?))) else {
            self.stray += length;
            return;
        };
        self.stray = 0;
        open.latest = Some(Instant::now());
        open.length += response.text.len();
        let end = if let Some(error) = &response.error {
            let message = quoted(error);
            Some(ResponseEvent::Failed(ProgramError::Failed { program: program.to_owned(), message }))
        } else if open.length > MAX_TEXT_BYTES {
            Some(ResponseEvent::Done(Answer::with_finish(FinishReason::Length)))
        } else {
            response.done.then(|| ResponseEvent::Done(response.answer()))
        };
        let is_too_long = open.length > MAX_TEXT_BYTES && !response.done;
        if !response.text.is_empty() {
            // The receiver may just be dropped.
            let _ = open.tell.send(ResponseEvent::Text(response.text));
        }
        if let Some(end) = end {
            self.has_answered |= matches!(end, ResponseEvent::Done(_));
            self.has_ended_one = true;
            let _ = open.tell.send(end);
            self.open.remove(&id);
        }
        if is_too_long {
            self.cancel(id);
        }
    }

    /// Deadline for the next piece, for a program that has never completed an answer; `None` if no answer has begun.
    fn overdue_at(&self) -> Option<Instant> {
        let begun = self.open.values().filter_map(|open| open.latest);
        begun.min().filter(|_| !self.has_ended_one).map(|latest| latest + BETWEEN_PIECES)
    }

    /// Notifies all pending requests. Those that a program ignored while it answered others can be sent again.
    fn end(&mut self, fault: &ProgramError) {
        self.end = Some(fault.clone());
        self.outbox.clear();
        for open in std::mem::take(&mut self.open).into_values() {
            if open.latest.is_some() || !self.has_answered {
                let _ = open.tell.send(ResponseEvent::Failed(fault.clone()));
            }
        }
    }
}

impl SessionShared {
    fn state(&self) -> MutexGuard<'_, CommandState> {
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
    child: ChildProcess,
    pipes: ChildPipes,
    shared: Arc<SessionShared>,
    program: Program,
    dropped: oneshot::Receiver<()>,
) {
    let fault = tokio::select! {
        fault = read(&child, pipes.stdout, &shared, &program) => fault,
        fault = write(pipes.stdin, &shared) => fault,
        () = shared.overdue() => ProgramError::Unanswered {
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
async fn write(mut stdin: ChildStdin, shared: &SessionShared) -> ProgramError {
    loop {
        let line = shared.outgoing().await;
        if stdin.write_all(&line).await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Reads all lines, and returns how the output ended.
async fn read(
    child: &ChildProcess,
    mut stdout: ChildStdout,
    shared: &SessionShared,
    program: &Program,
) -> ProgramError {
    let malformed = |reason: String| {
        let program = program.name().to_owned();
        ProgramError::Malformed { program, expected: EXPECTED, reason }
    };
    let too_long = |what: &'static str, limit: usize| ProgramError::TooLong {
        program: program.name().to_owned(),
        what,
        limit,
    };
    let mut decoder = EventDecoder::new(Framing::JsonLines);
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = stdout.read(&mut chunk).await.unwrap_or(0);
        decoder.push(&chunk[..length]);
        loop {
            let event = match if length > 0 { decoder.next() } else { decoder.remainder() } {
                Ok(None) => break,
                Ok(Some(event)) => event,
                // An end in the middle of a line counts as a normal end.
                Err(_) if length == 0 => break,
                Err(StreamError::NotUtf8) => return malformed("it is not UTF-8".to_owned()),
                Err(StreamError::TooLong) => {
                    return too_long("a line", EVENT_LIMIT);
                }
            };
            match ResponseLine::parse(&event.data) {
                Ok(response) => {
                    let mut state = shared.state();
                    state.dispatch(
                        response,
                        event.data.len(),
                        |message| program.quoted(message),
                        program.name(),
                    );
                    if state.overdue_at().is_some() {
                        shared.begun.notify_one();
                    }
                    if state.stray > MAX_STRAY_BYTES {
                        return too_long("answers without a pending request", MAX_STRAY_BYTES);
                    }
                }
                Err(_) if length == 0 => break,
                Err(reason) => return malformed(reason),
            }
        }
        if length == 0 {
            let closed = malformed("it closed its standard output".to_owned());
            return tokio::time::timeout(EXIT_TIMEOUT, child.wait()).await.unwrap_or(closed);
        }
    }
}
