//! Shows a run: writes scores and report, prints a table or JSON, and the report's path last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::{BenchmarkTables, ScoringRules, run_tables};
use cases::{Case, ContextItem, Score};
use replay::{RunContents, RunScores};
use scoring::gate::GateReport;
use scoring::run_summary::completeness_notes;
use scoring::{ComparedRuns, RunRows, RunSummary};

use crate::args::{GateArgs, ReportFormat, VerdictArgs};
use crate::exit::UsageError;
use crate::output::{self, count, shell_quoted};
use crate::progress::Progress;
use crate::steps::estimate;
use crate::steps::gates::{Baseline, check_run};
use crate::steps::run_replay::FinishedReplay;
use crate::steps::write_csv::write_csv;
use crate::views::score_sheet::{rules_json, tables_json};

/// Options for showing a run.
pub(crate) struct ReportOptions {
    /// The question that ranks engines.
    pub(crate) verdict: VerdictArgs,
    /// Engine or run to compare with.
    pub(crate) baseline: Option<String>,
    /// Rules to check.
    pub(crate) gates: GateArgs,
    /// The printed format.
    pub(crate) format: ReportFormat,
    /// Path of the HTML report.
    pub(crate) html: PathBuf,
    /// Folder for the tables as CSV.
    pub(crate) csv: Option<PathBuf>,
    /// Rules of the numbers of public benchmarks.
    pub(crate) rules: ScoringRules,
    /// Whether to open it in the browser.
    pub(crate) open: bool,
    /// Further suggested steps besides reading the report.
    pub(crate) next: Vec<String>,
    /// Extra fields of the `--json` output.
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
}

impl ReportOptions {
    /// Options with the report in the run's folder.
    pub(crate) fn in_run(folder: &Path, verdict: VerdictArgs, json: bool, open: bool) -> ReportOptions {
        let format = if json { ReportFormat::Json } else { ReportFormat::Table };
        ReportOptions {
            verdict,
            baseline: None,
            gates: GateArgs::default(),
            format,
            html: folder.join("report.html"),
            csv: None,
            rules: ScoringRules::Paper,
            open,
            next: Vec::new(),
            extra: serde_json::Map::new(),
        }
    }
}

impl ReportOptions {
    /// Adds the estimate of a replay, and how to repeat its failed requests.
    pub(crate) fn add_replay(&mut self, replayed: &FinishedReplay) {
        let estimate = replayed.estimate.as_ref();
        self.extra.extend(estimate.map(|estimate| ("estimate".to_owned(), estimate::json(estimate))));
        self.next
            .extend(replayed.retry.iter().map(|command| format!("Repeat the failed requests: {command}")));
    }
}

/// Returns the scores of all answers of a run; computes only those that its folder lacks.
pub(crate) fn score(folder: &Path, contents: &RunContents) -> Vec<Score> {
    let progress = Progress::spinner("scored");
    let RunScores { scores, computed } = replay::scores_of(folder, contents);
    let all = count(scores.len(), "answer");
    progress.finish(&if computed == scores.len() {
        all
    } else {
        format!("{computed} of {all}, the others before")
    });
    scores
}

/// Shows a run with the results of its gates, which the caller has to act on.
pub(crate) fn show(
    folder: &Path,
    contents: &RunContents,
    scores: &[Score],
    showing: &ReportOptions,
) -> anyhow::Result<GateReport> {
    let notes = completeness_notes(&contents.run, &contents.cases, &contents.predictions);
    let report = RunRows {
        run: &contents.run,
        cases: &contents.cases,
        predictions: &contents.predictions,
        scores,
        judgements: &replay::judgements(folder),
        notes: &notes,
    };
    let baseline = Baseline::find(showing.baseline.as_deref(), &contents.run)?;
    let mut question = showing.verdict.settings(contents.run.seed);
    question.baseline = baseline.engine();
    question.margin = question.margin.or(showing.gates.non_inferior.filter(|_| question.baseline.is_some()));
    let runs = ComparedRuns::new(&[report]);
    let summary = report.summary_with(&runs, &question)?;
    let tables = run_tables(&contents.cases, &contents.predictions, showing.rules);
    let gates = check_run(report, &runs, &baseline, &showing.gates, &question)?;
    if showing.html.is_dir() {
        return Err(
            UsageError(format!("{} is a folder; name a file with --out", showing.html.display())).into()
        );
    }
    let page = report::html(&report, &runs, &summary, &tables);
    private_files::write(&showing.html, page.as_bytes()).with_context(|| {
        format!("cannot write {}; choose another place with --out", showing.html.display())
    })?;
    if let Some(folder) = &showing.csv {
        write_csv(folder, &report::csv_tables(&summary, &runs, &tables))?;
    }
    print(folder, showing, &contents.cases, &summary, &gates, &tables)?;
    if showing.open {
        open::that_detached(&showing.html)
            .with_context(|| format!("cannot open {}", showing.html.display()))?;
    }
    Ok(gates)
}

fn print(
    folder: &Path,
    showing: &ReportOptions,
    cases: &[Case],
    summary: &RunSummary,
    gates: &GateReport,
    tables: &[BenchmarkTables],
) -> anyhow::Result<()> {
    let text = match showing.format {
        ReportFormat::Table => {
            let next = next_steps(folder, showing);
            let table = report::terminal::table(summary, tables, output::style(), &next);
            match report::gates_table(gates, output::style()) {
                gates if gates.is_empty() => table,
                gates => format!("{gates}\n{table}"),
            }
        }
        ReportFormat::Markdown => {
            let tables = report::benchmark_markdown(tables);
            let tables = if tables.is_empty() { tables } else { format!("\n{tables}") };
            report::gates_markdown(gates) + &report::markdown(summary) + &tables
        }
        ReportFormat::Json => json(folder, showing, cases, summary, gates, tables)?,
    };
    Ok(output::print(&text)?)
}

fn json(
    folder: &Path,
    showing: &ReportOptions,
    cases: &[Case],
    summary: &RunSummary,
    gates: &GateReport,
    tables: &[BenchmarkTables],
) -> anyhow::Result<String> {
    let mut object = showing.extra.clone();
    if !tables.is_empty() {
        let named = tables.iter().map(|tables| (tables.benchmark.to_owned(), tables_json(&tables.tables)));
        object.insert("benchmarks".to_owned(), serde_json::Value::Object(named.collect()));
        let rules = tables.iter().map(|tables| (tables.benchmark.to_owned(), rules_json(tables)));
        object.insert("benchmark_rules".to_owned(), serde_json::Value::Object(rules.collect()));
    }
    object.insert("gates".to_owned(), serde_json::to_value(gates)?);
    object.insert("run".to_owned(), folder.display().to_string().into());
    object.insert("report".to_owned(), showing.html.display().to_string().into());
    if let Some(csv) = &showing.csv {
        object.insert("csv".to_owned(), csv.display().to_string().into());
    }
    object.insert("summary".to_owned(), serde_json::from_str(&report::json(summary))?);
    let with_context = cases.iter().filter(|case| !case.context.is_empty());
    let contexts: BTreeMap<&str, &[ContextItem]> =
        with_context.map(|case| (case.id.as_str(), case.context.as_slice())).collect();
    object.insert("contexts".to_owned(), serde_json::to_value(contexts)?);
    Ok(format!("{:#}\n", serde_json::Value::Object(object)))
}

/// Returns the suggested steps. The report's path comes last, next to the prompt.
fn next_steps(folder: &Path, showing: &ReportOptions) -> Vec<String> {
    let mut steps =
        vec!["Read the cases that went wrong: open the report in a browser (--open does).".to_owned()];
    steps.extend(showing.next.iter().cloned());
    steps.push(format!("See every number: ghostbench report {} --json", shell_quoted(folder)));
    steps.extend(showing.csv.iter().map(|csv| format!("Tables: {}", csv.display())));
    steps.push(format!("Report: {}", showing.html.display()));
    steps
}
