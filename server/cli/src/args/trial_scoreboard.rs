//! Arguments of `ghostbench trial scoreboard`.

use std::path::PathBuf;

use scoring::trial_scoreboard::{NetWeights, TrialMetric};

use super::values::{parse_margin, parse_weights};
use super::{ReportFormat, SettingsArgs};

/// `ghostbench trial scoreboard`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialScoreboardArgs {
    /// Files of opportunities or bundles of them, as JSON Lines [default: the store of the workspace].
    pub(crate) files: Vec<PathBuf>,
    /// The workspace of the trial.
    #[arg(long, default_value = ".", value_name = "DIR", conflicts_with = "files")]
    pub(crate) workspace: PathBuf,
    /// Name of the trial [default: the last one of the workspace, or all opportunities of the files].
    #[arg(long, value_name = "NAME")]
    pub(crate) trial: Option<String>,
    /// Metric that decides: exact_match, edit_similarity, identifier_f1, in_time, exact_in_time, restraint, truth_value, observed_value,
    /// retained_characters or preferred [default: that of the trial, for files exact_match].
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<TrialMetric>,
    /// Difference that does not matter, in points such as 1pt [default: that of the trial, for files 2pt].
    #[arg(long, value_name = "POINTS", value_parser = parse_margin)]
    pub(crate) margin: Option<f64>,
    /// Value of an accepted suggestion, of one shown in vain, and of silence [default: those of the settings, 0.75,-0.25,0].
    #[arg(long, value_name = "A,R,S", value_parser = parse_weights, allow_hyphen_values = true)]
    pub(crate) weights: Option<NetWeights>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Same as `--format json`.
    #[arg(long)]
    pub(crate) json: bool,
    /// File for the scoreboard as a web page. It contains code.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Open the page in the browser.
    #[arg(long, requires = "html")]
    pub(crate) open: bool,
}
