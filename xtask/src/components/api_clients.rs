//! The official Python clients of OpenAI and Ollama in a virtual environment, for tests of the front door.

use std::path::PathBuf;

use anyhow::Result;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/api-clients";

/// Variable with the path of its Python.
pub(super) const VARIABLE: &str = "GHOSTBENCH_API_CLIENTS";

/// Versions that the tests were written with.
const PACKAGES: [&str; 2] = ["openai==3.57.0", "ollama==0.6.3"];

/// Installs both unless they are there, and returns the path of Python.
pub(super) fn install() -> Result<PathBuf> {
    Ok(super::python_environment(FOLDER, &PACKAGES)?.join("python"))
}
