//! The answers that a server owes, from the messages alone, and those that it gave.
//!
//! A message with a method and an id, which is a number or a text, is answered once; a notification never. Other bodies are refused
//! without an id, or with the one that can still be read. Nothing here knows what a method means, except that `exit` is the last message.
//! The server repairs some bodies that are no JSON, so any of them may be it.

use std::collections::BTreeMap;

use lsp::ExitReason;
use serde_json::Value;

use super::reply;

/// Expected and received answers.
#[derive(Debug, Default)]
pub(super) struct MessageAccount {
    /// Answers that are owed, and those that came, by the id as JSON.
    requests: BTreeMap<String, [usize; 2]>,
    /// Answers that may come without an id.
    refusals: usize,
    /// Answers that may come with any id.
    unknown: usize,
    /// Whether the stream is not understood, so that nothing is owed.
    is_anything: bool,
    has_exit: bool,
    /// Whether a body is no JSON.
    may_exit: bool,
}

impl MessageAccount {
    /// Notes a body that is sent.
    pub(super) fn expect(&mut self, body: &[u8]) {
        if self.has_exit {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            self.unknown += 1;
            self.may_exit = true;
            return;
        };
        let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
        let method = message.get("method");
        let is_well_formed = message.get("jsonrpc").is_some_and(|version| version == "2.0");
        match (method, id) {
            (Some(method), _) if method == "exit" && is_well_formed => {
                self.has_exit = true;
                self.unknown += usize::from(id.is_some());
            }
            (Some(_), Some(id)) => self.requests.entry(id.to_string()).or_default()[0] += 1,
            (Some(method), None) if method.is_string() && is_well_formed && message.get("id").is_none() => {}
            // It may be the answer to a request of the server.
            (None, Some(_)) => self.unknown += 1,
            _ => self.refusals += 1,
        }
    }

    /// Expects nothing: the stream is damaged.
    pub(super) fn expect_anything(&mut self) {
        self.is_anything = true;
    }

    /// Notes a message of the server. Returns the reply to a request.
    pub(super) fn receive(&mut self, message: &Value) -> Option<Value> {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        let id = message.get("id");
        if let Some(method) = message.get("method") {
            let method = method.as_str().expect("a method is a text");
            return id.map(|id| reply(method, id));
        }
        let id = id.expect("a message without a method is an answer");
        assert!(message.get("result").is_some() != message.get("error").is_some(), "{message}");
        let open = self.requests.get_mut(&id.to_string()).filter(|[owed, given]| given < owed);
        match open {
            Some([_, given]) => *given += 1,
            None if self.is_anything => {}
            None if id.is_null() && self.refusals > 0 => self.refusals -= 1,
            None if self.unknown > 0 => self.unknown -= 1,
            None => panic!("an answer to no request: {message}"),
        }
        None
    }

    /// Whether all owed answers came. A damaged stream must be read to its end.
    pub(super) fn is_complete(&self) -> bool {
        !self.has_exit && self.requests.values().all(|[owed, given]| owed == given)
    }

    /// Checks everything after the server's end.
    pub(super) fn check(&self, end: &ExitReason) {
        let has_exited = [ExitReason::Shutdown, ExitReason::ExitWithoutShutdown].contains(end);
        if has_exited && self.may_exit {
            return;
        }
        assert!(self.is_anything || has_exited == self.has_exit, "{end:?}");
        for (id, [owed, given]) in &self.requests {
            assert_eq!(owed, given, "answers to {id}");
        }
    }
}
