//! Jest and Vitest in a folder of packages, for tests of judging by unit tests.

use std::path::PathBuf;

use anyhow::Result;

use super::node;
use crate::process;

/// Folder of the packages.
const FOLDER: &str = "target/components/javascript-runners";

/// Variable with the path of Jest.
pub(super) const VARIABLE: &str = "GHOSTBENCH_JAVASCRIPT_RUNNERS";

/// Versions that the tests were written with.
const PACKAGES: [&str; 3] = ["jest@29.7.0", "vitest@3.2.4", "@vitest/coverage-v8@3.2.4"];

/// Installs both unless they are there, and returns the path of Jest.
pub(super) fn install() -> Result<PathBuf> {
    let folder = process::repository_root().join(FOLDER);
    let (jest, marker) = (folder.join("node_modules/.bin/jest"), folder.join("installed"));
    if !marker.is_file() {
        process::run(node::npm_install(&folder).args(PACKAGES))?;
        std::fs::write(marker, "")?;
    }
    Ok(jest)
}
