//! `ghostbench collect`: the server of a team's traces, and its client.

mod forget;
mod join;
mod reading;
mod send;
mod serve;
mod token;

use crate::args::{CollectArgs, CollectCommand};

/// Runs the command.
pub(crate) fn run(args: &CollectArgs) -> anyhow::Result<()> {
    match &args.command {
        CollectCommand::Serve(args) => serve::run(args),
        CollectCommand::Token(args) => token::run(args),
        CollectCommand::Join(args) => join::run(args),
        CollectCommand::Leave(args) => join::leave(args),
        CollectCommand::Send(args) => send::run(args),
        CollectCommand::Status(args) => reading::status(args),
        CollectCommand::Scoreboard(args) => reading::scoreboard(args),
        CollectCommand::Forget(args) => forget::run(args),
        CollectCommand::Audit(args) => reading::audit(args),
    }
}
