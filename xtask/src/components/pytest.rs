//! pytest and coverage.py in a virtual environment, for tests of unit tests as judges.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/pytest";

/// Variable with the path of pytest.
pub(super) const VARIABLE: &str = "GHOSTBENCH_PYTEST";

/// Versions that the tests were written with.
const PACKAGES: [&str; 2] = ["pytest==9.2.0", "coverage==7.17.4"];

/// Installs both unless they are there, and returns the path of pytest.
pub(super) fn install() -> Result<PathBuf> {
    let folder = process::repository_root().join(FOLDER);
    let program = folder.join("bin/pytest");
    if program.is_file() {
        return Ok(program);
    }
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(folder.join("bin/python"));
    process::run(
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES),
    )?;
    Ok(program)
}
