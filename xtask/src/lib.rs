//! Shared by development tasks: running programs, and installing the programs and the packed extension that tests and
//! measurements need.

pub mod components;
pub mod extension;
pub mod process;
