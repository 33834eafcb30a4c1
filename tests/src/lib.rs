//! Shared by end-to-end tests: workspaces with their own home folder, the built binary, processes with a timeout, a small
//! client of the language server.
//!
//! The tests themselves are in `tests/it`. They use the `ghostbench` binary as a user does and know nothing of its internals
//! but the file formats. `cargo xtask test` builds the binary first.

mod browser;
mod case_list;
pub mod collect;
mod component;
pub mod front_door;
mod histories;
mod llama_server;
pub mod lsp;
mod neovim;
mod plugins;
mod process;
mod project;
#[cfg(unix)]
pub mod ray;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
pub mod unix;
mod vscode;

pub use browser::{Browser, PageView};
pub use case_list::{ScrollStep, ScrolledFrames, scroll_cases};
pub use component::component;
pub use front_door::FrontDoor;
pub use histories::{check_out_histories, check_out_history};
pub use llama_server::LlamaServer;
pub use neovim::{Neovim, NeovimVersion, search_path};
pub use plugins::unpack_plugin;
pub use process::{ProcessOutcome, RunningProcess, wait_until};
pub use project::{Project, binary};
#[cfg(unix)]
pub use terminal::Terminal;
pub use vscode::{VsCode, WindowOptions};
