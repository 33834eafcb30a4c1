//! Tests of the language server's public interface.

mod protocol;
