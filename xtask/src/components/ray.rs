//! Ray in a virtual environment, for tests of replays on a cluster.

use std::path::PathBuf;

use anyhow::Result;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/ray";

/// Variable with the path of its Python.
pub(super) const VARIABLE: &str = "GHOSTBENCH_RAY_PYTHON";

/// Versions that the tests were written with.
const PACKAGES: [&str; 2] = ["ray==2.60.0", "pyarrow==26.0.1"];

/// Installs both unless they are there, and returns the path of Python.
pub(super) fn install() -> Result<PathBuf> {
    Ok(super::python_environment(FOLDER, &PACKAGES)?.join("python"))
}
