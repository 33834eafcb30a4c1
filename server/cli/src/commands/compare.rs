//! `ghostbench compare`: the engines of several runs, on the cases that the runs share.

use scoring::RunComparison;
use scoring::run_comparison::ComparisonSettings;

use crate::args::{CompareArgs, ReportFormat};
use crate::output;
use crate::steps::scored_runs::{ScoredRun, named_runs, read_runs};

/// Runs the command.
pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let runs = read_runs(&args.runs)?;
    let seed = runs.first().map_or(1, |run: &ScoredRun| run.contents.run.seed);
    let mut question = args.verdict.settings(seed);
    question.margin = args.margin;
    let settings = ComparisonSettings { verdict: question, baseline: args.baseline.clone() };
    let comparison = RunComparison::new(&named_runs(&runs), &settings)?;
    let text = match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Table => report::comparison_table(&comparison, output::style()),
        ReportFormat::Markdown => report::comparison_markdown(&comparison),
        ReportFormat::Json => report::comparison_json(&comparison),
    };
    Ok(output::print(&text)?)
}
