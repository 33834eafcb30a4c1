//! Arguments of the commands that show and export runs.

use std::path::PathBuf;

use clap::ValueEnum;

use super::judging::{BaselineArgs, GateArgs, VerdictArgs};

/// `ghostbench report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Folder of a run.
    pub(crate) run: PathBuf,
    /// The question that ranks engines.
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// The baseline.
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Rules that fail the command.
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Same as `--format json`.
    #[arg(long)]
    pub(crate) json: bool,
    /// File for the HTML report [default: report.html in the run's folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Folder for the tables as CSV, one file each; docs/formats.md lists them. Existing files of these names are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// Compute the tables of public benchmarks as the originals' programs do, with their bugs: for comparisons with published numbers.
    /// Only these tables change; the other numbers of the report are Ghostbench's own.
    #[arg(long)]
    pub(crate) faithful: bool,
    /// Open the report in the browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// `ghostbench compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Folders of two or more runs.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The question that ranks engines.
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Engine to compare every other one with [default: all pairs]. An engine that several runs have is named `ENGINE @ RUN`.
    #[arg(long, value_name = "ENGINE")]
    pub(crate) baseline: Option<String>,
    /// Rules that fail the command.
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// File for a page with the verdict, its plots and the cases.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Folder for the tables as CSV, one file each; docs/formats.md lists them. Existing files of these names are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Same as `--format json`.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Folder of a run, or a suite.
    #[arg(value_name = "RUN | SUITE")]
    pub(crate) run: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ExportFormat::InspectEval)]
    pub(crate) format: ExportFormat,
    /// Folder for the files.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Data set of repoqa to write, too [default: the one that `import` wrote beside the suite].
    #[arg(long, value_name = "FILE")]
    pub(crate) dataset: Option<PathBuf>,
    /// Print the list of files as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Logs of inspect_ai (`.eval`), one per engine and origin of the cases.
    InspectEval,
    /// Rows of Codev-Bench, a folder per mode.
    CodevBench,
    /// Rows of CrossCodeEval, and predictions.
    Crosscodeeval,
    /// Data set of RepoQA, and output files, one per engine and size of context.
    Repoqa,
    /// Table and document of YABLoCo (or MERA's rows), and a table of generations per engine.
    Yabloco,
    /// Imported rows of SAFIM, and completions.
    Safim,
    /// Imported rows of HumanEval-infilling, and completions.
    HumanevalInfilling,
    /// Imported rows of RepoEval, and completions.
    Repoeval,
    /// Imported rows of RepoBench.
    Repobench,
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A table for the terminal.
    Table,
    /// Every number, for programs.
    Json,
    /// A table for pull requests and wikis.
    Markdown,
}
