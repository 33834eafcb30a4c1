//! The language server, driven over its standard input and output as an editor does.

mod account;
mod bad_input;
mod bad_messages;
mod burst;
mod completion;
mod editor;
mod edits;
mod flight;
mod introduction;
mod life;
mod recording;
mod replay;
mod scripts;
#[cfg(unix)]
mod unix;
