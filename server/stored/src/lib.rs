//! Immutable data that is either in the process's own memory or in place in a block of bytes elsewhere, such as a mapped file.
//!
//! ```text
//! PodArray::Owned ──move_to_store──► block of a BlockStore ──► PodArray::Mapped, with the same contents
//! SharedText::from(text) ──SharedText::move_all──► TextBlock ──► SharedText, with the same contents
//! both ──SavedBlock──► a file of the cache ──LoadedBlock──► both in place, in a later process
//! ```
//!
//! Readers cannot tell the difference, so there is one implementation of everything that reads such data. This crate does no IO:
//! stores are passed in.
#![deny(clippy::disallowed_methods)]

mod block_store;
mod parts;
mod pod_array;
mod saved_block;
mod shared_text;

pub use block_store::{BlockStore, BlockWriter, MemoryBlocks, StoredArray, StoredData, move_to_store};
pub use parts::parts;
pub use pod_array::{PodArray, SharedBytes};
pub use saved_block::{BlockCursor, LoadedBlock, SavedBlock};
pub use shared_text::{SharedText, TextBlock};
