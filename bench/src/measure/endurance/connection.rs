//! The client's end of a connection that lasts, and the account of all requests.
//!
//! Requests of the server are answered with `null`, and its notifications are dropped. An answer is kept only for a caller that waits for
//! it, so that the client does not grow with the day.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use engines::lsp_frames::{FrameReader, encode_frame};
use serde_json::{Value, json};

/// Time limit of an answer, in slices: a machine that is stopped meanwhile, with the server, uses up one slice only.
const PATIENCE_SLICES: usize = 120;
const SLICE: Duration = Duration::from_millis(500);
/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A running server.
pub(super) struct ServerConnection {
    child: Mutex<Child>,
    input: Arc<Mutex<ChildStdin>>,
    account: Arc<RequestAccount>,
}

/// Numbers of requests and answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageCounts {
    pub(super) sent: u64,
    pub(super) answered: u64,
    /// Answers that are errors; that to a cancelled request is one.
    pub(super) errors: u64,
    /// Answers to no request that is open.
    pub(super) answered_twice: u64,
}

impl MessageCounts {
    pub(super) fn unanswered(&self) -> u64 {
        self.sent - self.answered
    }
}

/// The open requests, and counts of the others.
#[derive(Default)]
struct RequestAccount {
    state: Mutex<AccountState>,
    changed: Condvar,
}

#[derive(Default)]
struct AccountState {
    counts: MessageCounts,
    /// By id; the answer of one that is waited for stays until it is taken.
    open: HashMap<u64, OpenRequest>,
    has_ended: bool,
}

#[derive(Default)]
struct OpenRequest {
    is_awaited: bool,
    answer: Option<Value>,
}

impl ServerConnection {
    /// Starts a server.
    pub(super) fn start(mut command: Command) -> Result<ServerConnection> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("the server does not start")?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { bail!("the server has no pipes") };
        let input = Arc::new(Mutex::new(input));
        let account = Arc::new(RequestAccount::default());
        let (replies, reading) = (Arc::clone(&input), Arc::clone(&account));
        thread::spawn(move || {
            read_to_end(output, &reading, &replies);
            reading.update(|state| state.has_ended = true);
        });
        Ok(ServerConnection { child: Mutex::new(child), input, account })
    }

    pub(super) fn process_id(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Value) -> Result<()> {
        self.send(&message(method, params))
    }

    /// Sends a request, whose answer is only counted.
    pub(super) fn request(&self, method: &str, params: Value) -> Result<u64> {
        self.send_request(method, params, false)
    }

    /// Sends a request and returns its result; `null` if it is an error.
    pub(super) fn call(&self, method: &str, params: Value) -> Result<Value> {
        let id = self.send_request(method, params, true)?;
        let answer = self.account.wait(|state| {
            let answer = state.open.get_mut(&id)?.answer.take();
            answer.inspect(|_| drop(state.open.remove(&id)))
        });
        let mut answer = answer.with_context(|| format!("no answer to {method}"))?;
        Ok(answer["result"].take())
    }

    /// Cancels a request.
    pub(super) fn cancel(&self, id: u64) -> Result<()> {
        self.notify("$/cancelRequest", json!({"id": id}))
    }

    /// Waits until no request is open, at most for the time limit.
    pub(super) fn wait_for_all(&self) -> Result<()> {
        // The counts include unanswered requests.
        let _ = self.account.wait(|state| state.open.is_empty().then_some(()));
        ensure!(!lock(&self.account.state).has_ended, "the server has ended");
        Ok(())
    }

    /// Ends the server by protocol; returns the final counts.
    pub(super) fn end(self) -> Result<MessageCounts> {
        self.call("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        let status = lock(&self.child).wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(lock(&self.account.state).counts)
    }

    fn send_request(&self, method: &str, params: Value, is_awaited: bool) -> Result<u64> {
        let id = {
            let mut state = lock(&self.account.state);
            state.counts.sent += 1;
            let id = state.counts.sent;
            state.open.insert(id, OpenRequest { is_awaited, answer: None });
            id
        };
        let mut request = message(method, params);
        request["id"] = id.into();
        self.send(&request)?;
        Ok(id)
    }

    fn send(&self, message: &Value) -> Result<()> {
        write(&self.input, message).context("the server takes no more input")
    }
}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        // It has ended already, or the measurement has failed.
        let _ = lock(&self.child).kill();
        let _ = lock(&self.child).wait();
    }
}

impl RequestAccount {
    fn update(&self, change: impl FnOnce(&mut AccountState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Waits until `take` finds something; `None` after the time limit, or if the server has ended.
    fn wait<T>(&self, mut take: impl FnMut(&mut AccountState) -> Option<T>) -> Option<T> {
        let mut state = lock(&self.state);
        let mut slices = 0;
        loop {
            if let Some(found) = take(&mut state) {
                return Some(found);
            }
            if state.has_ended || slices == PATIENCE_SLICES {
                return None;
            }
            let waited = self.changed.wait_timeout(state, SLICE).unwrap_or_else(PoisonError::into_inner);
            slices += usize::from(waited.1.timed_out());
            state = waited.0;
        }
    }

    fn receive(&self, answer: Value) {
        self.update(|state| {
            let id = answer["id"].as_u64().unwrap_or_default();
            let request = state.open.get_mut(&id).filter(|request| request.answer.is_none());
            let Some(request) = request else {
                state.counts.answered_twice += 1;
                return;
            };
            if request.is_awaited {
                request.answer = Some(answer.clone());
            } else {
                state.open.remove(&id);
            }
            state.counts.answered += 1;
            state.counts.errors += u64::from(answer.get("error").is_some());
        });
    }
}

fn message(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

fn write(input: &Mutex<ChildStdin>, message: &Value) -> std::io::Result<()> {
    let mut input = lock(input);
    input.write_all(&encode_frame(message.to_string().as_bytes()))?;
    input.flush()
}

/// Reads messages until the server ends, or sends something else.
fn read_to_end(mut output: impl Read, account: &RequestAccount, replies: &Mutex<ChildStdin>) {
    let mut frames = FrameReader::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(read) = output.read(&mut chunk)
        && read > 0
    {
        frames.push(&chunk[..read]);
        while let Ok(Some(body)) = frames.next_body() {
            let Ok(message) = serde_json::from_slice::<Value>(&body) else { return };
            match (message.get("id"), message.get("method")) {
                (Some(id), Some(_)) => {
                    let reply = json!({"jsonrpc": "2.0", "id": id, "result": null});
                    if write(replies, &reply).is_err() {
                        return;
                    }
                }
                (Some(_), None) => account.receive(message),
                _ => {}
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_once_and_further_ones_apart() {
        let account = RequestAccount::default();
        account.update(|state| {
            state.counts.sent = 3;
            state.open.insert(1, OpenRequest::default());
            state.open.insert(2, OpenRequest { is_awaited: true, answer: None });
            state.open.insert(3, OpenRequest::default());
        });
        for answer in [
            json!({"id": 1, "result": 7}),
            json!({"id": 2, "error": {}}),
            json!({"id": 1, "result": 7}),
            json!({"id": 2}),
        ] {
            account.receive(answer);
        }
        let state = lock(&account.state);
        let counts = state.counts;
        assert_eq!((counts.answered, counts.errors, counts.answered_twice), (2, 1, 2));
        assert_eq!((counts.unanswered(), state.open.len()), (1, 2));
    }
}
