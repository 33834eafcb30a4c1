//! `cargo xtask docs`: writes the documents that are made from tables in the code.

use std::fs;

use anyhow::{Context, Result};

/// Writes all of them. A test of the crate that owns the table fails while one is out of date.
pub(crate) fn run() -> Result<()> {
    for (path, text) in [
        ("docs/configuration.md", config::documentation()),
        ("docs/ghostbench.schema.json", config::schema()),
    ] {
        fs::write(path, text).with_context(|| format!("failed to write {path}"))?;
        println!("written: {path}");
    }
    Ok(())
}
