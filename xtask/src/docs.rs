//! `cargo xtask docs`: writes the documents that are generated from tables in the code, and the images that tests make.

use std::fs;

use anyhow::{Context, Result};
use xtask::extension_settings::{MANIFEST, SCHEMA, with_settings};
use xtask::{components, extension, process};

/// Folder of the images, relative to the repository.
const IMAGES: &str = "docs/images";

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct DocsArgs {
    /// Make the images of the documents again, from real editors, pages and terminals
    #[arg(long)]
    images: bool,
}

/// Runs the tests that compare the documents with their tables, in update mode.
pub(crate) fn run(args: &DocsArgs) -> Result<()> {
    if args.images {
        return draw_images();
    }
    process::run(process::cargo().args(["test", "--package", "config", "docs::"]).env("UPDATE_EXPECT", "1"))?;
    write_extension_settings()
}

/// Writes the settings of the VS Code extension, after the schema.
fn write_extension_settings() -> Result<()> {
    let root = process::repository_root();
    let read =
        |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("failed to read {path}"));
    let manifest = with_settings(&read(MANIFEST)?, &read(SCHEMA)?)?;
    fs::write(root.join(MANIFEST), manifest).with_context(|| format!("failed to write {MANIFEST}"))
}

/// Runs the tests that look at the images, and has them written.
fn draw_images() -> Result<()> {
    let components = components::install()?;
    extension::build()?;
    process::run(process::cargo().args(["build", "--workspace", "--bins", "--tests"]))?;
    // The images show times.
    process::run(process::cargo().args(["build", "--release", "--package", "cli"]))?;
    let program = format!("target/release/ghostbench{}", std::env::consts::EXE_SUFFIX);
    let images = process::repository_root().join(IMAGES);
    let mut tests = process::cargo();
    tests.args(["nextest", "run", "--workspace", "-E", "test(/^images::/)"]).envs(components);
    tests.env("GHOSTBENCH_BIN", process::repository_root().join(program));
    process::run(tests.env("GHOSTBENCH_IMAGES", images))
}
