//! The front door: the APIs that completion plugins speak, so that they take part in trials by changing one URL.
//!
//! ```text
//! plugin ──► listener ──► guard ──► front_door ──┬─► pass_through ──► the engine's server: bytes in, bytes out
//!                                                └─► own_answer ──► completion::complete, for an engine of another API
//!                                                           │
//!     trial_link: routes (prefix, suffix) ──► find_cursor ──► recorder, arms in shadow ◄── saved files
//! ```
//!
//! Responsible for which request belongs to which place of the workspace, and for recording it. The bytes of what passes through are
//! unchanged, in both directions, and recording never delays them. Requests that belong to no workspace are passed on and not stored.

mod answer_format;
mod chosen_engine;
mod dialect;
mod editor_documents;
mod fim_prompt;
mod find_cursor;
mod front_door;
mod guard;
mod listener;
mod own_answer;
mod pass_through;
mod probes;
mod routes;
mod search_files;
mod seen_answer;
mod trial_link;
mod virtual_documents;

pub use editor_documents::{EditorDocuments, EditorRequest};
pub use listener::{FrontDoor, OpenError, address_and_token, open};
