//! `run.json`: engines, cases, code and version of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::prediction::EngineIdentity;
use crate::{CaseId, SchemaVersion};

/// An engine of a run and everything that can change its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineConfig {
    /// Name, kind, model and fingerprint.
    pub engine: EngineIdentity,
    /// Token price, if configured. Not part of the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Last day or month of the model's training data, as `2025-06`, if configured. Not part of the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<String>,
    /// Settings that are part of the fingerprint, as described by the engine and the completion pipeline.
    pub settings: BTreeMap<String, String>,
}

/// Suffix of an engine's name in a second row, in which copies of the truth are hidden from it.
pub const NO_COPIES_SUFFIX: &str = " no-copies";

/// Price per million tokens; all prices are in the same currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Price of input tokens; cached tokens cost the same.
    #[serde(rename = "in")]
    pub input: f64,
    /// Price of output tokens.
    #[serde(rename = "out")]
    pub output: f64,
}

impl Price {
    /// Returns the cost of this many tokens.
    pub fn cost_of(self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}

/// The code available to a run in addition to the cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceState {
    /// Commit, if the workspace is a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the working tree differs from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Hash of the indexed files.
    pub tree_hash: String,
    /// Number of indexed files.
    pub files: u64,
    /// Number of lines in them.
    pub lines: u64,
}

/// Other files of the workspace that contain the text removed by a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseCopies {
    /// The case.
    pub case: CaseId,
    /// Files that contain a copy of its truth.
    pub files: Vec<String>,
}

/// The machine on which the times of a run were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and architecture.
    pub os: String,
    /// Processor name, if known.
    pub cpu: String,
    /// Number of available processors.
    pub cores: u64,
}

/// A replay of one or more engines over a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Format version.
    pub schema: SchemaVersion,
    /// Version of Ghostbench.
    pub tool: String,
    /// Display name: the workspace's folder or the suite's file.
    pub name: String,
    /// Hash of the suite.
    pub suite: String,
    /// Random seed.
    pub seed: u64,
    /// Number of requests per case.
    pub repeat: u32,
    /// The engines.
    pub engines: Vec<EngineConfig>,
    /// The code; absent if all cases replay from their frozen context only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceState>,
    /// Files hidden in the second request to an engine; cases that are not listed have no copies and were requested only once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CaseCopies>,
    /// The machine.
    pub machine: Machine,
}
