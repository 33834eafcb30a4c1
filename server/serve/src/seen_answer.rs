//! The answer that passed through, as a row of the trial needs it: its text, how it ended, its tokens.
//!
//! All APIs put the text of a completion into one of a few fields, in one JSON object or in a stream of them.

use std::time::Duration;

use cases::{Finish, Status, TokenCounts};
use serde_json::Value;

/// Most bytes of an answer that are read for the record.
pub(crate) const MAX_SEEN_BYTES: usize = 1 << 20;

/// How an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerEnd {
    /// It is complete.
    Complete,
    /// The server ended it too early; the reason.
    Broken(String),
    /// The plugin did not wait for it.
    Cancelled,
}

/// An answer that passed through.
#[derive(Clone, Debug)]
pub(crate) struct SeenAnswer {
    /// Status of the response; 0 if there was none.
    pub(crate) http_status: u16,
    /// Its body, at most [`MAX_SEEN_BYTES`] of it.
    pub(crate) body: Vec<u8>,
    /// How it ended.
    pub(crate) end: AnswerEnd,
    /// Time to the first byte of the body.
    pub(crate) first: Option<Duration>,
    /// Time to the end.
    pub(crate) total: Duration,
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadAnswer {
    /// The text.
    pub(crate) text: String,
    /// Why it ended, as the server reports it.
    pub(crate) finish: Finish,
    /// Token counts.
    pub(crate) tokens: Option<TokenCounts>,
    /// Id of the completion, which Tabby's events name.
    pub(crate) id: Option<String>,
    /// Whether any part of it could be read.
    is_readable: bool,
}

impl SeenAnswer {
    /// Returns the outcome of the request, and why.
    pub(crate) fn status(&self, read: &ReadAnswer) -> (Status, Option<String>) {
        match &self.end {
            AnswerEnd::Cancelled => (Status::Cancelled, None),
            AnswerEnd::Broken(reason) => (Status::Error, Some(reason.clone())),
            AnswerEnd::Complete if !(200..300).contains(&self.http_status) => {
                (Status::Error, Some(format!("the server answered with status {}", self.http_status)))
            }
            AnswerEnd::Complete if !read.is_readable => {
                (Status::Error, Some("the answer is none of a known API".to_owned()))
            }
            AnswerEnd::Complete if read.text.trim().is_empty() => {
                (Status::Silent, Some("the engine wrote nothing".to_owned()))
            }
            AnswerEnd::Complete => (Status::Ok, None),
        }
    }
}

/// Reads a body: one JSON value, a value on each line, or server-sent events.
pub(crate) fn read(body: &[u8]) -> ReadAnswer {
    let mut answer =
        ReadAnswer { text: String::new(), finish: Finish::None, tokens: None, id: None, is_readable: false };
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        answer.add(&value);
        return answer;
    }
    for line in body.split(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b"data:").unwrap_or(line).trim_ascii();
        if let Ok(value) = serde_json::from_slice::<Value>(line) {
            answer.add(&value);
        }
    }
    answer
}

/// Fields with text, in the order in which they are tried.
const TEXT_FIELDS: [&str; 6] = [
    "/choices/0/text",
    "/choices/0/delta/content",
    "/choices/0/message/content",
    "/response",
    "/message/content",
    "/content",
];

/// Fields with the reason of the end.
const FINISH_FIELDS: [&str; 3] = ["/choices/0/finish_reason", "/done_reason", "/stop_type"];

/// Fields with the number of tokens that were read, and that were written.
const TOKEN_FIELDS: [(&str, &str); 4] = [
    ("/usage/prompt_tokens", "/usage/completion_tokens"),
    ("/prompt_eval_count", "/eval_count"),
    ("/tokens_evaluated", "/tokens_predicted"),
    ("/timings~1prompt_n", "/timings~1predicted_n"),
];

impl ReadAnswer {
    fn add(&mut self, value: &Value) {
        // llama.cpp answers with a list if several answers are wanted; plugins show the first one.
        let value = value.as_array().and_then(|values| values.first()).unwrap_or(value);
        let text = TEXT_FIELDS.iter().find_map(|field| value.pointer(field)?.as_str());
        if let Some(text) = text {
            self.text.push_str(text);
            self.is_readable = true;
        }
        let finish = FINISH_FIELDS.iter().find_map(|field| value.pointer(field)?.as_str());
        self.finish = match finish {
            Some("stop" | "eos" | "word") => Finish::Stop,
            Some("length" | "limit") => Finish::Length,
            _ => self.finish,
        };
        let count = |field: &str| value.pointer(field).and_then(Value::as_u64);
        let counts = TOKEN_FIELDS.iter().find_map(|(input, output)| {
            Some(TokenCounts { input: count(input)?, output: count(output)?, cached: None })
        });
        self.tokens = counts.or(self.tokens.take());
        let id = value.get("id").and_then(Value::as_str);
        self.id = self.id.take().or_else(|| id.map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str) -> (String, Finish) {
        let read = read(body.as_bytes());
        assert!(read.is_readable, "{body}");
        (read.text, read.finish)
    }

    #[test]
    fn answers_of_all_apis_are_read() {
        for (body, finish) in [
            (r#"{"content":"a + b","stop_type":"eos"}"#, Finish::Stop),
            (r#"[{"content":"a + b"},{"content":"no"}]"#, Finish::None),
            (r#"{"choices":[{"text":"a + b","finish_reason":"length"}]}"#, Finish::Length),
            (
                r#"{"choices":[{"message":{"role":"assistant","content":"a + b"},"finish_reason":"stop"}]}"#,
                Finish::Stop,
            ),
            (
                "{\"response\":\"a \",\"done\":false}\n{\"response\":\"+ b\",\"done\":true,\"done_reason\":\"stop\"}\n",
                Finish::Stop,
            ),
            (
                "data: {\"content\":\"a \",\"stop\":false}\n\ndata: {\"content\":\"+ b\",\"stop\":true}\n\n",
                Finish::None,
            ),
            (
                "data: {\"choices\":[{\"text\":\"a \"}]}\r\n\r\n: comment\r\n\r\ndata: {\"choices\":[{\"text\":\"+ b\"}]}\r\n\r\ndata: [DONE]\r\n\r\n",
                Finish::None,
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a + b\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
                Finish::Stop,
            ),
        ] {
            assert_eq!(text(body), ("a + b".to_owned(), finish), "{body}");
        }
    }

    #[test]
    fn numbers_and_ids_are_read() {
        let read = read(
            br#"{"id":"cmpl-1","choices":[{"text":"a"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#,
        );
        let tokens = read.tokens.expect("there are some");
        assert_eq!((tokens.input, tokens.output, read.id.as_deref()), (7, 2, Some("cmpl-1")));
    }

    #[test]
    fn failures_have_a_reason() {
        let seen = |http_status, body: &str, end| {
            let seen = SeenAnswer {
                http_status,
                body: body.as_bytes().to_vec(),
                end,
                first: None,
                total: Duration::ZERO,
            };
            seen.status(&super::read(&seen.body)).0
        };
        assert_eq!(seen(200, "{\"content\":\"a\"}", AnswerEnd::Complete), Status::Ok);
        assert_eq!(seen(200, "{\"content\":\" \\n\"}", AnswerEnd::Complete), Status::Silent);
        assert_eq!(seen(200, "<html>", AnswerEnd::Complete), Status::Error);
        assert_eq!(seen(503, "{\"error\":\"loading\"}", AnswerEnd::Complete), Status::Error);
        assert_eq!(seen(200, "{\"content\":\"a\"}", AnswerEnd::Broken("reset".to_owned())), Status::Error);
        assert_eq!(seen(200, "", AnswerEnd::Cancelled), Status::Cancelled);
    }
}
