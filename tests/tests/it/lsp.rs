//! The language server, driven over its standard input and output as an editor does.

mod account;
#[cfg(unix)]
mod aliases;
mod bad_input;
mod bad_messages;
mod burst;
mod completion;
mod editor;
mod edits;
mod engines;
mod exposure;
mod faults;
mod flight;
mod folders;
mod following;
mod frames;
mod hostile_client;
mod introduction;
mod languages;
mod lenses;
mod life;
#[cfg(unix)]
mod permissions;
#[cfg(unix)]
mod privacy;
#[cfg(unix)]
mod programs;
mod recency;
mod recording;
mod replay;
mod results;
mod retrieval;
mod scripts;
mod settings;
mod tokens;
mod typing;
#[cfg(unix)]
mod unix;
