//! Programs that run on Node.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// `npm install` into a folder of its own; what to install, and how, is to be added.
pub(super) fn npm_install(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.arg("install").arg("--prefix").arg(folder).args(["--no-audit", "--no-fund", "--loglevel=error"]);
    npm
}

/// A program that is one line for the shell.
pub(super) fn write_launcher(program: &Path, line: &str) -> Result<()> {
    fs::write(program, format!("#!/bin/sh\n{line}\n"))?;
    process::run(Command::new("chmod").arg("+x").arg(program))
}
