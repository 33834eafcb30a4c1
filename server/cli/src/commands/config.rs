//! `ghostbench config`: prints information about the configuration format.

use crate::args::{ConfigArgs, ConfigCommand};
use crate::output::print;

/// Runs the command.
pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<()> {
    match args.command {
        ConfigCommand::Schema => Ok(print(&config::schema())?),
    }
}
