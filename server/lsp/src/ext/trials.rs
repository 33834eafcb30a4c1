//! Messages about live trials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::{Position, TextDocumentIdentifier, Uri};

/// Argument of [`SHOULD_HAVE_SUGGESTED_COMMAND`](super::SHOULD_HAVE_SUGGESTED_COMMAND) and
/// [`NOT_WANTED_COMMAND`](super::NOT_WANTED_COMMAND).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkPlaceParams {
    /// The document; it must be open.
    pub text_document: TextDocumentIdentifier,
    /// The cursor.
    pub position: Position,
}

/// Status of a trial. The names of its arms are hidden, so that a duel is blind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialStatus {
    /// Name of the trial.
    pub name: String,
    /// One of single, shadow, assign and duel.
    pub mode: String,
    /// Number of events that were left out because the recorder was behind.
    pub dropped: u64,
}

/// Parameters of [`TRIAL`](super::TRIAL) and [`STOP_TRIAL`](super::STOP_TRIAL).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialParams {
    /// Any document of the folder; if unset, the first folder is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}

/// Whether opportunities are recorded in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TrialStateKind {
    /// No trial is running.
    Off,
    /// A trial is running and recorded.
    Running,
    /// A trial is running, but nothing is recorded.
    Paused,
}

/// State of the live trial of a folder. While the developer must not know the arms, their names are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialState {
    /// The folder.
    pub folder: Uri,
    /// Whether it is running.
    pub state: TrialStateKind,
    /// Name of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One of single, shadow, assign and duel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Names of the arms; absent in assign and duel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<Vec<String>>,
    /// Level of recording: full, structure, metrics or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Why nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When recording resumes, RFC 3339 in UTC, if the developer paused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
    /// Counts of this day in UTC; only in the result of [`TRIAL`](super::TRIAL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<TrialDay>,
    /// The state in words.
    pub message: String,
}

/// Counts of opportunities of one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialDay {
    /// Opportunities.
    pub opportunities: u64,
    /// Opportunities with a truth.
    pub truths: u64,
    /// Opportunities at which something was shown.
    pub shown: u64,
    /// Opportunities whose suggestion was accepted, at least in part.
    pub accepted: u64,
}

/// Parameters of [`START_TRIAL`](super::START_TRIAL).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartTrialParams {
    /// Any document of the folder; if unset, the first folder is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
    /// The experiment.
    pub mode: cases::TrialMode,
    /// Names of the engines; the first one is shown in single and shadow.
    pub arms: Vec<String>,
    /// Name of the trial; if unset, the present time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Unit that keeps its engine in assign; default: session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<cases::AssignmentUnit>,
    /// Share of the opportunities at which nothing is shown; default as on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Weights of engines in random assignments; default: 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// Limits of requests to engines a minute; defaults as on the command line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests_per_minute: BTreeMap<String, u32>,
    /// Limits of requests to engines a day.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests_per_day: BTreeMap<String, u32>,
    /// Limits of cost of engines a day, in the currency of their prices.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budget_per_day: BTreeMap<String, f64>,
    /// Metric that decides; default: exact match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<cases::Metric>,
    /// Difference below which two engines are equivalent, as a share; default as on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The lines of [`StartTrialResult::disclosures`] that the developer has confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<String>,
}

/// Result of [`START_TRIAL`](super::START_TRIAL).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartTrialResult {
    /// False if the disclosures have to be confirmed first.
    pub started: bool,
    /// Name of the trial.
    pub name: String,
    /// What the engines may send and spend a day: a line for each that sends code off this machine or costs money.
    pub disclosures: Vec<String>,
    /// Why nothing will be recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Result of [`STOP_TRIAL`](super::STOP_TRIAL).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopTrialResult {
    /// Name of the trial.
    pub name: String,
    /// The arms whose names were hidden; empty in single and shadow.
    pub revealed: Vec<RevealedArm>,
}

/// An arm whose name was hidden while its trial was running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RevealedArm {
    /// Name of its engine.
    pub name: String,
    /// The name that was shown.
    pub shown_as: String,
}
