//! Arrow and a server of S3 in a virtual environment, for tests of copies of a team's traces.

use std::path::PathBuf;

use anyhow::Result;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/collect";

/// Variable with the path of its Python.
pub(super) const VARIABLE: &str = "GHOSTBENCH_PARQUET_PYTHON";

/// Versions that the tests were written with.
const PACKAGES: [&str; 2] = ["pyarrow==26.0.1", "moto[s3,server]==5.2.5"];

/// Installs both unless they are there, and returns the path of Python.
pub(super) fn install() -> Result<PathBuf> {
    Ok(super::python_environment(FOLDER, &PACKAGES)?.join("python"))
}
