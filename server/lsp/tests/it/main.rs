//! Tests of the language server from outside of its crate.

mod protocol;
