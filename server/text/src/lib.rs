//! Rope-based documents, and the only conversion between byte offsets and editor positions.
//!
//! Inside Ghostbench a text position is a UTF-8 byte offset (`usize`). Editors count lines and
//! characters in an agreed [`PositionEncoding`]; [`Document`] converts once, at the edge. An invalid position
//! is `None`, never a panic. The crate does no IO and has no LSP types.
//!
//! A line ends with LF, CRLF or a lone CR, as in the language server protocol.
#![deny(clippy::disallowed_methods)]

mod anchor;
mod document;
mod edit;
mod invisible;
pub mod python;
mod random;

pub use anchor::{Anchor, Bias};
pub use document::{Document, Position, PositionEncoding};
pub use edit::Edit;
pub use invisible::is_invisible;
pub use random::SplitMix64;
