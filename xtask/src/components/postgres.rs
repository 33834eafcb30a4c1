//! PostgreSQL: the machine's own, or that of Debian in `target/components/postgres`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{debian, relocate};
use crate::process;

/// Environment variable with the program `postgres`, for tests; `initdb` is beside it.
pub(super) const VARIABLE: &str = "GHOSTBENCH_POSTGRES";

/// Debian's suite and package.
const SUITE: &str = "trixie";
const PACKAGE: &str = "postgresql-17";

/// Programs that tests start.
const PROGRAMS: [&str; 3] = ["postgres", "initdb", "psql"];

const FOLDER: &str = "target/components/postgres";

/// Returns working programs; unpacks them if they are missing.
pub(super) fn install() -> Result<PathBuf> {
    let folder = std::path::absolute(FOLDER)?;
    let chosen = std::env::var_os(VARIABLE).map(PathBuf::from);
    let system = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let system = system.map(|entry| entry.path().join("bin/postgres"));
    let known =
        chosen.into_iter().chain(process::find_program("postgres")).chain(system).chain(program(&folder));
    if let Some(program) = known.into_iter().find(|program| runs(program)) {
        return Ok(program);
    }
    unpack(&folder).with_context(|| {
        format!("no postgres is here, nor named by {VARIABLE}; Debian's {SUITE} did not give one")
    })
}

fn program(folder: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(folder.join("usr/lib/postgresql")).ok()?;
    versions.flatten().map(|entry| entry.path().join("bin/postgres")).next()
}

fn unpack(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    debian::unpack(SUITE, PACKAGE, folder)?;
    let program = program(folder).context("the package has no programs")?;
    for name in PROGRAMS {
        relocate::use_libraries_beside(&program.with_file_name(name), folder, &[])?;
    }
    ensure!(runs(&program), "the suite's version does not run here");
    Ok(program)
}

/// Whether the programs start.
fn runs(program: &Path) -> bool {
    PROGRAMS.iter().all(|name| {
        let version = Command::new(program.with_file_name(name)).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })
}
