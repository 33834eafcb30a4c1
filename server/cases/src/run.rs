//! `run.json`: what was asked of whom, on which code, by which version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::prediction::EngineIdentity;
use crate::{CaseId, SchemaVersion};

/// One engine of a run with everything that can change its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineConfig {
    /// Name, kind, model and fingerprint.
    pub engine: EngineIdentity,
    /// What its tokens cost, where somebody has said so. It takes no part in the fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The settings that went into the fingerprint, as the engine and the completion pipeline describe them.
    pub settings: BTreeMap<String, String>,
}

/// Prices of a million tokens, in whatever currency all prices are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Of tokens read; cached ones cost the same here.
    #[serde(rename = "in")]
    pub input: f64,
    /// Of tokens written.
    #[serde(rename = "out")]
    pub output: f64,
}

impl Price {
    /// What so many tokens cost.
    pub fn cost_of(self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}

/// The code that a run reads besides the cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceState {
    /// Commit, where the workspace is a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the working tree differs from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Hash of the indexed files.
    pub tree_hash: String,
    /// Indexed files.
    pub files: u64,
    /// Lines in them.
    pub lines: u64,
}

/// Where else in the workspace the text is that a case removes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseCopies {
    /// The case.
    pub case: CaseId,
    /// Files that hold a copy of its truth.
    pub files: Vec<String>,
}

/// The machine that a run's times were measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and architecture.
    pub os: String,
    /// Processor name, where it is known.
    pub cpu: String,
    /// Processors available.
    pub cores: u64,
}

/// One replay of engines over a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Format version.
    pub schema: SchemaVersion,
    /// Version of Ghostbench.
    pub tool: String,
    /// Name for people: the workspace's folder or the suite's file.
    pub name: String,
    /// Hash of the suite.
    pub suite: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Times every case is asked.
    pub repeat: u32,
    /// The engines.
    pub engines: Vec<EngineConfig>,
    /// The code; absent when cases replay from frozen context only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceState>,
    /// Files that were hidden where an engine was asked a second time; cases that are not listed have none, and were not asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CaseCopies>,
    /// The machine.
    pub machine: Machine,
}
