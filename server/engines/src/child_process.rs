//! Runs the child processes of engines: starts them, reports why they ended, and leaves none behind.
//!
//! ```text
//! Program --start--> ChildProcess + ChildPipes (stdin, stdout)
//!                      |  keeper: drains stderr, keeps its last lines, waits for the end
//!                      +--dropped--> the whole group is killed
//! ```
//!
//! A program is started directly, without a shell. Its standard error never blocks it and is kept for messages only, without
//! the values of its environment variables, which may be keys. It never outlives its [`ChildProcess`] or this process, however that
//! ends. On Unix the same holds for its own child processes unless they leave its process group. On Windows only the program
//! itself is killed, and only when the `ChildProcess` is dropped.
//!
//! This module knows no protocol and restarts nothing: [`RestartBackoff`](restart_backoff::RestartBackoff) decides when a program that keeps ending may be started
//! again.

mod error;
#[cfg(not(unix))]
mod fallback;
mod find_program;
pub(crate) mod restart_backoff;
#[cfg(unix)]
mod unix;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::Secret;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};

use crate::http::Redactor;

pub use error::ProgramError;

#[cfg(not(unix))]
use fallback::ProcessGroup;
#[cfg(unix)]
use unix::ProcessGroup;

/// Bytes of standard error that are kept: the last lines, of which messages quote one.
const MAX_STDERR_BYTES: usize = 4 << 10;

/// Time to drain standard error after the program has ended: another process may still hold it open.
const STDERR_TIMEOUT: Duration = Duration::from_millis(100);

/// A configured program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Additional environment variables.
    pub env: BTreeMap<String, Secret>,
    /// Working directory; default: that of this process.
    pub folder: Option<PathBuf>,
}

impl Program {
    /// Name in messages.
    pub(crate) fn name(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// The part of the command line that can change its behaviour, the same on every machine.
    pub(crate) fn description(&self) -> String {
        let file = Path::new(self.name()).file_name().map(|name| name.to_string_lossy().into_owned());
        let words: Vec<String> = file.into_iter().chain(self.command.iter().skip(1).cloned()).collect();
        self.without_keys(&words.join(" "))
    }

    /// Redacts the values of its environment variables, which may be keys.
    pub(crate) fn without_keys(&self, text: &str) -> String {
        self.secrets().redact(text)
    }

    /// Returns the first line of the program's output, redacted.
    pub(crate) fn quoted(&self, text: &str) -> String {
        self.secrets().quoted(text)
    }

    fn secrets(&self) -> Redactor {
        Redactor::new(None, self.env.values(), std::iter::empty())
    }

    /// Returns the executable file, if it exists.
    pub fn file(&self) -> Option<PathBuf> {
        find_program::program_file(self)
    }

    /// Checks that the executable exists and may be run.
    pub fn check(&self) -> Result<(), ProgramError> {
        find_program::check(self)
    }
}

/// A running program. Dropping it kills the process group.
pub(crate) struct ChildProcess {
    stderr: Arc<StderrTail>,
    ended: watch::Receiver<Option<ProgramError>>,
    /// Dropping this signals the keeper.
    _alive: oneshot::Sender<()>,
}

/// A program's pipes. Closing its standard input means that no more requests will come.
pub(crate) struct ChildPipes {
    /// Its standard input.
    pub(crate) stdin: ChildStdin,
    /// Its standard output.
    pub(crate) stdout: ChildStdout,
}

impl ChildProcess {
    /// Starts a program. Requires a runtime, on which its keeper runs.
    pub(crate) fn start(program: &Program) -> Result<(ChildProcess, ChildPipes), ProgramError> {
        let mut process = command(program).spawn().map_err(|error| {
            find_program::check(program).err().unwrap_or_else(|| not_started(program, &error))
        })?;
        let group = ProcessGroup::of(&process);
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(not_started(program, &"it has no pipes"));
        };
        let stderr_tail = Arc::new(StderrTail::new(program));
        let (tell, ended) = watch::channel(None);
        let (alive, dropped) = oneshot::channel();
        tokio::spawn(supervise(process, group, Arc::clone(&stderr_tail), dropped, tell));
        Ok((ChildProcess { stderr: stderr_tail, ended, _alive: alive }, ChildPipes { stdin, stdout }))
    }

    /// Waits for the program to end, and returns how it ended.
    pub(crate) async fn wait(&self) -> ProgramError {
        let mut ended = self.ended.clone();
        let fault = ended.wait_for(Option::is_some).await.ok().and_then(|fault| fault.clone());
        // The keeper is gone only if its runtime has shut down.
        fault.unwrap_or_else(|| self.stderr.exit_error("with Ghostbench"))
    }

    /// Returns the last complete line of standard error, redacted.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.stderr.last_line()
    }
}

fn command(program: &Program) -> Command {
    let mut command = Command::new(program.name());
    command.args(program.command.iter().skip(1));
    command.envs(program.env.iter().map(|(name, value)| (name, value.expose())));
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    ProcessGroup::begin(&mut command);
    command
}

fn not_started(program: &Program, reason: &dyn fmt::Display) -> ProgramError {
    ProgramError::NotStarted { program: program.name().to_owned(), reason: reason.to_string() }
}

/// The end of a program's standard error.
struct StderrTail {
    program: String,
    secrets: Redactor,
    bytes: Mutex<VecDeque<u8>>,
}

impl StderrTail {
    fn new(program: &Program) -> StderrTail {
        StderrTail { program: program.name().to_owned(), secrets: program.secrets(), bytes: Mutex::default() }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(MAX_STDERR_BYTES);
        kept.drain(..surplus);
    }

    fn last_line(&self) -> Option<String> {
        let kept: Vec<u8> = {
            let kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            kept.iter().copied().collect()
        };
        let text = String::from_utf8_lossy(&kept);
        // A line without its beginning may contain half a key, which can't be recognized.
        let whole = if kept.len() < MAX_STDERR_BYTES { &*text } else { text.split_once('\n')?.1 };
        // Redact before splitting into lines: a key may have several lines.
        let whole = self.secrets.redact(whole);
        let line = whole.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(self.secrets.quoted(line))
    }

    fn exit_error(&self, how: &str) -> ProgramError {
        ProgramError::Ended {
            program: self.program.clone(),
            how: how.to_owned(),
            last_line: self.last_line(),
        }
    }
}

/// Supervises a program until it exits or its `ChildProcess` is dropped.
async fn supervise(
    mut process: tokio::process::Child,
    group: ProcessGroup,
    stderr_tail: Arc<StderrTail>,
    dropped: oneshot::Receiver<()>,
    tell: watch::Sender<Option<ProgramError>>,
) {
    let mut stderr = process.stderr.take();
    let hearing = async {
        read_stderr(stderr.as_mut(), &stderr_tail).await;
        std::future::pending().await
    };
    let status = tokio::select! {
        status = process.wait() => status,
        status = hearing => status,
        _ = dropped => {
            drop(group);
            // It is our child process, so it can be waited for.
            let _ = process.wait().await;
            return;
        }
    };
    // Kill the remaining group, which holds standard error open.
    drop(group);
    let _ = tokio::time::timeout(STDERR_TIMEOUT, read_stderr(stderr.as_mut(), &stderr_tail)).await;
    let how = match status.as_ref().map(ExitStatus::code) {
        Ok(Some(code)) => format!("with exit code {code}"),
        _ => status.map_or_else(|error| error.to_string(), |status| format!("by {status}")),
    };
    // The receiver may have been dropped.
    let _ = tell.send(Some(stderr_tail.exit_error(&how)));
}

/// Reads a program's standard error to its end.
async fn read_stderr(stderr: Option<&mut ChildStderr>, stderr_tail: &StderrTail) {
    let Some(stderr) = stderr else { return };
    let mut bytes = [0; MAX_STDERR_BYTES];
    while let Ok(length @ 1..) = stderr.read(&mut bytes).await {
        stderr_tail.push(&bytes[..length]);
    }
}

#[cfg(all(test, unix))]
mod tests;
