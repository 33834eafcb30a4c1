//! `ghostbench completions`: prints a script with which a shell completes commands, options and values.

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::output::print;

/// Runs the command.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "ghostbench", &mut script);
    Ok(print(&String::from_utf8(script)?)?)
}
