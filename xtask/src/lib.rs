//! Shared by development tasks: running programs, and installing the programs and the packed extension that tests and
//! measurements need.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task reports on the terminal")]

pub mod components;
pub mod extension;
pub mod extension_settings;
pub mod process;
