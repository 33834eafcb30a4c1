//! Mock model servers for tests. Each one answers and rejects requests as the real server does, and fails on demand.
//!
//! ```text
//! connection --wire--> ReceivedRequest --script--> Reply: bytes, pauses, hangs, resets --> log: requests, connections that ended
//!                                  ^
//!                       a closure, or a Dialect with a MockModel behind it
//! ```
//!
//! A server runs in its own thread, on a free local port, until it is dropped. It must be strict: a [`Dialect`] knows the fields
//! of its format, rejects requests that the real server would reject, and records fields that the real server would ignore. Its
//! [`MockModel`] answers well only to prompts in its own template.
//!
//! The crate shares no code with the code under test and is used only by tests.

mod certificate;
mod dialects;
mod mock_model;
mod mock_server;
mod received_request;
mod reply;
mod request_log;

pub use certificate::Certificate;
pub use dialects::{Dialect, SuffixPolicy};
pub use mock_model::{MockModel, PromptHole, TemplateMarks};
pub use mock_server::MockServer;
pub use received_request::ReceivedRequest;
pub use reply::{Latch, Reply, ReplyStep};
pub use request_log::RequestLog;
