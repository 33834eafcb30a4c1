//! Errors between the engine and its server, each with a remedy and without keys.

use std::time::Duration;

use thiserror::Error;

use crate::CassetteMiss;

/// The stage that timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutStage {
    /// Connecting.
    Connecting,
    /// The first byte of the answer.
    FirstByte,
    /// The next byte.
    NextByte,
    /// The whole answer.
    LastByte,
}

/// Error of a request to a server. Messages name the server by host and port, quote it without our keys, and give a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServerError {
    /// The address is invalid.
    #[error("`{address}` is not a server address ({reason}); write it like http://127.0.0.1:8080")]
    Address {
        /// The address, without user name and password.
        address: String,
        /// The error.
        reason: String,
    },
    /// The key is invalid.
    #[error("the key has characters that cannot be sent")]
    Key,
    /// A header is invalid.
    #[error("the header `{name}` has characters that cannot be sent")]
    Header {
        /// Its name.
        name: String,
    },
    /// The configured certificates are invalid.
    #[error("the certificates in `tls_roots` cannot be read ({reason}); they have to be PEM")]
    Roots {
        /// The error.
        reason: String,
    },
    /// The client's own certificate is invalid.
    #[error(
        "`tls_identity` cannot be used ({reason}); it has to be PEM, with a certificate and its private key"
    )]
    Identity {
        /// The error.
        reason: String,
    },
    /// The HTTP client can't be created.
    #[error("no connections can be made: {0}")]
    Client(String),
    /// Connection refused.
    #[error("nothing listens at {server}; start the server, or correct `url`")]
    Refused {
        /// Host and port.
        server: String,
    },
    /// Unknown host.
    #[error("there is no host {server}; correct `url`, or check the network")]
    UnknownHost {
        /// Host and port.
        server: String,
    },
    /// The TLS handshake failed.
    #[error("no encrypted connection to {server}: {reason}; {remedy}")]
    Tls {
        /// Host and port.
        server: String,
        /// Cause.
        reason: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// The connection failed for another reason, or was lost.
    #[error("{server} cannot be reached: {reason}")]
    Unreachable {
        /// Host and port.
        server: String,
        /// The root cause.
        reason: String,
    },
    /// Timeout.
    #[error("{}", timeout_message(.server, *.stage, *.waited))]
    Timeout {
        /// Host and port.
        server: String,
        /// The stage that timed out.
        stage: TimeoutStage,
        /// The timeout.
        waited: Duration,
    },
    /// The key is missing or rejected.
    #[error("{server} {} ({message})", if *.with_key { "refuses the key; correct `api_key_env`" } else { "wants a key; set `api_key_env`" })]
    Unauthorized {
        /// Host and port.
        server: String,
        /// Whether a key was sent.
        with_key: bool,
        /// The server's message.
        message: String,
    },
    /// Unknown model.
    #[error("{server} has no such model ({message}); set `model` to one that it has")]
    NoModel {
        /// Host and port.
        server: String,
        /// The server's message.
        message: String,
    },
    /// Unknown path.
    #[error("{server} has no {path} ({message}); correct `kind` or `url`")]
    NoPath {
        /// Host and port.
        server: String,
        /// The requested path.
        path: String,
        /// The server's message.
        message: String,
    },
    /// The server is busy, or its rate limit is exceeded.
    #[error("{server} takes no more requests for now{} ({message})", .retry_after.map(seconds).unwrap_or_default())]
    Busy {
        /// Host and port.
        server: String,
        /// Requested delay before the next attempt.
        retry_after: Option<Duration>,
        /// The server's message.
        message: String,
    },
    /// The model is still loading.
    #[error("{server} is still loading its model; wait until it is ready")]
    Loading {
        /// Host and port.
        server: String,
    },
    /// The prompt exceeds the model's context window.
    #[error("the prompt is too long for {server} ({message}); set a smaller `budget_tokens`")]
    QuestionTooLong {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// Another HTTP error.
    #[error("{server} answered {status}: {message}")]
    Status {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// The server's message, shortened.
        message: String,
    },
    /// An error in the middle of an answer.
    #[error("{server} failed in the middle of its answer: {message}")]
    InAnswer {
        /// Host and port.
        server: String,
        /// The server's message.
        message: String,
    },
    /// A redirect.
    #[error(
        "{server} answered {status} and points to {to}; neither code nor keys are sent there: if it is right, write it in `url`"
    )]
    Redirect {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// Host and port of the redirect's target.
        to: String,
    },
    /// Unexpected content type.
    #[error("{server} answered with {found} instead of {expected}; is `url` its address, and `kind` right?")]
    ContentType {
        /// Host and port.
        server: String,
        /// Expected type.
        expected: &'static str,
        /// Type of the answer.
        found: String,
    },
    /// The answer doesn't match its content type.
    #[error("{server} answered with something else than {expected}: {reason}")]
    Malformed {
        /// Host and port.
        server: String,
        /// Expected content.
        expected: &'static str,
        /// The error, without code.
        reason: String,
    },
    /// The answer exceeds the size limit.
    #[error("{server} answered with more than {} MB", .limit >> 20)]
    TooLong {
        /// Host and port.
        server: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer is incomplete.
    #[error("{server} ended in the middle of its answer")]
    Truncated {
        /// Host and port.
        server: String,
    },
    /// Offline, and not in the cassette.
    #[error(transparent)]
    NotRecorded(#[from] CassetteMiss),
}

impl ServerError {
    /// Identifier of the cause, the same for all its messages, so that each cause is reported once.
    pub fn cause(&self) -> &'static str {
        match self {
            ServerError::Address { .. } => "address",
            ServerError::Key => "key",
            ServerError::Header { .. } => "header",
            ServerError::Roots { .. } => "roots",
            ServerError::Identity { .. } => "identity",
            ServerError::Client(_) => "client",
            ServerError::Refused { .. } => "refused",
            ServerError::UnknownHost { .. } => "no_host",
            ServerError::Tls { .. } => "tls",
            ServerError::Unreachable { .. } => "unreachable",
            ServerError::Timeout { .. } => "silent",
            ServerError::Unauthorized { .. } => "unauthorized",
            ServerError::NoModel { .. } => "no_model",
            ServerError::NoPath { .. } => "no_path",
            ServerError::Busy { .. } => "busy",
            ServerError::Loading { .. } => "loading",
            ServerError::QuestionTooLong { .. } => "question_too_long",
            ServerError::Status { .. } => "status",
            ServerError::InAnswer { .. } => "in_answer",
            ServerError::Redirect { .. } => "redirect",
            ServerError::ContentType { .. } => "content_type",
            ServerError::Malformed { .. } => "malformed",
            ServerError::TooLong { .. } => "too_long",
            ServerError::Truncated { .. } => "cut_short",
            ServerError::NotRecorded(_) => "not_recorded",
        }
    }

    /// Whether a healthy, correctly configured server would refuse the same request again.
    pub(super) fn is_request_specific(&self) -> bool {
        match self {
            ServerError::QuestionTooLong { .. } => true,
            ServerError::Status { status, .. } => (400..500).contains(status),
            _ => false,
        }
    }
}

fn timeout_message(server: &str, stage: TimeoutStage, waited: Duration) -> String {
    match stage {
        TimeoutStage::Connecting => {
            format!("{server} took no connection within {waited:?}; correct `url`, or check the network")
        }
        TimeoutStage::FirstByte => format!("{server} began no answer within {waited:?}"),
        TimeoutStage::NextByte => format!("{server} stopped in the middle of its answer for {waited:?}"),
        TimeoutStage::LastByte => format!("{server} did not answer within {waited:?}"),
    }
}

fn seconds(duration: Duration) -> String {
    format!("; retry in {} s", duration.as_secs_f64().ceil())
}
