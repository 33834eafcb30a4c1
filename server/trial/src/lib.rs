//! The live trial: opportunities to complete code, the text that the developer then wrote, and the answers of all arms.
//!
//! The recorder is a pure state machine with an injected clock; the store writes its rows. Losing the store loses no completion,
//! and no code leaves the machine through this crate.
#![deny(clippy::disallowed_methods)]

pub mod assignment;
pub mod canaries;
pub mod daily_usage;
pub mod definition;
mod numbers;
pub mod pause;
pub mod privacy;
pub mod proposal;
mod recorder;
pub mod store;

pub use numbers::{TrialNumbers, read_numbers};
pub use recorder::{
    AnswerEvent, CommittedFile, DocumentKey, EarlierOpportunity, Event, EventKind, GatheredContext,
    OfferedItem, Recorder, RecorderSettings, RequestEvent, interrupted, is_unfinished,
};
pub use store::{Store, StoreError, StoreHealth, StoreReader, StoreSettings};
