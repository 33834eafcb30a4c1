//! Maps statuses, servers' messages and broken connections to [`ServerError`]s. Pure.

use std::error::Error;
use std::io;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::redactor::Redactor;
use super::{ServerError, error_message, handshake};

/// A response with an error status.
pub(super) struct ErrorResponse {
    pub(super) status: u16,
    /// The server's message, without our keys.
    pub(super) text: String,
    pub(super) retry_after: Option<Duration>,
    /// Host and port of a redirect's target.
    pub(super) location: Option<String>,
    /// The requested path.
    pub(super) path: String,
}

/// Returns the server's message without our keys, or the meaning of the status.
pub(super) fn error_text(status: StatusCode, body: &[u8], secrets: &Redactor) -> String {
    let response = error_message::message_in_body(body, secrets);
    response
        .or_else(|| status.canonical_reason().map(str::to_owned))
        .unwrap_or_else(|| "no reason given".to_owned())
}

impl ErrorResponse {
    /// Returns the error.
    pub(super) fn into_error(self, server: &str, with_key: bool) -> ServerError {
        let ErrorResponse { status, text: message, retry_after, location: to, path } = self;
        let server = server.to_owned();
        let words = message.to_lowercase();
        match status {
            300..400 => {
                let to = to.unwrap_or_else(|| "no other place".to_owned());
                ServerError::Redirect { server, status, to }
            }
            401 | 403 => ServerError::Unauthorized { server, with_key, message },
            // 529 is Anthropic's.
            429 | 529 => ServerError::Busy { server, retry_after, message },
            503 if words.contains("loading") => ServerError::Loading { server },
            503 => ServerError::Busy { server, retry_after, message },
            400 | 404 | 422 if denies_model(&words) => ServerError::NoModel { server, message },
            404 | 405 => ServerError::NoPath { server, path, message },
            400 | 413 | 422 if is_about_length(&words) => {
                ServerError::QuestionTooLong { server, status, message }
            }
            _ => ServerError::Status { server, status, message },
        }
    }
}

/// Maps an `error` in the middle of an answer; uses its own status if present.
pub(super) fn error_in_answer(
    error: &Value,
    quoted: impl Fn(&str) -> String,
    server: &str,
    with_key: bool,
) -> ServerError {
    let response = error.as_str().or_else(|| error.get("message").and_then(Value::as_str));
    let response = quoted(response.unwrap_or("no reason given"));
    let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = if kind == "overloaded_error" { Some(529) } else { code };
    match status.filter(|status| (400..600).contains(status)) {
        Some(status) => {
            let refusal = ErrorResponse {
                status,
                text: response,
                retry_after: None,
                location: None,
                path: "such path".to_owned(),
            };
            refusal.into_error(server, with_key)
        }
        None => ServerError::InAnswer { server: server.to_owned(), message: response },
    }
}

/// Whether the message means that the model doesn't exist: vLLM "the model `x` does not exist", Ollama "model 'x' not found",
/// DeepSeek "model not exist", Mistral "invalid model: x", Anthropic "model: x".
fn denies_model(words: &str) -> bool {
    let denials = ["not exist", "not found", "invalid model", "unknown model", "no such model"];
    words.starts_with("model: ")
        || words.contains("model") && denials.iter().any(|denial| words.contains(denial))
}

/// Whether the message is about the prompt's length: llama.cpp "the request exceeds the available context size", vLLM "this
/// model's maximum context length is 4096 tokens", TGI "`inputs` must have less than 1024 tokens", Anthropic "prompt is too
/// long".
fn is_about_length(words: &str) -> bool {
    let lengths = [
        "context size",
        "context length",
        "context window",
        "too long",
        "must have less than",
        "too many tokens",
    ];
    lengths.iter().any(|length| words.contains(length))
}

/// Maps a failed or lost connection. `reason` is the root cause.
pub(super) fn unreachable(error: &reqwest::Error, server: String, reason: String) -> ServerError {
    if error.is_dns() {
        return ServerError::UnknownHost { server };
    }
    for cause in causes(error) {
        let io = cause.downcast_ref::<io::Error>();
        if io.is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused) {
            return ServerError::Refused { server };
        }
        if let Some(error) = cause.downcast_ref() {
            let (reason, remedy) = handshake::explain(error, reason);
            return ServerError::Tls { server, reason, remedy };
        }
    }
    // Hyper's words for an answer of a server with TLS, among others.
    let reason = match reason.starts_with("invalid HTTP") {
        true => format!("it does not speak HTTP ({reason}); if it encrypts, write https://"),
        false => reason,
    };
    ServerError::Unreachable { server, reason }
}

/// Returns the error of TLS behind a failure.
pub(super) fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>() {
        // `source` of an IO error is the source of the wrapped error, which would skip the wrapped error itself.
        Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(status: u16, response: &str) -> &'static str {
        let refusal = ErrorResponse {
            status,
            text: response.to_owned(),
            retry_after: None,
            location: None,
            path: "/infill".to_owned(),
        };
        refusal.into_error("host", false).cause()
    }

    #[test]
    fn error_responses_are_classified_by_status_and_text() {
        for (status, response, expected) in [
            (401, "Invalid API Key", "unauthorized"),
            (403, "Forbidden", "unauthorized"),
            (404, "The model `x` does not exist.", "no_model"),
            (404, "model 'x' not found", "no_model"),
            (400, "Model Not Exist", "no_model"),
            (400, "Invalid model: x", "no_model"),
            (404, "model: claude-x", "no_model"),
            (404, "File Not Found", "no_path"),
            (405, "Method Not Allowed", "no_path"),
            (429, "Rate limit reached", "busy"),
            (529, "Overloaded", "busy"),
            (503, "Loading model", "loading"),
            (503, "Model x is currently loading", "loading"),
            (503, "server busy, please try again", "busy"),
            (400, "the request exceeds the available context size, try increasing it", "question_too_long"),
            (400, "This model's maximum context length is 4096 tokens.", "question_too_long"),
            (422, "Input validation error: `inputs` must have less than 1024 tokens.", "question_too_long"),
            (400, "Unsupported param: suffix", "status"),
            (500, "it broke", "status"),
            (308, "", "redirect"),
        ] {
            assert_eq!(cause(status, response), expected, "{status} {response}");
        }
    }
}
