//! `ghostbench compare`: the engines of several runs, on the cases that the runs share.

use scoring::RunComparison;
use scoring::run_comparison::{ComparisonSettings, NamedRun, compared_runs};

use crate::args::{CompareArgs, ReportFormat};
use crate::output;
use crate::steps::gates::{check_comparison, require_passed};
use crate::steps::scored_runs::{ScoredRun, read_runs};
use crate::steps::write_csv::write_csv;

/// Runs the command.
pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let runs = read_runs(&args.runs)?;
    let seed = runs.first().map_or(1, |run: &ScoredRun| run.contents.run.seed);
    let mut question = args.verdict.settings(seed);
    question.margin = question.margin.or(args.gates.non_inferior);
    let settings = ComparisonSettings { verdict: question, baseline: args.baseline.clone() };
    let runs: Vec<NamedRun<'_>> = runs.iter().map(ScoredRun::named).collect();
    let compared = compared_runs(&runs);
    let comparison = RunComparison::new(&runs, &compared, &settings)?;
    let gates = check_comparison(&comparison, &compared, &args.gates, &question)?;
    if let Some(page) = &args.html {
        let html = report::comparison_html(&comparison, &runs, &compared);
        output::write_page(page, html.as_bytes())?;
    }
    if let Some(folder) = &args.csv {
        write_csv(folder, &report::comparison_csv_tables(&comparison, &compared))?;
    }
    let text = match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Table => {
            let (comparison, gates) = (
                report::comparison_table(&comparison, output::style()),
                report::gates_table(&gates, output::style()),
            );
            [gates, comparison].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
        }
        ReportFormat::Markdown => report::gates_markdown(&gates) + &report::comparison_markdown(&comparison),
        ReportFormat::Json => {
            let mut object = serde_json::to_value(&comparison)?;
            object["gates"] = serde_json::to_value(&gates)?;
            format!("{object:#}\n")
        }
    };
    output::print(&text)?;
    require_passed(&gates)
}
