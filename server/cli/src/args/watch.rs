//! Arguments of `ghostbench watch`.

use std::path::PathBuf;

use cases::Metric;

use super::values::parse_ranking_metric;
use super::{EngineArgs, ReportFormat};

/// `ghostbench watch`.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// The suite, the same every night.
    #[arg(required_unless_present = "show")]
    pub(crate) suite: Option<PathBuf>,
    /// Folder of the history; the first night creates it.
    #[arg(long, value_name = "DIR")]
    pub(crate) history: PathBuf,
    /// The code that engines may read. Nights with different code are not compared, so use a checkout that does not change.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Selection of engines. Near-copies are never hidden: they are the same every night.
    #[command(flatten)]
    pub(crate) asking: EngineArgs,
    /// Metric that is watched, the same every night; cases without code count by restraint.
    #[arg(long, value_name = "METRIC", default_value_t = Metric::ExactMatch, value_parser = parse_ranking_metric)]
    pub(crate) primary: Metric,
    /// Show the history, and make no requests.
    #[arg(long)]
    pub(crate) show: bool,
    /// Exit with code 1 if the last night revealed a change.
    #[arg(long)]
    pub(crate) fail_on_change: bool,
    /// File for a page with the scores over time.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Folder for the nights and their failures as CSV; docs/formats.md lists the columns. Existing files of these names are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Same as `--format json`.
    #[arg(long)]
    pub(crate) json: bool,
}
