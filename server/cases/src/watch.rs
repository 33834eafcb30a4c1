//! `history.jsonl`: the nights of a watched suite.

use serde::{Deserialize, Serialize};

use crate::string_enum::string_enum;
use crate::{Metric, SchemaVersion, Status};

string_enum! {
    /// Why the answers of an engine before and after a night are not compared with each other any more.
    ChangeKind {
        /// The engine's answers changed.
        Answers = "answers",
        /// Its settings, or the version of Ghostbench, changed.
        Settings = "settings",
        /// The code that it reads changed.
        Workspace = "workspace",
    }
}

/// A signal before and after a change of answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedShift {
    /// Its mean before.
    pub before: f64,
    /// Its mean after.
    pub after: f64,
    /// Upper bound of the probability of such a difference without a change.
    pub p: f64,
}

/// A change of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedChange {
    /// The kind.
    pub kind: ChangeKind,
    /// The first night with the changed engine: a number of rows of the history, from 0. It may be earlier than the night that
    /// reports it.
    pub first: usize,
    /// The scores, for a change of answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<WatchedShift>,
    /// The shares of answers whose text is not the usual one of its case, for a change of answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<WatchedShift>,
}

/// Failed requests of an engine on one night, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedFailure {
    /// Outcome of the requests.
    pub status: Status,
    /// The engine's message for the first of them, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of failed requests.
    pub count: usize,
}

/// One engine on one night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedEngine {
    /// Its name.
    pub name: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Number of answers.
    pub answers: usize,
    /// Number of failed requests, which are not compared.
    pub failed: usize,
    /// Their most frequent reasons, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<WatchedFailure>,
    /// Mean score of the answers; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The first night that this one is compared with: a number of rows of the history, from 0.
    pub since: usize,
    /// The change that this night revealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<WatchedChange>,
}

/// One night of a watched suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedNight {
    /// Format version.
    pub schema: SchemaVersion,
    /// Name of the run's folder in the history's folder.
    pub run: String,
    /// Start of the run, RFC 3339 in UTC.
    pub time: String,
    /// Hash of the suite, the same on all nights.
    pub suite: String,
    /// The metric, the same on all nights.
    pub metric: Metric,
    /// Hash of the code that engines could read; absent without a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_hash: Option<String>,
    /// The engines of this night.
    pub engines: Vec<WatchedEngine>,
}
