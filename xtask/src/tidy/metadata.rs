//! The packages of the workspace and all their dependencies, from `cargo metadata`.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::process;

/// A package: one of ours or a third party's.
#[derive(Debug)]
pub(crate) struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Folder of its manifest relative to the repository root; `None` for a third party's.
    pub folder: Option<String>,
    /// Licence expression.
    pub licence: Option<String>,
    /// Direct dependencies, including those of tests and build scripts, under their original names.
    pub dependencies: Vec<String>,
}

/// Reads all packages; fails if `Cargo.lock` is out of date.
pub(crate) fn read() -> Result<Vec<Package>> {
    let json = process::output(process::cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&json)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    packages.iter().map(|package| parse(package).context("cargo metadata has an unknown form")).collect()
}

fn parse(package: &Value) -> Option<Package> {
    let text = |key: &str| package[key].as_str().map(str::to_owned);
    let dependencies = package["dependencies"].as_array()?.iter();
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        folder: if package["source"].is_null() {
            Some(relative_folder(&text("manifest_path")?)?)
        } else {
            None
        },
        licence: text("license"),
        dependencies: dependencies
            .filter_map(|dependency| Some(dependency["name"].as_str()?.to_owned()))
            .collect(),
    })
}

fn relative_folder(manifest: &str) -> Option<String> {
    let folder = Path::new(manifest).parent()?.strip_prefix(process::repository_root()).ok()?;
    Some(folder.to_str()?.replace('\\', "/"))
}
