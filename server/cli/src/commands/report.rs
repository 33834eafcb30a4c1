//! `ghostbench report`: a run, finished or not, as a table and as HTML.

use crate::args::{Format, ReportArgs};
use crate::steps::show::{Showing, score, show};

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let mut showing = Showing::in_run(&args.run, args.json, args.open);
    if args.format != Format::Table {
        showing.format = args.format;
    }
    if let Some(html) = &args.out {
        showing.html.clone_from(html);
    }
    let contents = replay::read_run(&args.run)?;
    let scores = score(&contents);
    show(&args.run, &contents, &scores, &showing)
}
