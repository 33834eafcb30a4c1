//! Model servers for tests: each answers as a real one does, refuses what the real one refuses, and fails as it is told to.
//!
//! ```text
//! connection --wire--> Received --script--> Reply: bytes, pauses, hangs, resets --> log: requests, connections that ended
//!                                  ^
//!                       a closure, or a Dialect with a Model behind it
//! ```
//!
//! A server lives in a thread of its own, on a free port of this machine, until it is dropped. It is responsible for being strict: a
//! [`Dialect`] knows the fields of its format, and says of each request what the real server would have refused, and which fields it
//! would have passed over in silence. Its [`Model`] answers well only to prompts in its own template.
//!
//! It shares no code with what it tests, and is part of no binary but tests.

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
