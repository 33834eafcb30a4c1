//! A small client of the language server protocol, for tests and measurements of language servers over stdio.
//!
//! [`Client`] runs a server process and tracks every message; [`Buffer`] is the client's copy of a document, with which the
//! server's copy is compared. Messages are JSON values, and positions are computed by separate code: nothing is shared with the
//! server, so that a mistake there is not repeated here.

mod buffer;
mod client;
mod client_setup;
pub(crate) mod frames;
mod inbox;
mod server_pipes;

pub use buffer::{Buffer, Encoding};
pub use client::Client;
pub use client_setup::{ClientSetup, uri};
pub use frames::frame;
