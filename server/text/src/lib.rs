//! Documents as ropes, and the one place where byte offsets meet editor positions.
//!
//! Inside Ghostbench a place in a text is a UTF-8 byte offset (`usize`). Editors speak in lines and
//! characters of an agreed [`Encoding`]; [`Document`] converts once, at the edge. A bad position is
//! `None`, never a panic. No IO and no LSP types here.
//!
//! A line ends with LF, CRLF or a lone CR, as the language server protocol has it.
#![deny(clippy::disallowed_methods)]

mod anchor;
mod document;
mod edit;
mod invisible;
pub mod python;
mod random;

pub use anchor::{Anchor, Bias};
pub use document::{Document, Encoding, Position};
pub use edit::Edit;
pub use invisible::is_invisible;
pub use random::SplitMix64;
