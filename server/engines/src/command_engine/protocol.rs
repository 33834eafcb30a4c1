//! The lines of the protocol with a program (`docs/command-engine.md`).

use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::{CommandSettings, remaining_ms};
use crate::{Answer, FinishReason, Request, Usage};

/// A request to the program.
#[derive(Serialize)]
struct RequestLine<'a> {
    id: u64,
    path: &'a str,
    language: &'a str,
    prefix: &'a str,
    suffix: &'a str,
    context: Vec<ContextLine<'a>>,
    model: Option<&'a str>,
    max_tokens: u32,
    invoked: bool,
    deadline_ms: Option<u64>,
}

#[derive(Serialize)]
struct ContextLine<'a> {
    path: &'a str,
    text: &'a str,
}

/// Cancels a request.
#[derive(Serialize)]
struct CancelLine {
    cancel: u64,
}

/// A line from the program. Unknown fields are ignored.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(super) struct ResponseLine {
    /// The request that it answers; default: the oldest pending one.
    pub(super) id: Option<u64>,
    /// The next piece of the text.
    #[serde(default)]
    pub(super) text: String,
    /// Error message, if there is no answer.
    pub(super) error: Option<String>,
    /// Whether the answer is complete.
    #[serde(default)]
    pub(super) done: bool,
    finish: Option<FinishField>,
    usage: Option<UsageFields>,
    confidence: Option<f64>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinishField {
    Stop,
    Length,
}

#[derive(Debug, PartialEq, Deserialize)]
struct UsageFields {
    input: u64,
    output: u64,
    cached: Option<u64>,
}

/// Serializes a request.
pub(super) fn request_line(id: u64, request: &Request, settings: &CommandSettings) -> Vec<u8> {
    to_line(&RequestLine {
        id,
        path: &request.input.path,
        language: request.input.language.name(),
        prefix: request.input.prefix(),
        suffix: request.input.suffix(),
        context: request
            .input
            .context
            .iter()
            .map(|item| ContextLine { path: &item.path, text: &item.text })
            .collect(),
        model: settings.model.as_deref(),
        max_tokens: settings.max_tokens,
        invoked: request.invoked,
        deadline_ms: request.deadline.map(remaining_ms),
    })
}

/// Serializes a cancellation.
pub(super) fn cancel_line(id: u64) -> Vec<u8> {
    to_line(&CancelLine { cancel: id })
}

fn to_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("texts, numbers and lists of them are JSON");
    line.push(b'\n');
    line
}

impl ResponseLine {
    /// Parses a line; errors don't quote it.
    pub(super) fn parse(line: &str) -> Result<ResponseLine, String> {
        let response: ResponseLine = serde_json::from_str(line).map_err(|error| match error.classify() {
            // The JSON library's message would contain the value, which may be code.
            Category::Data => format!("a field has the wrong type (column {})", error.column()),
            _ => format!("{error}; messages belong on its standard error"),
        })?;
        match response.confidence {
            Some(confidence) if !(0.0..=1.0).contains(&confidence) => {
                Err("its `confidence` is not from 0 to 1".to_owned())
            }
            _ => Ok(response),
        }
    }

    /// The result of an answer.
    pub(super) fn answer(&self) -> Answer {
        let finish = match self.finish {
            Some(FinishField::Length) => FinishReason::Length,
            Some(FinishField::Stop) | None => FinishReason::Stop,
        };
        let usage = self.usage.as_ref().map(|usage| Usage {
            input: usage.input,
            output: usage.output,
            cached: usage.cached,
        });
        Answer { confidence: self.confidence, usage, ..Answer::with_finish(finish) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_line_is_reported_without_quoting_it() {
        let wrong = |line: &str| ResponseLine::parse(line).expect_err("it is no line of the protocol");
        assert_eq!(
            wrong("Loading"),
            "expected value at line 1 column 1; messages belong on its standard error"
        );
        assert_eq!(wrong("{\"id\": \"secret\"}"), "a field has the wrong type (column 15)");
        assert_eq!(wrong("{\"text\": [\"secret\"]}"), "a field has the wrong type (column 9)");
        assert_eq!(wrong("{\"finish\": \"secret\"}"), "a field has the wrong type (column 19)");
        assert_eq!(wrong("{\"confidence\": 2}"), "its `confidence` is not from 0 to 1");
        assert!(wrong("[]").contains("wrong type"));
    }

    #[test]
    fn final_line_carries_finish_usage_and_confidence() {
        let response = ResponseLine::parse(
            r#"{"done": true, "finish": "length", "usage": {"input": 3, "output": 2}, "confidence": 1, "x": []}"#,
        );
        let usage = Some(Usage { input: 3, output: 2, cached: None });
        let expected = Answer { confidence: Some(1.0), usage, ..Answer::with_finish(FinishReason::Length) };
        assert_eq!(
            response.map(|response| (response.id, response.done, response.answer())),
            Ok((None, true, expected))
        );
        assert_eq!(ResponseLine::parse("{}"), Ok(ResponseLine::default()));
    }
}
