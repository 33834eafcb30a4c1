//! Ray in a virtual environment, for tests of replays on a cluster.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/ray";

/// Variable with the path of its Python.
pub(super) const VARIABLE: &str = "GHOSTBENCH_RAY_PYTHON";

/// Versions that the tests were written with.
const PACKAGES: [&str; 2] = ["ray==2.60.0", "pyarrow==26.0.1"];

/// Installs both unless they are there, and returns the path of Python.
pub(super) fn install() -> Result<PathBuf> {
    let folder = process::repository_root().join(FOLDER);
    let (python, marker) = (folder.join("bin/python"), folder.join("installed"));
    if marker.is_file() {
        return Ok(python);
    }
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    process::run(
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES),
    )?;
    std::fs::write(marker, "")?;
    Ok(python)
}
