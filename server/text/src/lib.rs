//! Documents as ropes, and the one place where byte offsets meet editor positions.
//!
//! Inside Ghostbench a place in a text is a UTF-8 byte offset (`usize`). Editors speak in lines and
//! characters of an agreed [`Encoding`]; [`Document`] converts once, at the edge. A bad position is
//! `None`, never a panic. No IO and no LSP types here.
#![deny(clippy::disallowed_methods)]
