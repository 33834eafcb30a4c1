//! Child processes with a time limit, whose output is read while they run.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longer than any test needs on a busy machine; what takes longer hangs.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(240);

/// Time between two looks at something that happens in another process.
const POLL: Duration = Duration::from_millis(5);

/// What a finished process left behind.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it printed as errors.
    pub stderr: String,
}

/// A process under way; dropping it kills it.
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

impl Running {
    /// Starts a command and reads its output in the background.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub fn start(mut command: Command) -> Running {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        let stdout = child.stdout.take().map(read_in_background);
        let stderr = child.stderr.take().map(read_in_background);
        Running { child, stdout, stderr }
    }

    /// Starts a command whose standard output nobody reads: the pipe is closed at once.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub fn start_with_closed_stdout(mut command: Command) -> Running {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        drop(child.stdout.take());
        let stderr = child.stderr.take().map(read_in_background);
        Running { child, stdout: None, stderr }
    }

    /// The operating system's number for it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it without warning, as `kill -9` does.
    ///
    /// # Panics
    ///
    /// When it cannot be killed.
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
    /// When it takes longer than any test may.
    #[track_caller]
    pub fn wait(self) -> Outcome {
        self.wait_at_most(TIME_LIMIT)
    }

    /// Waits for its end, for what would harm the machine if it went on.
    ///
    /// # Panics
    ///
    /// When it takes longer than that.
    #[track_caller]
    pub fn wait_at_most(mut self, limit: Duration) -> Outcome {
        wait_at_most(limit, "the process ends", || self.has_ended());
        let status = self.child.wait().expect("the process has ended");
        Outcome { status, stdout: text_of(self.stdout.take()), stderr: text_of(self.stderr.take()) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is true.
///
/// # Panics
///
/// When that takes longer than any test may.
#[track_caller]
pub fn wait_until(what: &str, is_true: impl FnMut() -> bool) {
    wait_at_most(TIME_LIMIT, what, is_true);
}

#[track_caller]
pub(crate) fn wait_at_most(limit: Duration, what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !is_true() {
        assert!(Instant::now() < deadline, "waited {} s until {what}", limit.as_secs());
        thread::sleep(POLL);
    }
}

impl Outcome {
    /// The exit code; `None` when a signal ended the process.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Passes the outcome on if the exit code is the expected one and nothing panicked.
    ///
    /// # Panics
    ///
    /// Otherwise, with everything that was printed.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Outcome {
        let Outcome { stdout, stderr, .. } = &self;
        assert!(!stderr.contains("panicked"), "a panic\nstderr: {stderr}");
        assert_eq!(self.code(), Some(code), "exit code\nstdout: {stdout}\nstderr: {stderr}");
        self
    }

    /// Passes the outcome on if the errors name everything in `words`.
    ///
    /// # Panics
    ///
    /// Otherwise, with the errors.
    #[track_caller]
    pub fn expect_message(self, words: &[&str]) -> Outcome {
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in: {}", self.stderr);
        }
        self
    }
}

pub(crate) fn read_in_background(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A stream that breaks off gives what it gave until then.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

pub(crate) fn text_of(reader: Option<JoinHandle<String>>) -> String {
    reader.map(|reader| reader.join().expect("readers do not panic")).unwrap_or_default()
}
