//! Neovim: the machine's own if it is new enough, or one of Debian's newer suite in `target/components/neovim`.
//!
//! Debian's program is modified to use the libraries unpacked with it: its terminal interface restarts the program
//! `/proc/self/exe`, which must be Neovim itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{debian, relocate};
use crate::process;

/// Environment variable with the program, for tests and measurements.
pub const VARIABLE: &str = "GHOSTBENCH_NVIM";

/// Major and minor version of the first release with inline completion.
const OLDEST: (u32, u32) = (0, 12);

/// The oldest Debian suite whose Neovim is new enough.
const SUITE: &str = "forky";

const FOLDER: &str = "target/components/neovim";

/// Returns a Neovim that is new enough; installs one if it is missing.
pub fn install() -> Result<PathBuf> {
    let chosen = std::env::var_os(VARIABLE).map(PathBuf::from);
    let installed = std::path::absolute(FOLDER)?.join("usr/bin/nvim");
    let known = chosen.into_iter().chain(process::find_program("nvim")).chain([installed]);
    if let Some(program) = known.into_iter().find(|program| is_new_enough(program)) {
        return Ok(program);
    }
    unpack(&std::path::absolute(FOLDER)?).with_context(|| {
        format!("no Neovim 0.12 or newer is here, nor named by {VARIABLE}; Debian's {SUITE} did not give one")
    })
}

fn unpack(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    debian::unpack(SUITE, "neovim", folder)?;
    let program = folder.join("usr/bin/nvim");
    relocate::use_libraries_beside(&program, folder, &[])?;
    ensure!(is_new_enough(&program), "the suite's version is too old or does not run here");
    Ok(program)
}

fn is_new_enough(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| version(&String::from_utf8_lossy(&output.stdout)) >= Some(OLDEST))
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
