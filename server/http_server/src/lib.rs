//! HTTP for the servers of Ghostbench: sockets with bounded connections, bodies with limits, TLS, and requests of web pages.
//!
//! Knows no route and no API. No request takes more than its limits: connections are counted, heads and bodies are bounded in bytes and time.

mod body;
mod listener;
mod origin;
mod tls;

pub use body::{BodyLimits, ResponseBody, json_response, read_body, refusal, response, whole};
pub use listener::{BindError, ConnectionLimits, Peer, bind, run};
pub use origin::{is_equal, is_foreign_page, is_local_host};
pub use tls::{TlsAcceptor, TlsError, TlsFiles, certificate_of};
