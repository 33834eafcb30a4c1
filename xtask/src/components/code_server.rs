//! VS Code in a browser: the machine's own code-server, or one from npm in `target/components/code-server`.
//!
//! Nothing is compiled: the packages' scripts would need system headers and take minutes. Their other task, installing the
//! dependencies of VS Code itself, is done here. It runs on the exact version of Node that it requires, which also comes from
//! npm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::node::{npm_install, write_launcher};
use crate::process;

/// Environment variable with the program, for tests and measurements.
pub const VARIABLE: &str = "GHOSTBENCH_CODE_SERVER";

const PROGRAM: &str = "code-server";

/// This version contains VS Code 1.139.1.
pub const VERSION: &str = "4.139.1";

/// The Node version that it requires.
const NODE_VERSION: &str = "24.21.0";

const FOLDER: &str = "target/components/code-server";

/// Half of the unpacked files, for chats and other systems: VS Code starts without them.
const UNUSED: &[&str] = &["@github", "@microsoft/mxc-sdk", "koffi", "@koromix"];

/// Returns a working code-server; installs one if it is missing.
pub fn install() -> Result<PathBuf> {
    let folder = std::path::absolute(FOLDER)?;
    let chosen = std::env::var_os(VARIABLE).map(PathBuf::from);
    let known = chosen.into_iter().chain(process::find_program(PROGRAM)).chain([folder.join(PROGRAM)]);
    if let Some(program) = known.into_iter().find(|program| runs(program)) {
        return Ok(program);
    }
    unpack(&folder)
        .with_context(|| format!("no {PROGRAM} is here, nor named by {VARIABLE}; npm did not give one"))
}

fn unpack(folder: &Path) -> Result<PathBuf> {
    ensure!(process::is_installed("npm"), "npm is not installed");
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    // Node's package installs its program by such a script, which does nothing else.
    process::run(npm_install(&folder.join("node")).arg(format!("node@{NODE_VERSION}")))?;
    process::run(npm_install(folder).args(["--ignore-scripts", &format!("{PROGRAM}@{VERSION}")]))?;
    let code = folder.join("node_modules").join(PROGRAM).join("lib/vscode");
    for inner in [code.clone(), code.join("extensions")] {
        let mut npm = npm_install(&inner);
        process::run(npm.args(["--ignore-scripts", "--omit=dev"]).current_dir(&inner))?;
    }
    for unused in UNUSED {
        let path = code.join("node_modules").join(unused);
        if path.exists() {
            fs::remove_dir_all(path)?;
        }
    }
    let program = folder.join(PROGRAM);
    write_launcher(&program, &launcher(folder))?;
    ensure!(runs(&program), "its version {VERSION} does not run here");
    Ok(program)
}

/// The launcher script, which uses its own Node.
fn launcher(folder: &Path) -> String {
    let node = folder.join("node/node_modules/node/bin/node");
    let entry = folder.join("node_modules").join(PROGRAM).join("out/node/entry.js");
    format!("exec '{}' '{}' \"$@\"", node.display(), entry.display())
}

fn runs(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
