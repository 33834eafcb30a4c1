//! pytest and coverage.py in a virtual environment, for tests of unit tests as judges.

use std::path::PathBuf;

use anyhow::Result;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/pytest";

/// Variable with the path of pytest.
pub(super) const VARIABLE: &str = "GHOSTBENCH_PYTEST";

/// Versions that the tests were written with.
const PACKAGES: [&str; 2] = ["pytest==9.2.0", "coverage==7.17.4"];

/// Installs both unless they are there, and returns the path of pytest.
pub(super) fn install() -> Result<PathBuf> {
    Ok(super::python_environment(FOLDER, &PACKAGES)?.join("pytest"))
}
