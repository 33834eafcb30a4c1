//! The process of the Python package, which connects to the cluster: starts it, talks to it, ends it.
//!
//! It ends with its standard input, so it does not outlive this process, however that ends. It is no part of the terminal's process group:
//! Ctrl-C stops new batches here, and lets those in flight finish there.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::ClusterError;
use crate::messages::{ClusterJob, DriverVersions, FromDriver, ToDriver, next_line, to_line};

/// Module of the Python package.
const MODULE: &str = "ghostbench_ray";

/// Time without a message after which the package counts as dead. It sends one every few seconds, except while Ray connects.
const SILENCE: Duration = Duration::from_secs(180);

/// Time for the package to end the workers.
const END: Duration = Duration::from_secs(30);

/// Time for Python to start and to look for its packages.
const VERSIONS: Duration = Duration::from_secs(60);

/// Messages that are read ahead.
const READ_AHEAD: usize = 64;

/// Lines of standard error that are kept for messages, and their maximum length in bytes.
const STDERR_LINES: usize = 3;
const STDERR_LINE_BYTES: usize = 400;

type ErrorLines = Arc<Mutex<VecDeque<String>>>;

/// The connection to the package's process. Dropping it kills the process.
pub(crate) struct RayDriver {
    program: PathBuf,
    child: Child,
    stdin: ChildStdin,
    messages: mpsc::Receiver<Result<FromDriver, ClusterError>>,
    errors: ErrorLines,
}

impl RayDriver {
    /// Starts the package for a job. Returns once it has reported its versions.
    pub(crate) async fn start(program: &Path, job: &ClusterJob) -> Result<RayDriver, ClusterError> {
        let mut child = command(program, &[])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|reason| ClusterError::Python { program: program.to_owned(), reason })?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdin, stdout) = stdin.zip(stdout).expect("both are piped");
        let errors = ErrorLines::default();
        stderr.map(|stderr| tokio::spawn(keep_last_lines(stderr, Arc::clone(&errors))));
        let (sender, messages) = mpsc::channel(READ_AHEAD);
        tokio::spawn(read_messages(stdout, sender));
        let mut driver = RayDriver { program: program.to_owned(), child, stdin, messages, errors };
        driver.check_versions().await?;
        driver.send(&ToDriver::Start(job)).await?;
        Ok(driver)
    }

    async fn check_versions(&mut self) -> Result<(), ClusterError> {
        match self.next().await {
            Ok(FromDriver::Hello(versions)) => check(&self.program, &versions),
            Ok(FromDriver::Fatal { text: reason }) => Err(ClusterError::Cluster { reason }),
            Ok(_) | Err(ClusterError::Ended { .. } | ClusterError::Message(_)) => {
                Err(package_error(&self.program, &self.last_errors()))
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &ToDriver<'_>) -> Result<(), ClusterError> {
        let line = to_line(message);
        match self.stdin.write_all(line.as_bytes()).await {
            Ok(()) => Ok(()),
            // It has ended; its last messages explain why.
            Err(_) => loop {
                if let FromDriver::Fatal { text: reason } = self.next().await? {
                    return Err(ClusterError::Cluster { reason });
                }
            },
        }
    }

    /// Waits for the next message. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Result<FromDriver, ClusterError> {
        match timeout(SILENCE, self.messages.recv()).await {
            Err(_) => Err(ClusterError::Silent { seconds: SILENCE.as_secs() }),
            Ok(Some(message)) => message,
            Ok(None) => Err(self.ended().await),
        }
    }

    /// Ends the workers and the process.
    pub(crate) async fn stop(mut self) {
        // It may have ended already.
        let _ = self.send(&ToDriver::Stop).await;
        drop(self.stdin);
        // If it does not end in time, it is killed on drop; Ray then ends the workers.
        let _ = timeout(END, self.child.wait()).await;
    }

    async fn ended(&mut self) -> ClusterError {
        let status = timeout(END, self.child.wait()).await;
        let status = match status {
            Ok(Ok(status)) => status.to_string(),
            _ => "its output is closed".to_owned(),
        };
        let errors = self.last_errors();
        let reason = if errors.is_empty() { status } else { format!("{errors} ({status})") };
        ClusterError::Ended { reason }
    }

    fn last_errors(&self) -> String {
        let lines = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }
}

/// Returns the versions of the package and of its dependencies in this Python.
///
/// # Errors
///
/// Python cannot be started, or does not have the package of this version.
pub async fn versions(program: &Path) -> Result<DriverVersions, ClusterError> {
    let output = command(program, &["--versions"]).stdin(Stdio::null()).output();
    let output = match timeout(VERSIONS, output).await {
        Ok(output) => {
            output.map_err(|reason| ClusterError::Python { program: program.to_owned(), reason })?
        }
        Err(_) => return Err(package_error(program, "it does not answer")),
    };
    let Ok(versions) = serde_json::from_slice(&output.stdout) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(package_error(program, errors.lines().last().unwrap_or("no output")));
    };
    check(program, &versions)?;
    Ok(versions)
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["-m", MODULE]).args(arguments).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

fn check(program: &Path, versions: &DriverVersions) -> Result<(), ClusterError> {
    let ours = env!("CARGO_PKG_VERSION");
    if versions.ghostbench_ray != ours {
        let theirs = versions.ghostbench_ray.clone();
        return Err(ClusterError::Version { program: program.to_owned(), theirs, ours });
    }
    let needed = [("ray", &versions.ray), ("pyarrow", &versions.pyarrow)];
    match needed.iter().find(|(_, version)| version.is_none()) {
        Some((name, _)) => Err(package_error(program, &format!("`{name}` is not installed"))),
        None => Ok(()),
    }
}

fn package_error(program: &Path, reason: &str) -> ClusterError {
    let reason = if reason.is_empty() { "it printed nothing" } else { reason };
    ClusterError::Package {
        program: program.to_owned(),
        reason: reason.to_owned(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

async fn read_messages(stdout: ChildStdout, messages: mpsc::Sender<Result<FromDriver, ClusterError>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let message = match next_line(&mut reader).await {
            Ok(None) => break,
            Ok(Some(line)) => serde_json::from_slice(&line).map_err(ClusterError::from),
            Err(error) => Err(error.into()),
        };
        let failed = message.is_err();
        if messages.send(message).await.is_err() || failed {
            break;
        }
    }
}

async fn keep_last_lines(stderr: ChildStderr, kept: ErrorLines) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        if text.is_empty() {
            continue;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(text[..text.floor_char_boundary(STDERR_LINE_BYTES)].to_owned());
        if kept.len() > STDERR_LINES {
            kept.pop_front();
        }
    }
}
