//! The definition of a live trial: what `ghostbench trial start` was asked for, and when the trial ended.

use serde::{Deserialize, Serialize};

use super::TrialMode;
use crate::string_enum::string_enum;
use crate::{Metric, SchemaVersion};

string_enum! {
    /// Unit that keeps its arm in an `assign` trial.
    AssignmentUnit {
        /// The developer, for the whole trial.
        User = "user",
        /// A day, in UTC.
        Day = "day",
        /// An editor session.
        Session = "session",
        /// A file.
        File = "file",
    }
}

/// One arm of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialArm {
    /// Name of its engine, which is also the arm's.
    pub name: String,
    /// Relative weight of the arm in random assignments, above 0.
    pub weight: f64,
    /// Limit of requests in 60 seconds; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Limit of requests a day, in UTC; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_day: Option<u32>,
    /// Limit of cost a day, in the currency of the engine's prices; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_per_day: Option<f64>,
}

impl TrialArm {
    /// Creates an arm of weight 1 without limits.
    pub fn new(name: String) -> TrialArm {
        TrialArm {
            name,
            weight: 1.0,
            requests_per_minute: None,
            requests_per_day: None,
            budget_per_day: None,
        }
    }

    /// Whether its requests are limited.
    pub fn is_limited(&self) -> bool {
        self.requests_per_minute.is_some() || self.requests_per_day.is_some() || self.budget_per_day.is_some()
    }
}

/// A trial in one workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialDefinition {
    /// Format version.
    pub schema: SchemaVersion,
    /// Name, unique in the workspace.
    pub name: String,
    /// The experiment.
    pub mode: TrialMode,
    /// The arms; the first one is shown in `single` and `shadow`.
    pub arms: Vec<TrialArm>,
    /// Share of the opportunities at which nothing is shown, from 0 to below 1.
    pub holdout: f64,
    /// Unit of the assignment.
    pub unit: AssignmentUnit,
    /// Random text that makes assignments of different trials independent.
    pub salt: String,
    /// Metric that decides.
    pub primary: Metric,
    /// Difference below which two arms are equivalent, as a share: 0.01 is one percentage point.
    pub margin: f64,
    /// When it was started and confirmed, RFC 3339 in UTC.
    pub started_at: String,
    /// When it was stopped; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<String>,
}

impl TrialDefinition {
    /// Creates a running trial without a holdout that is decided by exact match, with a margin of one percentage point. Assignments are
    /// by user, with an empty salt.
    pub fn new(name: String, mode: TrialMode, arms: Vec<TrialArm>, started_at: String) -> TrialDefinition {
        TrialDefinition {
            schema: SchemaVersion::CURRENT,
            name,
            mode,
            arms,
            holdout: 0.0,
            unit: AssignmentUnit::User,
            salt: String::new(),
            primary: Metric::ExactMatch,
            margin: 0.01,
            started_at,
            stopped_at: None,
        }
    }

    /// Whether the trial runs.
    pub fn is_running(&self) -> bool {
        self.stopped_at.is_none()
    }
}
