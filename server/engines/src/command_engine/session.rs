//! One running program, and the questions that it was asked.
//!
//! A task of its own reads and writes; whoever asks only ever touches the state that they share, so nobody waits for the program but
//! whose question it is. Dropping the [`Session`] ends the task, and with it the program.

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

/// Longest text of an answer, bytes; what is longer is no completion.
const TEXT_LIMIT: usize = 1 << 20;

/// A program that writes more than this for nobody will not stop by itself, bytes.
const STRAY_LIMIT: usize = 16 << 20;

/// What is read at once, bytes.
const CHUNK: usize = 16 << 10;

/// A program that closes its standard output is about to end.
const END: Duration = Duration::from_secs(1);

/// A program that began an answer and has never ended one is given this long between two pieces. Models write several tokens a second;
/// an answer that nothing ends would only be noticed at its deadline, question after question.
const BETWEEN_PIECES: Duration = Duration::from_secs(10);

/// What lines are expected to be.
const EXPECTED: &str = "lines of its protocol";

/// A program that runs.
pub(super) struct Session {
    shared: Arc<Shared>,
    program: Program,
    started: Instant,
    /// The task hears when this is dropped.
    _alive: oneshot::Sender<()>,
}

/// What comes of a question.
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
    /// Something stands in the outbox.
    ready: Notify,
    /// A first answer has begun.
    begun: Notify,
}

#[derive(Default)]
struct State {
    /// Questions without a whole answer, in the order in which they were asked.
    open: BTreeMap<u64, Open>,
    /// What is to be written.
    outbox: VecDeque<Outgoing>,
    /// Whether it ever gave an answer.
    has_answered: bool,
    /// Whether it ever ended an answer, if only with an error.
    has_ended_one: bool,
    /// Questions whose deadline passed since it last said anything.
    unanswered: u32,
    /// Bytes that answered no open question since it last answered one.
    stray: usize,
    /// Why it ended.
    end: Option<ProgramFault>,
}

struct Open {
    tell: mpsc::UnboundedSender<Heard>,
    /// Bytes of the answer so far.
    length: usize,
    /// When something was last said about it.
    latest: Option<Instant>,
}

struct Outgoing {
    /// The question that is asked by this line.
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

    /// Why it ended, if it has.
    pub(super) fn end(&self) -> Option<ProgramFault> {
        self.shared.state().end.clone()
    }

    /// Whether it ever gave an answer.
    pub(super) fn has_answered(&self) -> bool {
        self.shared.state().has_answered
    }

    /// How many questions in a row passed their deadline without a word of it.
    pub(super) fn unanswered(&self) -> u32 {
        self.shared.state().unanswered
    }

    /// For how long it has been running.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// What there is to say of a program that says nothing.
    pub(super) fn silent(&self, waited: Duration) -> ProgramFault {
        ProgramFault::Unanswered {
            program: self.program.name().to_owned(),
            missing: "answered no question",
            waited,
            remedy: "it has to write each answer to its standard output and flush it (docs/command-engine.md), and `start_timeout_ms` gives it more time to load",
        }
    }

    /// Asks a question; nothing of it blocks.
    pub(super) fn ask(&self, id: u64, line: Vec<u8>, deadline: Option<Instant>) -> Question {
        let (tell, heard) = mpsc::unbounded_channel();
        let mut state = self.shared.state();
        // One that has ended hears no more: the question's channel is closed.
        if state.end.is_none() {
            state.open.insert(id, Open { tell, length: 0, latest: None });
            state.outbox.push_back(Outgoing { question: Some(id), line });
            self.shared.ready.notify_one();
        }
        drop(state);
        Question { id, deadline, heard, shared: Arc::clone(&self.shared) }
    }
}

/// A question under way. Dropping it takes it back.
pub(super) struct Question {
    id: u64,
    deadline: Option<Instant>,
    heard: mpsc::UnboundedReceiver<Heard>,
    shared: Arc<Shared>,
}

impl Question {
    /// What comes next; `None` when the program ended in good order before it took notice.
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
    /// A question that was not written yet never will be; the program is told of any other.
    fn take_back(&mut self, id: u64) {
        let waiting = self.outbox.len();
        self.outbox.retain(|outgoing| outgoing.question != Some(id));
        if self.outbox.len() == waiting {
            self.outbox.push_back(Outgoing { question: None, line: line::cancel(id) });
        }
    }

    /// Hands a line to whom it belongs. What answers no open question goes nowhere.
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
            // Whoever asked may just be leaving.
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

    /// When a program that has never ended an answer has waited too long to continue one; `None` if it has begun none.
    fn overdue_at(&self) -> Option<Instant> {
        let begun = self.open.values().filter_map(|open| open.latest);
        begun.min().filter(|_| !self.has_ended_one).map(|latest| latest + BETWEEN_PIECES)
    }

    /// Tells all who wait. Questions that a program passed over which answered others can be asked again.
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

    /// Returns when a first answer is begun and neither continued nor ended.
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

    /// The next line to be written.
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

/// Until the program ends, breaks its protocol, or nobody has it any more.
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

/// Writes whatever is to be written. A program that reads no more may still write, so this never returns.
async fn write(mut stdin: ChildStdin, shared: &Shared) -> ProgramFault {
    loop {
        let line = shared.outgoing().await;
        if stdin.write_all(&line).await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Reads all lines, and tells how that ended.
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
                // What breaks off in the middle of a line is an end like any other.
                Err(_) if length == 0 => break,
                Err(Unreadable::NotUtf8) => return malformed("it is no UTF-8".to_owned()),
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
                        return too_long("answers that nobody waits for,", STRAY_LIMIT);
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
