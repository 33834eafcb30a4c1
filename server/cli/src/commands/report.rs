//! `ghostbench report`: shows a complete or incomplete run as a table and as HTML.

use benchmarks::ScoringRules;

use crate::args::{ReportArgs, ReportFormat};
use crate::steps::gates::require_passed;
use crate::steps::show_run::{ReportOptions, score, show};

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let mut showing = ReportOptions::in_run(&args.run, args.verdict, args.json, args.open);
    showing.baseline.clone_from(&args.baseline.baseline);
    showing.gates = args.gates.clone();
    if args.format != ReportFormat::Table {
        showing.format = args.format;
    }
    if let Some(html) = &args.out {
        showing.html.clone_from(html);
    }
    showing.csv.clone_from(&args.csv);
    showing.rules = if args.faithful { ScoringRules::Faithful } else { ScoringRules::Paper };
    let contents = replay::read_run(&args.run)?;
    let scores = score(&args.run, &contents);
    require_passed(&show(&args.run, &contents, &scores, &showing)?)
}
