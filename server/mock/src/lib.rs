//! Mock model servers for tests. Each one answers and rejects requests as the real server does, and fails on demand.
//!
//! ```text
//! connection --wire--> Received --script--> Reply: bytes, pauses, hangs, resets --> log: requests, connections that ended
//!                                  ^
//!                       a closure, or a Dialect with a Model behind it
//! ```
//!
//! A server runs in its own thread, on a free local port, until it is dropped. It must be strict: a [`Dialect`] knows the fields
//! of its format, rejects requests that the real server would reject, and records fields that the real server would ignore. Its
//! [`Model`] answers well only to prompts in its own template.
//!
//! The crate shares no code with the code under test and is used only by tests.

mod certificate;
mod dialects;
mod log;
mod model;
mod received;
mod reply;
mod server;

pub use certificate::Certificate;
pub use dialects::{Dialect, SuffixPolicy};
pub use log::Log;
pub use model::{Hole, Marks, Model};
pub use received::Received;
pub use reply::{Gate, Reply, Step};
pub use server::MockServer;
