//! `ghostbench manual`: writes a manual page for each command, from the texts of `--help`.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::Args;

/// Runs the command.
pub(crate) fn run(folder: &Path) -> anyhow::Result<()> {
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Args::command(), folder));
    written.with_context(|| format!("failed to write manual pages into {}", folder.display()))
}
