//! `cargo xtask docs`: writes the documents that are generated from tables in the code.

use anyhow::Result;
use xtask::process;

/// Runs the tests that compare the documents with their tables, in update mode.
pub(crate) fn run() -> Result<()> {
    process::run(process::cargo().args(["test", "--package", "config", "docs::"]).env("UPDATE_EXPECT", "1"))
}
