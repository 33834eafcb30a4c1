//! A language server as a child process, and the client's end of the connection.
//!
//! Shares only the header of a message with the server, so that a mistake there is not repeated here. Requests of the server are
//! answered with `null`, its notifications are ignored.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use engines::lsp_frames::{FrameReader, encode_frame};
use serde_json::{Value, json};

use crate::error::SimulationError;

/// Time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 8 << 10;

/// A running server.
#[derive(Debug)]
pub(crate) struct Connection {
    program: PathBuf,
    child: Child,
    input: Arc<Mutex<ChildStdin>>,
    answers: Receiver<Value>,
    requests: i64,
}

impl Connection {
    /// Starts a server.
    pub(crate) fn start(program: &Path, command: &mut Command) -> Result<Connection, SimulationError> {
        let failed = |source| SimulationError::Program { program: program.to_owned(), source };
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let input = Arc::new(Mutex::new(input));
        let (answered, answers) = mpsc::channel();
        let replies = Arc::clone(&input);
        thread::spawn(move || read_to_end(output, &answered, &replies));
        Ok(Connection { program: program.to_owned(), child, input, answers, requests: 0 })
    }

    /// Returns the id of the server's process.
    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: Value) -> Result<(), SimulationError> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<i64, SimulationError> {
        self.requests += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}))?;
        Ok(self.requests)
    }

    /// Waits for the answer to a request; answers to other requests are dropped.
    pub(crate) fn wait(&self, id: i64, method: &str) -> Result<Value, SimulationError> {
        loop {
            let answer = self.answers.recv_timeout(PATIENCE);
            let mut answer = answer.map_err(|_| SimulationError::NoAnswer { method: method.to_owned() })?;
            if answer["id"] != id {
                continue;
            }
            return match answer["error"]["message"].as_str() {
                Some(message) => {
                    Err(SimulationError::Refused { method: method.to_owned(), message: message.to_owned() })
                }
                None => Ok(answer["result"].take()),
            };
        }
    }

    /// Sends a request and returns its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, SimulationError> {
        let id = self.request(method, params)?;
        self.wait(id, method)
    }

    /// Kills the process at once.
    pub(crate) fn kill(&mut self) -> Result<(), SimulationError> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map(drop).map_err(|source| self.failed(source))
    }

    /// Ends the server by protocol.
    pub(crate) fn end(mut self) -> Result<(), SimulationError> {
        self.call("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        self.child.wait().map(drop).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> SimulationError {
        SimulationError::Program { program: self.program.clone(), source }
    }

    fn send(&self, message: &Value) -> Result<(), SimulationError> {
        write_message(&self.input, message).map_err(|source| self.failed(source))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // It has ended already, or the simulation has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_message(input: &Mutex<ChildStdin>, message: &Value) -> io::Result<()> {
    let mut message = message.clone();
    if message["params"].is_null()
        && let Some(fields) = message.as_object_mut()
    {
        fields.remove("params");
    }
    let frame = encode_frame(message.to_string().as_bytes());
    let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
    input.write_all(&frame)?;
    input.flush()
}

/// Reads messages until the server ends, or sends something else.
fn read_to_end(mut output: impl Read, answered: &Sender<Value>, replies: &Mutex<ChildStdin>) {
    let mut frames = FrameReader::default();
    let mut chunk = [0; CHUNK_BYTES];
    while let Ok(read) = output.read(&mut chunk)
        && read > 0
    {
        frames.push(&chunk[..read]);
        loop {
            match frames.next_body() {
                Ok(Some(body)) if take_message(&body, answered, replies) => {}
                Ok(None) => break,
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }
}

/// Passes an answer on, and answers a request. Returns whether the connection still works.
fn take_message(body: &[u8], answered: &Sender<Value>, replies: &Mutex<ChildStdin>) -> bool {
    let Ok(message) = serde_json::from_slice::<Value>(body) else { return false };
    let is_call = message.get("method").is_some();
    match message.get("id") {
        Some(id) if is_call => {
            write_message(replies, &json!({"jsonrpc": "2.0", "id": id, "result": null})).is_ok()
        }
        Some(_) => answered.send(message).is_ok(),
        None => true,
    }
}
