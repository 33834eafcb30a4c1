//! Third-party language servers for engines of kind `lsp`, from npm in `target/components/language-servers`.
//!
//! Tabby's agent is used in practice. Its published version answers with completion lists; for inline completion there is the
//! library of VS Code's own language servers, to which a test adds the few lines of a server.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::node;
use crate::process;

/// Environment variable with Tabby's agent.
pub(super) const TABBY_AGENT: &str = "GHOSTBENCH_TABBY_AGENT";

/// Environment variable with a Node that finds the library.
pub(super) const NODE: &str = "GHOSTBENCH_LANGUAGE_SERVER_NODE";

const PACKAGES: [&str; 3] =
    ["tabby-agent@1.5.0", "vscode-languageserver@10.1.2", "vscode-languageserver-textdocument@1.0.16"];

const FOLDER: &str = "target/components/language-servers";

/// Returns both programs; installs them if they are missing.
pub(super) fn install() -> Result<[(&'static str, PathBuf); 2]> {
    let folder = std::path::absolute(FOLDER)?;
    let programs = [(TABBY_AGENT, folder.join("tabby-agent")), (NODE, folder.join("language-server-node"))];
    if !programs.iter().all(|(_, program)| program.is_file()) {
        unpack(&folder).context("npm did not give the language servers of others")?;
    }
    Ok(programs)
}

fn unpack(folder: &Path) -> Result<()> {
    ensure!(process::is_installed("npm") && process::is_installed("node"), "npm and Node are not installed");
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    process::run(node::npm_install(folder).arg("--ignore-scripts").args(PACKAGES))?;
    let modules = folder.join("node_modules");
    let agent = modules.join("tabby-agent/dist/cli.js");
    node::write_launcher(&folder.join("tabby-agent"), &format!("exec node '{}' \"$@\"", agent.display()))?;
    let path = format!("NODE_PATH='{}' exec node \"$@\"", modules.display());
    node::write_launcher(&folder.join("language-server-node"), &path)?;
    ensure!(agent.is_file(), "{} holds no program", PACKAGES[0]);
    Ok(())
}
