//! Child processes with a timeout, whose output is read while they run.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Timeout of every test process; generous for a busy machine.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(240);

/// Poll interval for events in another process.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Result of a finished process.
#[derive(Debug)]
pub struct ProcessOutcome {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// A running process. Dropping it kills it.
pub struct RunningProcess {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

impl RunningProcess {
    /// Starts a command and reads its output in the background.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    #[track_caller]
    pub fn start(mut command: Command) -> RunningProcess {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        let stdout = child.stdout.take().map(read_in_background);
        let stderr = child.stderr.take().map(read_in_background);
        RunningProcess { child, stdout, stderr }
    }

    /// Starts a command and closes the pipe of its standard output at once.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    #[track_caller]
    pub fn start_with_closed_stdout(mut command: Command) -> RunningProcess {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        drop(child.stdout.take());
        let stderr = child.stderr.take().map(read_in_background);
        RunningProcess { child, stdout: None, stderr }
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, as `kill -9` does.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[track_caller]
    pub fn kill(&mut self) {
        self.child.kill().expect("a child of ours can be killed");
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits for its end.
    ///
    /// # Panics
    ///
    /// On timeout.
    #[track_caller]
    pub fn wait(self) -> ProcessOutcome {
        self.wait_at_most(TIME_LIMIT)
    }

    /// Waits for its end with a shorter timeout, for processes that would harm the machine.
    ///
    /// # Panics
    ///
    /// On timeout.
    #[track_caller]
    pub fn wait_at_most(mut self, limit: Duration) -> ProcessOutcome {
        wait_at_most(limit, || self.has_ended(), || "the process ends".to_owned());
        let status = self.child.wait().expect("the process has ended");
        ProcessOutcome { status, stdout: text_of(self.stdout.take()), stderr: text_of(self.stderr.take()) }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a condition is true.
///
/// # Panics
///
/// On timeout.
#[track_caller]
pub fn wait_until(what: &str, is_true: impl FnMut() -> bool) {
    wait_at_most(TIME_LIMIT, is_true, || what.to_owned());
}

/// As [`wait_until`], with a time limit; `explain` says what is waited for, and may say what is seen instead.
#[track_caller]
pub(crate) fn wait_at_most(limit: Duration, mut is_true: impl FnMut() -> bool, explain: impl Fn() -> String) {
    let deadline = Instant::now() + limit;
    while !is_true() {
        assert!(Instant::now() < deadline, "waited {} s until {}", limit.as_secs(), explain());
        thread::sleep(POLL_INTERVAL);
    }
}

impl ProcessOutcome {
    /// Returns the exit code; `None` if a signal ended the process.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts the exit code and that nothing panicked.
    ///
    /// # Panics
    ///
    /// Otherwise, with the whole output.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> ProcessOutcome {
        let ProcessOutcome { stdout, stderr, .. } = &self;
        assert!(!stderr.contains("panicked"), "a panic\nstderr: {stderr}");
        assert_eq!(self.code(), Some(code), "exit code\nstdout: {stdout}\nstderr: {stderr}");
        self
    }

    /// Asserts that standard error contains all of `words`.
    ///
    /// # Panics
    ///
    /// Otherwise, with standard error.
    #[track_caller]
    pub fn expect_message(self, words: &[&str]) -> ProcessOutcome {
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in: {}", self.stderr);
        }
        self
    }
}

pub(crate) fn read_in_background(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A stream that breaks off keeps its text so far.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

pub(crate) fn text_of(reader: Option<JoinHandle<String>>) -> String {
    reader.map(|reader| reader.join().expect("readers do not panic")).unwrap_or_default()
}
