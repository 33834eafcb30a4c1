//! Programs that run on Node.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Returns `npm install` for a separate folder; the caller adds packages and options.
pub(super) fn npm_install(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.arg("install").arg("--prefix").arg(folder).args(["--no-audit", "--no-fund", "--loglevel=error"]);
    npm
}

/// Writes a program that consists of one shell line.
pub(super) fn write_launcher(program: &Path, line: &str) -> Result<()> {
    fs::write(program, format!("#!/bin/sh\n{line}\n"))?;
    process::run(Command::new("chmod").arg("+x").arg(program))
}
