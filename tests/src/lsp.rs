//! A small client of the language server protocol, for tests and measurements of language servers over stdio.
//!
//! [`Client`] drives a server process and keeps account of every message; [`Buffer`] is the client's copy of a document,
//! against which the server's copy is judged. Messages are JSON values and positions are counted here by hand: nothing is
//! shared with the server, so that a mistake there is not repeated here.

mod buffer;
mod client;
pub(crate) mod frames;
mod inbox;
mod line;
mod setup;

pub use buffer::{Buffer, Encoding};
pub use client::Client;
pub use setup::{Setup, uri};
