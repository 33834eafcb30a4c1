//! Ghostbench's own folder, where everything goes that the user did not ask for elsewhere. Nothing is written into a workspace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use etcetera::BaseStrategy;

use crate::exit::Usage;

/// A new folder for a run of `name`: numbered, so that runs of one workspace stand in order.
pub(crate) fn new_run(name: &str) -> anyhow::Result<PathBuf> {
    let parent = folder()?.join("runs").join(file_name(name));
    claim(&parent).with_context(|| {
        format!("cannot make a folder in {}; choose another place with --out", parent.display())
    })
}

/// Where a suite of `name` goes.
pub(crate) fn suite(name: &str, seed: u64) -> anyhow::Result<PathBuf> {
    let parent = folder()?.join("suites");
    fs::create_dir_all(&parent)
        .with_context(|| format!("cannot make {}; choose another place with --out", parent.display()))?;
    Ok(parent.join(format!("{}-{seed}.jsonl", file_name(name))))
}

fn folder() -> anyhow::Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| {
        Usage("there is no home folder to keep runs in; choose a place with --out".to_owned())
    })?;
    Ok(strategy.data_dir().join("ghostbench"))
}

/// Makes the first folder `1`, `2`, ... that does not exist yet; two processes never get the same one.
fn claim(parent: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    for number in 1u32.. {
        let path = parent.join(number.to_string());
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("all numbers are taken"))
}

/// Keeps letters, digits, dashes, dots and underscores, so that any name is a harmless file name.
fn file_name(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let kept: String = name.chars().map(keep).collect();
    let trimmed = kept.trim_matches(['.', '-']);
    if trimmed.is_empty() { "workspace".to_owned() } else { trimmed.to_owned() }
}
