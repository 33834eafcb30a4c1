//! The VS Code extension: checks, builds, tests and packs it, as its users do.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow};

use crate::{components, process};

/// Folder of the extension.
pub const FOLDER: &str = "vscode-extension";

/// Builds `vscode-extension/dist` for the tests. Prints a message and skips it if npm is missing.
pub fn build() -> Result<()> {
    let npm = process::find_program("npm").ok_or_else(|| anyhow!("npm is not installed; Node brings it"));
    if components::require("of the VS Code extension", npm)?.is_none() {
        return Ok(());
    }
    install_packages()?;
    for script in ["check", "package", "test"] {
        process::run(npm_in_folder().args(["run", "--silent", script]))?;
    }
    Ok(())
}

/// Writes `vscode-extension/dist/extension.js`, and the list of its sources beside it.
pub fn bundle() -> Result<()> {
    install_packages()?;
    process::run(npm_in_folder().args(["run", "--silent", "build"]))
}

/// Installs the packages that build and test the extension, unless they are there.
fn install_packages() -> Result<()> {
    if has_packages(Path::new(FOLDER)) {
        return Ok(());
    }
    // The packages' own scripts only fetch programs that this system already has.
    process::run(npm_in_folder().args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
}

fn npm_in_folder() -> Command {
    // On Windows npm is a script, which is only found by its full name.
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.current_dir(FOLDER);
    npm
}

/// Whether the installed packages match the lock file, of which npm writes a copy after installing them.
fn has_packages(folder: &Path) -> bool {
    let changed = |path: &str| fs::metadata(folder.join(path)).and_then(|metadata| metadata.modified());
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Ok(installed), Ok(wanted)) => installed >= wanted,
        _ => false,
    }
}
