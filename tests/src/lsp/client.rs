//! A client that drives one server and keeps account of every message.

use std::collections::BTreeSet;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::frames;
use super::inbox::{Mail, take_first};
use super::line::{Line, lock};
use super::setup::Setup;
use crate::Outcome;
use crate::process::{TIME_LIMIT, read_in_background, text_of, wait_at_most};

/// A server and the client's side of the conversation.
///
/// Dropping it ends the server by protocol and asserts that it behaved: every request answered, once; every message read by
/// the test or allowed in the [`Setup`]; exit code 0.
pub struct Client {
    setup: Setup,
    child: Arc<Mutex<Child>>,
    line: Arc<Line>,
    next_id: AtomicI64,
    pending: Mutex<BTreeSet<i64>>,
    reader: Option<JoinHandle<()>>,
    stderr: Option<JoinHandle<String>>,
    is_over: bool,
    /// Disconnects when the client goes, which calls the watchdog off.
    _alive: Sender<()>,
}

impl Client {
    /// Starts a server and says nothing yet.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[track_caller]
    pub fn spawn(mut command: Command, mut setup: Setup) -> Client {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        let stdout = child.stdout.take().expect("the output is piped");
        let stderr = child.stderr.take().map(read_in_background);
        let line = Arc::new(Line::new(child.stdin.take()));
        let manners = std::mem::take(&mut setup.manners);
        let reader = {
            let line = Arc::clone(&line);
            thread::spawn(move || line.read_to_end(stdout, &manners))
        };
        let child = Arc::new(Mutex::new(child));
        let alive = kill_after(TIME_LIMIT, Arc::clone(&child));
        Client {
            setup,
            child,
            line,
            next_id: AtomicI64::new(1),
            pending: Mutex::default(),
            reader: Some(reader),
            stderr,
            is_over: false,
            _alive: alive,
        }
    }

    /// Starts a server and introduces itself; also gives what the server introduced itself with.
    ///
    /// # Panics
    ///
    /// When the server cannot be started or refuses.
    #[track_caller]
    pub fn start(command: Command, setup: Setup) -> (Client, Value) {
        let client = Client::spawn(command, setup);
        let result = client.initialize();
        (client, result)
    }

    /// `initialize` and `initialized`.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    #[track_caller]
    pub fn initialize(&self) -> Value {
        let result = self.call("initialize", self.setup.initialize_params());
        self.notify("initialized", json!({}));
        result
    }

    /// The operating system's number for the server.
    pub fn process_id(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Sends a notification.
    #[track_caller]
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&message(method, params));
    }

    /// Sends a request; its answer must be waited for.
    #[track_caller]
    pub fn request(&self, method: &str, params: Value) -> i64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        lock(&self.pending).insert(id);
        let mut request = message(method, params);
        request["id"] = id.into();
        self.send(&request);
        id
    }

    /// Waits for the answer to a request: its result or its error.
    ///
    /// # Errors
    ///
    /// The server's error.
    ///
    /// # Panics
    ///
    /// When no answer comes.
    #[track_caller]
    pub fn wait(&self, id: i64) -> Result<Value, Value> {
        let mut response = self.wait_for_response(&id.into());
        lock(&self.pending).remove(&id);
        match response.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(response["result"].take()),
        }
    }

    /// Waits for a response with any id, for requests that were sent as [`Client::send`] sends them.
    ///
    /// # Panics
    ///
    /// When none comes, or one that is neither a result nor an error.
    #[track_caller]
    pub fn wait_for_response(&self, id: &Value) -> Value {
        let response = self.take(&format!("an answer to request {id}"), |mail| {
            take_first(&mut mail.responses, |response| response["id"] == *id)
        });
        let is_one_of_two = response.get("result").is_some() != response.get("error").is_some();
        assert!(is_one_of_two && response["jsonrpc"] == "2.0", "no response: {response}");
        response
    }

    /// Sends a request and waits for its result.
    ///
    /// # Panics
    ///
    /// When it is answered with an error, or not.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.wait(id).unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// Sends a request and waits for its error; gives the error's code.
    ///
    /// # Panics
    ///
    /// When it is answered with a result, or not.
    #[track_caller]
    pub fn call_in_vain(&self, method: &str, params: Value) -> i64 {
        let id = self.request(method, params);
        let error = self.wait(id).expect_err(method);
        error["code"].as_i64().unwrap_or_else(|| panic!("an error has a code: {error}"))
    }

    /// Tells the server that a request is of no use any more. It must be waited for all the same.
    #[track_caller]
    pub fn cancel(&self, id: i64) {
        self.notify("$/cancelRequest", json!({"id": id}));
    }

    /// Whether the answer to a request lies here unread.
    pub fn is_answered(&self, id: i64) -> bool {
        self.line.inbox.look(|mail| mail.responses.iter().any(|response| response["id"] == id))
    }

    /// Waits for the next notification of this name, and takes its parameters.
    ///
    /// # Panics
    ///
    /// When none comes.
    #[track_caller]
    pub fn expect_notification(&self, method: &str) -> Value {
        let mut notification = self.take(&format!("a notification {method}"), |mail| {
            take_first(&mut mail.notifications, |notification| notification["method"] == method)
        });
        notification["params"].take()
    }

    /// Waits for the next request of this name, which the client answers by itself, and takes its parameters.
    ///
    /// # Panics
    ///
    /// When none comes.
    #[track_caller]
    pub fn expect_request(&self, method: &str) -> Value {
        let mut request = self.take(&format!("a request {method}"), |mail| {
            take_first(&mut mail.requests, |request| request["method"] == method)
        });
        request["params"].take()
    }

    /// Sends any message.
    #[track_caller]
    pub fn send(&self, message: &Value) {
        self.send_body(message.to_string().as_bytes());
    }

    /// Sends anything with a correct header.
    #[track_caller]
    pub fn send_body(&self, body: &[u8]) {
        self.send_bytes(&frames::frame(body));
    }

    /// Sends anything.
    ///
    /// # Panics
    ///
    /// When the server does not take it.
    #[track_caller]
    pub fn send_bytes(&self, bytes: &[u8]) {
        assert!(self.try_send_bytes(bytes), "the server takes no more input");
    }

    /// Sends anything; false if the server takes no more.
    pub fn try_send_bytes(&self, bytes: &[u8]) -> bool {
        self.line.write(bytes)
    }

    /// Ends the server's input.
    pub fn close_stdin(&self) {
        self.line.close();
    }

    /// Leaves the server's output where it is from now on, until [`Client::read_on`] or the end.
    pub fn stop_reading(&self) {
        self.line.pause(true);
    }

    /// Reads the server's output again.
    pub fn read_on(&self) {
        self.line.pause(false);
    }

    /// Whether the server's process has ended.
    pub fn has_ended(&self) -> bool {
        self.exit_status().is_some()
    }

    /// `shutdown`: the server answers, and lives until `exit`.
    ///
    /// # Panics
    ///
    /// When it refuses.
    #[track_caller]
    pub fn shutdown(&self) {
        assert_eq!(self.call("shutdown", Value::Null), Value::Null);
    }

    /// `exit`, and waits for the end.
    ///
    /// # Panics
    ///
    /// When the server goes on, or when it did not behave.
    #[track_caller]
    pub fn exit(self) -> Outcome {
        self.notify("exit", Value::Null);
        self.wait_for_end()
    }

    /// Waits for the end of the server, and reads what it still said.
    ///
    /// # Panics
    ///
    /// When it goes on, or when it did not behave.
    #[track_caller]
    pub fn wait_for_end(mut self) -> Outcome {
        self.end()
    }

    /// Waits for the end of a server that was not given the chance to behave; what it said or did not say is of no account.
    ///
    /// # Panics
    ///
    /// When it goes on.
    #[track_caller]
    pub fn abandon(mut self) -> Outcome {
        self.outcome()
    }

    #[track_caller]
    fn end(&mut self) -> Outcome {
        let outcome = self.outcome();
        let stderr = &outcome.stderr;
        let pending = lock(&self.pending);
        assert!(pending.is_empty(), "nobody waited for the answers to {pending:?}\nstderr: {stderr}");
        let unread = self.line.inbox.look(Mail::unread);
        assert!(unread.is_empty(), "unread at the end: {unread:#?}\nstderr: {stderr}");
        outcome
    }

    #[track_caller]
    fn outcome(&mut self) -> Outcome {
        self.is_over = true;
        self.line.pause(false);
        wait_at_most(self.setup.time_limit, "the server ends", || self.has_ended());
        let status = self.exit_status().expect("it has ended");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
        Outcome { status, stdout: String::new(), stderr: text_of(self.stderr.take()) }
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        lock(&self.child).try_wait().expect("the child is ours")
    }

    #[track_caller]
    fn take(&self, what: &str, take: impl FnMut(&mut Mail) -> Option<Value>) -> Value {
        let found = self.line.inbox.wait(self.setup.time_limit, take);
        found.unwrap_or_else(|reason| panic!("waited for {what}: {reason}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if thread::panicking() {
            self.give_up();
            return;
        }
        self.shutdown();
        self.notify("exit", Value::Null);
        self.end().expect_code(0);
    }
}

impl Client {
    /// The test has failed already: what the server has to say may explain it.
    #[expect(clippy::print_stderr, reason = "a test that fails says why")]
    fn give_up(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = lock(&self.child).kill();
        let _ = lock(&self.child).wait();
        eprintln!("the server's stderr: {}", text_of(self.stderr.take()));
    }
}

/// A request without its id, or a notification. Absent parameters are left out, as the protocol asks.
fn message(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// Kills a child that takes too long, so that a test blocked on its pipes goes on; dropping the sender calls it off.
fn kill_after(limit: Duration, child: Arc<Mutex<Child>>) -> Sender<()> {
    let (alive, ended) = mpsc::channel();
    thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // It may have ended just now.
            let _ = lock(&child).kill();
        }
    });
    alive
}
