//! Tests of engines through their public API. Servers are the `mock` crate's; nothing leaves this machine.

mod cancellation;
mod cassettes;
#[cfg(unix)]
mod command;
mod embeddings;
mod engine_check;
mod errors;
mod golden;
mod harness;
mod language_servers;
mod leaks;
#[cfg(unix)]
mod llama_server;
mod request_bodies;
mod scripted;
mod server_quirks;
