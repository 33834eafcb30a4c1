//! Tests of engines through their public API. Servers are the `mock` crate's; nothing leaves this machine.

mod asking;
mod bodies;
mod cassettes;
mod checking;
#[cfg(unix)]
mod command;
mod embeddings;
mod faults;
mod freeing;
mod golden;
mod language_servers;
mod learning;
#[cfg(unix)]
mod llama_server;
mod many;
mod scripted;
