//! HTTP to servers that run models: the only place that opens such a connection.
//!
//! ```text
//! Call --on a cassette?--> Reply, as it was recorded
//!   |
//!   +--permit--> --send--> status --ok--> Reply: chunks, one event after the other, or one bounded body
//!        ^            |
//!        +--- wait <--+ busy or loading, if the deadline leaves the time (retry.rs decides)
//! ```
//!
//! It is responsible for time limits (connecting, the first byte, silence in between), for bounds on sizes, for asking again, for
//! the number of requests at once, and for saying what went wrong in words that hold a remedy ([`Fault`]). Dropping a future or a
//! [`Reply`] closes its connection, which is what makes servers stop.
//!
//! It never follows a redirect, so that code and keys go to the configured server and nowhere else; never shows a key, whoever quotes
//! it; and knows no wire format.

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
