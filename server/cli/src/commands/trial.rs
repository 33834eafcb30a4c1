//! `ghostbench trial`: starts and stops live trials, and shows, exports and forgets what they recorded.

mod export;
mod forget;
mod import;
mod merge;
mod review;
mod scoreboard;
mod simulate;
mod start;
mod status;
mod stop;

use crate::args::{TrialArgs, TrialCommand};

/// Runs the command.
pub(crate) fn run(args: &TrialArgs) -> anyhow::Result<()> {
    match &args.command {
        TrialCommand::Start(args) => start::run(args),
        TrialCommand::Stop(args) => stop::run(args),
        TrialCommand::Status(args) => status::run(args),
        TrialCommand::Scoreboard(args) => scoreboard::run(args),
        TrialCommand::Review(args) => review::run(args),
        TrialCommand::Export(args) => export::run(args),
        TrialCommand::Import(args) => import::run(args),
        TrialCommand::Forget(args) => forget::run(args),
        TrialCommand::Merge(args) => merge::run(args),
        TrialCommand::Simulate(args) => simulate::run(args),
    }
}
