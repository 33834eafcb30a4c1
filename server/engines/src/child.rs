//! Programs that engines run: starting them, hearing why they ended, and leaving none behind.
//!
//! ```text
//! Program --start--> Child + Pipes (stdin, stdout)
//!                      |  keeper: drains stderr, keeps its last lines, waits for the end
//!                      +--dropped--> the whole group is killed
//! ```
//!
//! A program is started directly, by no shell. What it writes to its standard error never blocks it and is kept for messages alone,
//! without the values of its environment that may be keys. It lives no longer than its [`Child`], and no longer than this process,
//! however that ends; on Unix neither do the programs that it started itself, unless they leave its process group. On Windows only the
//! program itself is killed, and only when the `Child` is dropped.
//!
//! What is said through the pipes is none of this module's business, and it starts nothing of its own accord: [`Restarts`] tells when
//! a program that keeps ending may be started again.

mod fault;
mod find;
#[cfg(not(unix))]
mod other;
pub(crate) mod restarts;
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

use crate::http::Secrets;

pub use fault::ProgramFault;

#[cfg(not(unix))]
use other::Group;
#[cfg(unix)]
use unix::Group;

/// How much of its standard error is kept, bytes: the last lines, of which messages show one.
const KEPT: usize = 4 << 10;

/// Somebody else may hold a program's standard error open when it has ended; its last words are there by then.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A program as somebody configured it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The program, and its arguments.
    pub command: Vec<String>,
    /// Variables of its environment besides ours.
    pub env: BTreeMap<String, Secret>,
    /// The folder that it runs in; ours where none is said.
    pub folder: Option<PathBuf>,
}

impl Program {
    /// What it is called in messages.
    pub(crate) fn name(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// What of its command line can change what it does, the same on every machine.
    pub(crate) fn described(&self) -> String {
        let file = Path::new(self.name()).file_name().map(|name| name.to_string_lossy().into_owned());
        let words: Vec<String> = file.into_iter().chain(self.command.iter().skip(1).cloned()).collect();
        self.without_keys(&words.join(" "))
    }

    /// A text without the values of its variables, which may be keys.
    pub(crate) fn without_keys(&self, text: &str) -> String {
        self.secrets().removed_from(text)
    }

    /// The first line of what it says, without the values of its variables.
    pub(crate) fn quoted(&self, text: &str) -> String {
        self.secrets().quoted(text)
    }

    fn secrets(&self) -> Secrets {
        Secrets::new(None, self.env.values(), std::iter::empty())
    }

    /// The file that would be started, if there is one.
    pub fn file(&self) -> Option<PathBuf> {
        find::file(self)
    }

    /// Whether it could be started, as far as its file tells.
    pub fn check(&self) -> Result<(), ProgramFault> {
        find::check(self)
    }
}

/// A program that runs. Dropping it kills it, with all that it started.
pub(crate) struct Child {
    said: Arc<Said>,
    ended: watch::Receiver<Option<ProgramFault>>,
    /// The keeper hears when this is dropped.
    _alive: oneshot::Sender<()>,
}

/// The ways to talk to a program. Closing its standard input tells it that nobody will ask any more.
pub(crate) struct Pipes {
    /// What it reads.
    pub(crate) stdin: ChildStdin,
    /// What it writes.
    pub(crate) stdout: ChildStdout,
}

impl Child {
    /// Starts a program. Needs a runtime, which looks after it.
    pub(crate) fn start(program: &Program) -> Result<(Child, Pipes), ProgramFault> {
        let mut process = command(program)
            .spawn()
            .map_err(|error| find::check(program).err().unwrap_or_else(|| not_started(program, &error)))?;
        let group = Group::of(&process);
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(not_started(program, &"it has no pipes"));
        };
        let said = Arc::new(Said::new(program));
        let (tell, ended) = watch::channel(None);
        let (alive, dropped) = oneshot::channel();
        tokio::spawn(keep(process, group, Arc::clone(&said), dropped, tell));
        Ok((Child { said, ended, _alive: alive }, Pipes { stdin, stdout }))
    }

    /// Waits for its end, and tells how it ended.
    pub(crate) async fn ended(&self) -> ProgramFault {
        let mut ended = self.ended.clone();
        let fault = ended.wait_for(Option::is_some).await.ok().and_then(|fault| fault.clone());
        // Without its keeper, the runtime that ran it is gone.
        fault.unwrap_or_else(|| self.said.ended("with Ghostbench"))
    }

    /// The last whole line of its standard error, without keys.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.said.last_line()
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
    Group::begin(&mut command);
    command
}

fn not_started(program: &Program, reason: &dyn fmt::Display) -> ProgramFault {
    ProgramFault::NotStarted { program: program.name().to_owned(), reason: reason.to_string() }
}

/// What a program wrote to its standard error last.
struct Said {
    program: String,
    secrets: Secrets,
    kept: Mutex<VecDeque<u8>>,
}

impl Said {
    fn new(program: &Program) -> Said {
        Said { program: program.name().to_owned(), secrets: program.secrets(), kept: Mutex::default() }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    fn last_line(&self) -> Option<String> {
        let kept: Vec<u8> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.iter().copied().collect()
        };
        let text = String::from_utf8_lossy(&kept);
        // A line of which the beginning is lost may hold half a key, which nobody would know again.
        let whole = if kept.len() < KEPT { &*text } else { text.split_once('\n')?.1 };
        // Before it is split into lines: keys of several lines exist.
        let whole = self.secrets.removed_from(whole);
        let line = whole.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(self.secrets.quoted(line))
    }

    fn ended(&self, how: &str) -> ProgramFault {
        ProgramFault::Ended { program: self.program.clone(), how: how.to_owned(), said: self.last_line() }
    }
}

/// Looks after a program until it has ended, by itself or because nobody has it any more.
async fn keep(
    mut process: tokio::process::Child,
    group: Group,
    said: Arc<Said>,
    dropped: oneshot::Receiver<()>,
    tell: watch::Sender<Option<ProgramFault>>,
) {
    let mut stderr = process.stderr.take();
    let hearing = async {
        hear(stderr.as_mut(), &said).await;
        std::future::pending().await
    };
    let status = tokio::select! {
        status = process.wait() => status,
        status = hearing => status,
        _ = dropped => {
            drop(group);
            // It is ours, so it can be waited for.
            let _ = process.wait().await;
            return;
        }
    };
    // What it left behind serves nobody, and holds its standard error open.
    drop(group);
    let _ = tokio::time::timeout(LAST_WORDS, hear(stderr.as_mut(), &said)).await;
    let how = match status.as_ref().map(ExitStatus::code) {
        Ok(Some(code)) => format!("with exit code {code}"),
        _ => status.map_or_else(|error| error.to_string(), |status| format!("by {status}")),
    };
    // Whoever had the child may have dropped it just now.
    let _ = tell.send(Some(said.ended(&how)));
}

/// Takes down all that a program writes to its standard error.
async fn hear(stderr: Option<&mut ChildStderr>, said: &Said) {
    let Some(stderr) = stderr else { return };
    let mut bytes = [0; KEPT];
    while let Ok(length @ 1..) = stderr.read(&mut bytes).await {
        said.push(&bytes[..length]);
    }
}

#[cfg(all(test, unix))]
mod tests;
