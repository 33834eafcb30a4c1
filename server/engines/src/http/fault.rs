//! What goes wrong between us and a server, each cause with its remedy, and no key in any of it.

use std::time::Duration;

use thiserror::Error;

use crate::Miss;

/// What was waited for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A connection.
    Connecting,
    /// The first byte of the answer.
    FirstByte,
    /// The next byte.
    NextByte,
    /// The whole answer.
    LastByte,
}

/// Why a server gave no answer. Messages name the server by host and port, quote it without our keys, and tell what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The address is none.
    #[error("`{address}` is no address of a server ({reason}); write it like http://127.0.0.1:8080")]
    Address {
        /// What was given, without user name and password.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key is none.
    #[error("the key has characters that cannot be sent")]
    Key,
    /// A header is none.
    #[error("the header `{name}` has characters that cannot be sent")]
    Header {
        /// Its name.
        name: String,
    },
    /// The trusted certificates are none.
    #[error("the certificates in `tls_roots` cannot be read ({reason}); they have to be PEM")]
    Roots {
        /// What is wrong with them.
        reason: String,
    },
    /// The system gives no means for connections.
    #[error("no connections can be made: {0}")]
    Client(String),
    /// Nothing listens there.
    #[error("nothing listens at {server}; start the server, or correct `url`")]
    Refused {
        /// Host and port.
        server: String,
    },
    /// The host's name is unknown.
    #[error("there is no host {server}; correct `url`, or see to the network")]
    NoHost {
        /// Host and port.
        server: String,
    },
    /// No encrypted connection.
    #[error(
        "no encrypted connection to {server}: {reason}; for a certificate of your own, name its authority in `tls_roots`, and for a \
         server without encryption write http://"
    )]
    Tls {
        /// Host and port.
        server: String,
        /// What the two could not agree on.
        reason: String,
    },
    /// No connection for another reason, or it broke.
    #[error("{server} cannot be reached: {reason}")]
    Unreachable {
        /// Host and port.
        server: String,
        /// The innermost cause.
        reason: String,
    },
    /// It says nothing.
    #[error("{}", silence(.server, *.stage, *.waited))]
    Silent {
        /// Host and port.
        server: String,
        /// What was waited for.
        stage: Stage,
        /// How long.
        waited: Duration,
    },
    /// It wants another key.
    #[error("{server} {} ({message})", if *.with_key { "refuses the key; correct `api_key_env`" } else { "wants a key; set `api_key_env`" })]
    Unauthorized {
        /// Host and port.
        server: String,
        /// Whether it was given one.
        with_key: bool,
        /// What it said.
        message: String,
    },
    /// It does not know the model.
    #[error("{server} has no such model ({message}); set `model` to one that it has")]
    NoModel {
        /// Host and port.
        server: String,
        /// What it said.
        message: String,
    },
    /// It does not know the path.
    #[error("{server} has no {path} ({message}); correct `kind` or `url`")]
    NoPath {
        /// Host and port.
        server: String,
        /// What was asked there.
        path: String,
        /// What it said.
        message: String,
    },
    /// It has too much to do, or was asked too often.
    #[error("{server} takes no more requests for now{} ({message})", .retry_after.map(seconds).unwrap_or_default())]
    Busy {
        /// Host and port.
        server: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// It is not ready yet.
    #[error("{server} is still loading its model; wait until it is ready")]
    Loading {
        /// Host and port.
        server: String,
    },
    /// The question is longer than the model reads.
    #[error("the question is too long for {server} ({message}); set a smaller `budget_tokens`")]
    QuestionTooLong {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// It refused for another reason, or failed.
    #[error("{server} answered {status}: {message}")]
    Status {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// What the server said, shortened.
        message: String,
    },
    /// It failed in the middle of an answer.
    #[error("{server} failed in the middle of its answer: {message}")]
    InAnswer {
        /// Host and port.
        server: String,
        /// What it said.
        message: String,
    },
    /// It is elsewhere.
    #[error(
        "{server} answered {status} and points to {to}; neither code nor keys are sent there: if it is right, write it in `url`"
    )]
    Redirect {
        /// Host and port.
        server: String,
        /// HTTP status.
        status: u16,
        /// Host and port of the other server.
        to: String,
    },
    /// The answer is of another type.
    #[error("{server} answered with {found} instead of {expected}; is `url` its address, and `kind` right?")]
    ContentType {
        /// Host and port.
        server: String,
        /// Type that was asked for.
        expected: &'static str,
        /// Type of the answer.
        found: String,
    },
    /// The answer is something else than its type says.
    #[error("{server} answered with something else than {expected}: {reason}")]
    Malformed {
        /// Host and port.
        server: String,
        /// What was expected.
        expected: &'static str,
        /// What is wrong with it, without code.
        reason: String,
    },
    /// The answer is far too long.
    #[error("{server} answered with more than {} MB", .limit >> 20)]
    TooLong {
        /// Host and port.
        server: String,
        /// What is read, bytes.
        limit: usize,
    },
    /// The answer has no end.
    #[error("{server} ended in the middle of its answer")]
    CutShort {
        /// Host and port.
        server: String,
    },
    /// It may not be asked.
    #[error(transparent)]
    NotRecorded(#[from] Miss),
}

impl Fault {
    /// A word for the cause, the same for all messages about it: whoever tells users says each once.
    pub fn cause(&self) -> &'static str {
        match self {
            Fault::Address { .. } => "address",
            Fault::Key => "key",
            Fault::Header { .. } => "header",
            Fault::Roots { .. } => "roots",
            Fault::Client(_) => "client",
            Fault::Refused { .. } => "refused",
            Fault::NoHost { .. } => "no_host",
            Fault::Tls { .. } => "tls",
            Fault::Unreachable { .. } => "unreachable",
            Fault::Silent { .. } => "silent",
            Fault::Unauthorized { .. } => "unauthorized",
            Fault::NoModel { .. } => "no_model",
            Fault::NoPath { .. } => "no_path",
            Fault::Busy { .. } => "busy",
            Fault::Loading { .. } => "loading",
            Fault::QuestionTooLong { .. } => "question_too_long",
            Fault::Status { .. } => "status",
            Fault::InAnswer { .. } => "in_answer",
            Fault::Redirect { .. } => "redirect",
            Fault::ContentType { .. } => "content_type",
            Fault::Malformed { .. } => "malformed",
            Fault::TooLong { .. } => "too_long",
            Fault::CutShort { .. } => "cut_short",
            Fault::NotRecorded(_) => "not_recorded",
        }
    }

    /// Whether the same question would be refused again, by a server that is well and set up rightly.
    pub(super) fn is_about_the_question(&self) -> bool {
        match self {
            Fault::QuestionTooLong { .. } => true,
            Fault::Status { status, .. } => (400..500).contains(status),
            _ => false,
        }
    }
}

fn silence(server: &str, stage: Stage, waited: Duration) -> String {
    match stage {
        Stage::Connecting => {
            format!("{server} took no connection within {waited:?}; correct `url`, or see to the network")
        }
        Stage::FirstByte => format!("{server} began no answer within {waited:?}"),
        Stage::NextByte => format!("{server} stopped in the middle of its answer for {waited:?}"),
        Stage::LastByte => format!("{server} did not answer within {waited:?}"),
    }
}

fn seconds(duration: Duration) -> String {
    format!("; it wants to be asked again in {} s", duration.as_secs_f64().ceil())
}
