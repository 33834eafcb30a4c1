//! The two pipes of a server: the writer, and the thread that reads.

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::process::ChildStdin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::frames;
use super::inbox::{Inbox, InboxMessages};

/// Answers a request of the server: returns the response's member (result or error) with its value, or `None` to send no
/// response.
pub(super) type AnswerFn = Box<dyn Fn(&Value) -> Option<(&'static str, Value)> + Send>;

/// Behaviour of the reading thread.
#[derive(Default)]
pub(super) struct AutoReplies {
    /// Answers to requests, by method.
    pub(super) answers: HashMap<String, AnswerFn>,
    /// Notifications that may remain unread.
    pub(super) allowed: Vec<String>,
}

/// Shared by the client and the thread that reads the server's output.
pub(super) struct ServerPipes {
    stdin: Mutex<Option<ChildStdin>>,
    is_paused: Mutex<bool>,
    resumed: Condvar,
    pub(super) inbox: Inbox,
}

impl ServerPipes {
    pub(super) fn new(stdin: Option<ChildStdin>) -> ServerPipes {
        ServerPipes {
            stdin: Mutex::new(stdin),
            is_paused: Mutex::new(false),
            resumed: Condvar::new(),
            inbox: Inbox::default(),
        }
    }

    /// Returns false if the server accepts no more.
    pub(super) fn write(&self, bytes: &[u8]) -> bool {
        lock(&self.stdin).as_mut().is_some_and(|stdin| stdin.write_all(bytes).is_ok())
    }

    /// Closes the server's input.
    pub(super) fn close(&self) {
        lock(&self.stdin).take();
    }

    /// Reads messages into the inbox until the output ends.
    pub(super) fn read_to_end(&self, output: impl Read, manners: &AutoReplies) {
        let mut output = BufReader::new(output);
        loop {
            self.wait_while_paused();
            match frames::read(&mut output) {
                Ok(Some(message)) => self.receive(message, manners),
                Ok(None) => break,
                Err(error) => {
                    self.inbox.update(|mail| mail.offences.push(format!("no message: {error}")));
                    break;
                }
            }
        }
        self.inbox.update(|mail| mail.is_closed = true);
    }

    fn receive(&self, message: Value, manners: &AutoReplies) {
        let method = message["method"].as_str();
        let deliver = match (method, message.get("id")) {
            (None, Some(_)) => |mail: &mut InboxMessages, message| mail.responses.push(message),
            (Some(method), None) if manners.allowed.iter().any(|allowed| allowed == method) => return,
            (Some(_), None) => |mail: &mut InboxMessages, message| mail.notifications.push(message),
            (Some(method), Some(id)) if let Some(answer) = manners.answers.get(method) => {
                if let Some((member, content)) = answer(&message["params"]) {
                    let answer = json!({"jsonrpc": "2.0", "id": id, member: content});
                    // A server that has closed its input needs no response.
                    self.write(&frames::frame(answer.to_string().as_bytes()));
                }
                |mail: &mut InboxMessages, message| mail.requests.push(message)
            }
            _ => |mail: &mut InboxMessages, message| {
                mail.offences.push(format!("unexpected message {message}"))
            },
        };
        self.inbox.update(|mail| deliver(mail, message));
    }

    /// Pauses or continues reading the output.
    pub(super) fn pause(&self, pause: bool) {
        *lock(&self.is_paused) = pause;
        self.resumed.notify_all();
    }

    fn wait_while_paused(&self) {
        let mut is_paused = lock(&self.is_paused);
        while *is_paused {
            is_paused = self.resumed.wait(is_paused).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// After a test failed in one thread, another one can still stop its server.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
