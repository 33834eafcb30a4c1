//! What end-to-end tests share: workspaces with a home of their own, the built binary, processes with a time limit, a
//! small client of the language server.
//!
//! The tests themselves are in `tests/it`. They drive the `ghostbench` binary as a user does and know nothing of its
//! insides but the file formats. `cargo xtask test` builds the binary first.

mod component;
mod histories;
mod llama_server;
pub mod lsp;
mod neovim;
mod process;
mod project;
#[cfg(unix)]
pub mod unix;
mod vscode;

pub use component::component;
pub use histories::check_out_histories;
pub use llama_server::LlamaServer;
pub use neovim::Neovim;
pub use process::{Outcome, Running, wait_until};
pub use project::{Project, binary};
pub use vscode::{Opening, VsCode};
