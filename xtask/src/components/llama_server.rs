//! llama.cpp's server: the machine's own, or that of Debian's newer suite in `target/components/llama-server`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{debian, relocate};
use crate::process;

/// Environment variable with the program, for tests.
pub(super) const VARIABLE: &str = "GHOSTBENCH_LLAMA_SERVER";

/// The oldest Debian suite with the package.
const SUITE: &str = "forky";

const PACKAGE: &str = "llama.cpp-tools";

const PROGRAM: &str = "llama-server";

const FOLDER: &str = "target/components/llama-server";

/// The folder with a library for each processor type, among the other libraries.
const PROCESSORS: &str = "ggml/backends0";

/// Returns a working server; installs one if it is missing.
pub(super) fn install() -> Result<PathBuf> {
    let folder = std::path::absolute(FOLDER)?;
    let chosen = std::env::var_os(VARIABLE).map(PathBuf::from);
    let known = chosen.into_iter().chain(process::find_program(PROGRAM)).chain([program(&folder)]);
    if let Some(program) = known.into_iter().find(|program| runs(program)) {
        return Ok(program);
    }
    unpack(&folder).with_context(|| {
        format!("no {PROGRAM} is here, nor named by {VARIABLE}; Debian's {SUITE} did not give one")
    })
}

fn program(folder: &Path) -> PathBuf {
    folder.join("usr/bin").join(PROGRAM)
}

fn unpack(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    debian::unpack(SUITE, PACKAGE, folder)?;
    let program = program(folder);
    relocate::use_libraries_beside(&program, folder, &["llama", PROCESSORS])?;
    put_processors_beside(&program, folder)?;
    ensure!(runs(&program), "the suite's version does not run here");
    Ok(program)
}

/// The compute libraries are loaded from a system folder or the program's folder.
fn put_processors_beside(program: &Path, folder: &Path) -> Result<()> {
    let processors = relocate::library_folder(folder)?.join(PROCESSORS);
    let beside = program.parent().context("a program lies in a folder")?;
    for entry in fs::read_dir(&processors).with_context(|| format!("{} is missing", processors.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), beside.join(entry.file_name()))?;
    }
    Ok(())
}

fn runs(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
