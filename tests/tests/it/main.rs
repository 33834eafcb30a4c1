//! End-to-end tests: the `ghostbench` binary as a user drives it.

mod bad_input;
mod commands;
mod determinism;
#[cfg(unix)]
mod interruption;
mod lsp;
mod neovim;
mod report;
mod rows;
#[cfg(unix)]
mod unix;
