//! `cargo xtask docs`: writes the documents that are made from tables in the code.

use anyhow::Result;
use xtask::process;

/// Lets the tests that compare the documents with their tables write them.
pub(crate) fn run() -> Result<()> {
    process::run(process::cargo().args(["test", "--package", "config", "docs::"]).env("UPDATE_EXPECT", "1"))
}
