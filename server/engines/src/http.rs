//! HTTP client for model servers: the only module that opens HTTP connections.
//!
//! ```text
//! Call --on a cassette?--> Reply, as it was recorded
//!   |   +--permit--> --send--> status --ok--> Reply: chunks, one event after the other, or one bounded body
//!        ^            |
//!        +--- wait <--+ busy or loading, if the deadline leaves the time (retry.rs decides)
//! ```
//!
//! Responsible for timeouts (connecting, first byte, between bytes), size limits, retries, the limit on concurrent requests,
//! and error messages with a remedy ([`Fault`]). Dropping a future or a [`Reply`] closes its connection, which makes servers
//! stop.
//!
//! It must never follow a redirect, so that code and keys only go to the configured server; must never show a key, even if a
//! server quotes it; and must not depend on a wire format.

mod address;
mod breaker;
mod client;
mod decode;
mod fault;
mod key;
mod lines;
mod message;
mod refusal;
mod reply;
mod retry;
mod server;

pub(crate) use client::{Call, Client, KeyHeader, Manners};
pub(crate) use decode::{Decoder, EVENT_LIMIT, Event, Framing, Unreadable};
pub use fault::{Fault, Stage};
pub(crate) use key::Secrets;
pub(crate) use reply::Reply;
pub use server::{Limits, Proxy, Server};
