//! The language server.

pub mod ext;
