//! HTTP client for model servers: the only module that opens HTTP connections.
//!
//! ```text
//! HttpRequest --on a cassette?--> HttpResponse, as it was recorded
//!   |   +--permit--> --send--> status --ok--> HttpResponse: chunks, one event after the other, or one bounded body
//!        ^            |
//!        +--- wait <--+ busy or loading, if the deadline leaves the time (retry.rs decides)
//! ```
//!
//! Responsible for timeouts (connecting, first byte, between bytes), size limits, retries, the limit on concurrent requests,
//! and error messages with a remedy ([`ServerError`]). Dropping a future or a [`HttpResponse`] closes its connection, which makes servers
//! stop.
//!
//! It must never follow a redirect, so that code and keys only go to the configured server; must never show a key, even if a
//! server quotes it; and must not depend on a wire format.

mod address;
mod circuit_breaker;
mod client;
mod error;
mod error_message;
mod error_response;
mod event_stream;
mod handshake;
mod http_response;
mod line_splitter;
mod pass_through;
mod redactor;
mod retry;
mod server_config;

pub(crate) use client::{HttpClient, HttpRequest, KeyHeader, RequestHeaders};
pub use error::{ServerError, TimeoutStage};
pub(crate) use event_stream::{EVENT_LIMIT, EventDecoder, Framing, StreamError, StreamEvent};
pub(crate) use http_response::HttpResponse;
pub use pass_through::{PassThrough, PassedRequest, PassedResponse};
pub(crate) use redactor::Redactor;
pub use retry::{exponential_backoff, retry_after};
pub use server_config::{HttpLimits, HttpServerConfig, Proxy};
