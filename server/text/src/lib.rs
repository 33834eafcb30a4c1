//! Rope-based documents, their edits, and the only conversion between byte offsets and editor positions.
//!
//! Inside Ghostbench a text position is a UTF-8 byte offset (`usize`). Editors count lines and
//! characters in an agreed [`PositionEncoding`]; [`Document`] converts once, at the edge. An invalid position
//! is `None`, never a panic. The crate does no IO and has no LSP types.
//!
//! A line ends with LF, CRLF or a lone CR, as in the language server protocol.
#![deny(clippy::disallowed_methods)]

mod document;
mod edit;
mod edit_log;
mod invisible;
pub mod python;
mod random;
mod snippet;
mod tracked_range;

pub use document::{Document, Position, PositionEncoding};
pub use edit::Edit;
pub use edit_log::{EditLog, Revision};
pub use invisible::is_invisible;
pub use random::SplitMix64;
pub use snippet::Snippet;
pub use tracked_range::TrackedRange;
