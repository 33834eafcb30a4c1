//! A client that runs one server and tracks every message.

use std::collections::BTreeSet;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::client_setup::ClientSetup;
use super::frames;
use super::inbox::{InboxMessages, take_first};
use super::server_pipes::{ServerPipes, lock};
use crate::ProcessOutcome;
use crate::process::{read_in_background, text_of, wait_at_most};

/// A server and the client's end of the connection.
///
/// Dropping it shuts the server down by protocol and asserts that it behaved: every request was answered once; every message
/// was read by the test or allowed in the [`ClientSetup`]; exit code 0.
pub struct Client {
    setup: ClientSetup,
    child: Arc<Mutex<Child>>,
    pipes: Arc<ServerPipes>,
    next_id: AtomicI64,
    pending: Mutex<BTreeSet<i64>>,
    reader: Option<JoinHandle<()>>,
    stderr: Option<JoinHandle<String>>,
    is_over: bool,
    /// Dropping this stops the watchdog.
    _alive: Sender<()>,
}

impl Client {
    /// Starts a server without a handshake.
    ///
    /// # Panics
    ///
    /// If it can't be started.
    #[track_caller]
    pub fn spawn(mut command: Command, mut setup: ClientSetup) -> Client {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        let stdout = child.stdout.take().expect("the output is piped");
        let stderr = child.stderr.take().map(read_in_background);
        let line = Arc::new(ServerPipes::new(child.stdin.take()));
        let manners = std::mem::take(&mut setup.auto_replies);
        let reader = {
            let line = Arc::clone(&line);
            thread::spawn(move || line.read_to_end(stdout, &manners))
        };
        let child = Arc::new(Mutex::new(child));
        let alive = kill_after(setup.lifetime, Arc::clone(&child));
        Client {
            setup,
            child,
            pipes: line,
            next_id: AtomicI64::new(1),
            pending: Mutex::default(),
            reader: Some(reader),
            stderr,
            is_over: false,
            _alive: alive,
        }
    }

    /// Starts a server and completes the handshake; also returns the result of `initialize`.
    ///
    /// # Panics
    ///
    /// If the server can't be started or returns an error.
    #[track_caller]
    pub fn start(command: Command, setup: ClientSetup) -> (Client, Value) {
        let client = Client::spawn(command, setup);
        let result = client.initialize();
        (client, result)
    }

    /// Sends `initialize` and `initialized`.
    ///
    /// # Panics
    ///
    /// If the server returns an error.
    #[track_caller]
    pub fn initialize(&self) -> Value {
        let result = self.call("initialize", self.setup.initialize_params());
        self.notify("initialized", json!({}));
        result
    }

    /// Returns the server's process id.
    pub fn process_id(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Sends a notification.
    #[track_caller]
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&message(method, params));
    }

    /// Sends a request; the caller must wait for its response.
    #[track_caller]
    pub fn request(&self, method: &str, params: Value) -> i64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        lock(&self.pending).insert(id);
        let mut request = message(method, params);
        request["id"] = id.into();
        self.send(&request);
        id
    }

    /// Waits for the response to a request: its result or its error.
    ///
    /// # Errors
    ///
    /// The server's error.
    ///
    /// # Panics
    ///
    /// If no response arrives.
    #[track_caller]
    pub fn wait(&self, id: i64) -> Result<Value, Value> {
        let mut response = self.wait_for_response(&id.into());
        lock(&self.pending).remove(&id);
        match response.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(response["result"].take()),
        }
    }

    /// Waits for a response with any id, for requests sent by [`Client::send`].
    ///
    /// # Panics
    ///
    /// If none arrives, or one that is neither a result nor an error.
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
    /// If the response is an error, or none arrives.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.wait(id).unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// Sends a request and waits for its error; returns the error's code.
    ///
    /// # Panics
    ///
    /// If the response is a result, or none arrives.
    #[track_caller]
    pub fn call_expecting_error(&self, method: &str, params: Value) -> i64 {
        let id = self.request(method, params);
        let error = self.wait(id).expect_err(method);
        error["code"].as_i64().unwrap_or_else(|| panic!("an error has a code: {error}"))
    }

    /// Cancels a request. The caller must still wait for its response.
    #[track_caller]
    pub fn cancel(&self, id: i64) {
        self.notify("$/cancelRequest", json!({"id": id}));
    }

    /// Whether there is an unread response to a request.
    pub fn is_answered(&self, id: i64) -> bool {
        self.pipes.inbox.inspect(|mail| mail.responses.iter().any(|response| response["id"] == id))
    }

    /// Waits for the next notification of this method, and returns its parameters.
    ///
    /// # Panics
    ///
    /// If none arrives.
    #[track_caller]
    pub fn expect_notification(&self, method: &str) -> Value {
        let mut notification = self.take(&format!("a notification {method}"), |mail| {
            take_first(&mut mail.notifications, |notification| notification["method"] == method)
        });
        notification["params"].take()
    }

    /// Waits for the next request of this method, which the client answers automatically, and returns its parameters.
    ///
    /// # Panics
    ///
    /// If none arrives.
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

    /// Sends any body with a correct header.
    #[track_caller]
    pub fn send_body(&self, body: &[u8]) {
        self.send_bytes(&frames::frame(body));
    }

    /// Sends any bytes.
    ///
    /// # Panics
    ///
    /// If the server doesn't accept them.
    #[track_caller]
    pub fn send_bytes(&self, bytes: &[u8]) {
        assert!(self.try_send_bytes(bytes), "the server takes no more input");
    }

    /// Sends any bytes; returns false if the server accepts no more.
    pub fn try_send_bytes(&self, bytes: &[u8]) -> bool {
        self.pipes.write(bytes)
    }

    /// Closes the server's input.
    pub fn close_stdin(&self) {
        self.pipes.close();
    }

    /// Stops reading the server's output, until [`Client::resume_reading`] or the end.
    pub fn stop_reading(&self) {
        self.pipes.pause(true);
    }

    /// Continues to read the server's output.
    pub fn resume_reading(&self) {
        self.pipes.pause(false);
    }

    /// Whether the server's process has ended.
    pub fn has_ended(&self) -> bool {
        self.exit_status().is_some()
    }

    /// Sends `shutdown`: the server responds, and runs until `exit`.
    ///
    /// # Panics
    ///
    /// If it returns an error.
    #[track_caller]
    pub fn shutdown(&self) {
        assert_eq!(self.call("shutdown", Value::Null), Value::Null);
    }

    /// Sends `exit`, and waits for the end.
    ///
    /// # Panics
    ///
    /// If the server continues to run, or misbehaved.
    #[track_caller]
    pub fn exit(self) -> ProcessOutcome {
        self.notify("exit", Value::Null);
        self.wait_for_end()
    }

    /// Waits for the end of the server, and reads its remaining output.
    ///
    /// # Panics
    ///
    /// If it continues to run, or misbehaved.
    #[track_caller]
    pub fn wait_for_end(mut self) -> ProcessOutcome {
        self.end()
    }

    /// Waits for the end of a server that was killed or disconnected; its output is not checked.
    ///
    /// # Panics
    ///
    /// If it continues to run.
    #[track_caller]
    pub fn abandon(mut self) -> ProcessOutcome {
        self.outcome()
    }

    #[track_caller]
    fn end(&mut self) -> ProcessOutcome {
        let outcome = self.outcome();
        let stderr = &outcome.stderr;
        let pending = lock(&self.pending);
        assert!(pending.is_empty(), "unread answers to {pending:?}\nstderr: {stderr}");
        let unread = self.pipes.inbox.inspect(InboxMessages::unread);
        assert!(unread.is_empty(), "unread at the end: {unread:#?}\nstderr: {stderr}");
        outcome
    }

    #[track_caller]
    fn outcome(&mut self) -> ProcessOutcome {
        self.is_over = true;
        self.pipes.pause(false);
        wait_at_most(self.setup.time_limit, || self.has_ended(), || "the server ends".to_owned());
        let status = self.exit_status().expect("it has ended");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
        ProcessOutcome { status, stdout: String::new(), stderr: text_of(self.stderr.take()) }
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        lock(&self.child).try_wait().expect("the child is ours")
    }

    #[track_caller]
    fn take(&self, what: &str, take: impl FnMut(&mut InboxMessages) -> Option<Value>) -> Value {
        let found = self.pipes.inbox.wait(self.setup.time_limit, take);
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
    /// The test has failed already: the server's output may explain it.
    #[expect(clippy::print_stderr, reason = "a test that fails says why")]
    fn give_up(&mut self) {
        // It may have exited already.
        let _ = lock(&self.child).kill();
        let _ = lock(&self.child).wait();
        eprintln!("the server's stderr: {}", text_of(self.stderr.take()));
    }
}

/// Builds a request without its id, or a notification. Absent parameters are omitted, as the protocol requires.
fn message(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// Kills a child after a timeout, so that a test blocked on its pipes continues; dropping the sender cancels this.
fn kill_after(limit: Duration, child: Arc<Mutex<Child>>) -> Sender<()> {
    let (alive, ended) = mpsc::channel();
    thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // It may just have exited.
            let _ = lock(&child).kill();
        }
    });
    alive
}
