//! A command whose sandbox is made before the command may start.
//!
//! Making a sandbox takes tens of milliseconds, in which another command can run. The first process in the sandbox waits for a byte on
//! its standard input; if it ends instead, the command never starts.

use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::active_time::ActiveTime;
use crate::outcome::{CommandOutcome, Exit};
use crate::sandbox::SandboxError;
use crate::spec;

/// Time beyond the limit of a command after which the sandbox itself is killed: its first process did not.
const GRACE: Duration = Duration::from_secs(10);

/// Bytes of an outcome; reports and output are limited inside.
const MAX_OUTCOME_BYTES: u64 = 256 << 20;

/// Control groups, on Linux.
#[cfg(target_os = "linux")]
type Groups = crate::linux::cgroup::Cgroups;
#[cfg(not(target_os = "linux"))]
type Groups = ();

/// A process that makes a sandbox for a command, and what must stay while it runs.
pub(crate) struct SandboxProcess {
    /// The process.
    pub(crate) command: Command,
    /// The description on its standard input.
    pub(crate) spec: String,
    /// Wall time of the command in the sandbox.
    pub(crate) time_limit: Duration,
    /// Limits of its processes.
    pub(crate) groups: Groups,
    /// The copy of the workspace, where there are no overlays.
    pub(crate) copy: Option<TempDir>,
}

/// A command in a sandbox, to be [started](PreparedCommand::start). Dropping it ends the sandbox.
///
/// The thread that prepared it must live until it has ended: the sandbox ends with that thread.
#[derive(Debug)]
pub struct PreparedCommand {
    child: Child,
    may_start: mpsc::Sender<()>,
    time_limit: Duration,
    outcome: Option<JoinHandle<Vec<u8>>>,
    messages: Option<JoinHandle<Vec<u8>>>,
    stop: CancellationToken,
    _groups: Groups,
    _copy: Option<TempDir>,
}

impl PreparedCommand {
    pub(crate) fn new(
        process: SandboxProcess,
        stop: CancellationToken,
    ) -> Result<PreparedCommand, SandboxError> {
        let SandboxProcess { mut command, spec, time_limit, groups, copy } = process;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in a terminal goes to all processes of its group: running tests end by themselves.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| SandboxError::Failed {
            reason: format!("cannot start {}: {error}", command.get_program().display()),
        })?;
        let mut stdin = child.stdin.take().expect("standard input is piped");
        let stdout = child.stdout.take().expect("standard output is piped");
        let stderr = child.stderr.take().expect("standard error is piped");
        let (may_start, started) = mpsc::channel();
        // A sandbox that ends at once does not read its input; its message says why.
        thread::spawn(move || {
            let written = spec::write_framed(&mut stdin, &spec);
            if written.is_ok() && started.recv().is_ok() {
                let _ = stdin.write_all(&[spec::START]);
            }
        });
        Ok(PreparedCommand {
            child,
            may_start,
            time_limit,
            outcome: Some(read(stdout, MAX_OUTCOME_BYTES)),
            messages: Some(read(stderr, 64 << 10)),
            stop,
            _groups: groups,
            _copy: copy,
        })
    }

    /// Lets the command start, once its sandbox is ready. Does not block.
    pub fn start(&self) {
        let _ = self.may_start.send(());
    }

    /// Waits until the started command has ended.
    ///
    /// # Errors
    ///
    /// The sandbox failed, or was stopped.
    pub fn outcome(mut self) -> Result<CommandOutcome, SandboxError> {
        let mut time = ActiveTime::start(Instant::now());
        let status = self.wait(&mut time);
        let text =
            |thread: Option<JoinHandle<Vec<u8>>>| thread.and_then(|it| it.join().ok()).unwrap_or_default();
        let (outcome, messages) = (text(self.outcome.take()), text(self.messages.take()));
        if status.is_none() && self.stop.is_cancelled() {
            return Err(SandboxError::Stopped);
        }
        if let Ok(outcome) = serde_json::from_slice::<CommandOutcome>(&outcome) {
            return Ok(outcome);
        }
        let messages = String::from_utf8_lossy(&messages).trim().to_owned();
        let wall = time.elapsed(Instant::now());
        let lost = |exit| CommandOutcome {
            exit,
            output: String::new(),
            reports: Vec::new(),
            wall,
            peak_memory_bytes: 0,
        };
        match status {
            None => Ok(lost(Exit::TimedOut)),
            // The kernel kills a sandbox that exceeds the memory of its group, with the process that watches it.
            Some(status) if is_killed(status) && messages.is_empty() => Ok(lost(Exit::OutOfMemory)),
            Some(_) => {
                let reason =
                    if messages.is_empty() { "it ended without an outcome".to_owned() } else { messages };
                Err(SandboxError::Failed { reason })
            }
        }
    }

    /// Returns how the sandbox ended; `None` if it had to be killed.
    fn wait(&mut self, time: &mut ActiveTime) -> Option<ExitStatus> {
        let deadline = self.time_limit + GRACE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if time.elapsed(Instant::now()) < deadline && !self.stop.is_cancelled() => {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(None) | Err(_) => {
                    self.kill();
                    return None;
                }
            }
        }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for PreparedCommand {
    fn drop(&mut self) {
        // Before its groups and its copy are removed.
        self.kill();
    }
}

fn read(reader: impl Read + Send + 'static, max: u64) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = reader.take(max).read_to_end(&mut text);
        text
    })
}

/// Whether a process was killed; the process that waits for the sandbox ends with 128 and the signal of its first process.
fn is_killed(status: ExitStatus) -> bool {
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&status).is_some() {
        return true;
    }
    status.code().is_some_and(|code| code > 128)
}
