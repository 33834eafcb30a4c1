//! The question of a scoreboard.

use std::fmt;
use std::str::FromStr;

use cases::TrialDefinition;
use serde::{Serialize, Serializer};

/// Difference that does not matter by default: two points.
const DEFAULT_MARGIN: f64 = 0.02;

/// The question of a scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialSettings {
    /// The metric that decides.
    pub metric: TrialMetric,
    /// Difference that does not matter, in the unit of the metric (0.01 is one point of a share).
    pub margin: f64,
    /// Value of an outcome.
    pub weights: NetWeights,
}

impl TrialSettings {
    /// Returns the question that a trial was started with, with these values of outcomes. A metric that only replays have is replaced by
    /// the default.
    pub fn of_trial(trial: &TrialDefinition, weights: NetWeights) -> TrialSettings {
        let metric = trial.primary.name().parse().unwrap_or(TrialMetric::ExactMatch);
        TrialSettings { metric, margin: trial.margin, weights }
    }
}

impl Default for TrialSettings {
    fn default() -> TrialSettings {
        TrialSettings {
            metric: TrialMetric::ExactMatch,
            margin: DEFAULT_MARGIN,
            weights: NetWeights::default(),
        }
    }
}

/// Value of the outcomes of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NetWeights {
    /// It was accepted, or typed through.
    pub accepted: f64,
    /// It was shown in vain.
    pub rejected: f64,
    /// Nothing was shown.
    pub silent: f64,
}

impl Default for NetWeights {
    fn default() -> NetWeights {
        NetWeights { accepted: 0.75, rejected: -0.25, silent: 0.0 }
    }
}

/// A metric of a trial. Truths decide the first ones, the developer's actions the last three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialMetric {
    /// The answer is the truth (CrossCodeEval's exact match).
    ExactMatch,
    /// Edit similarity to the truth (indel).
    EditSimilarity,
    /// F1 of the identifiers.
    IdentifierF1,
    /// There was an answer before the next key.
    InTime,
    /// The answer is the truth and was there before the next key.
    ExactInTime,
    /// Nothing was suggested where nothing was needed.
    Restraint,
    /// Value if right answers are accepted and others rejected.
    TruthValue,
    /// Value of what the developer did with the shown answers.
    ObservedValue,
    /// Accepted characters that survived, per opportunity.
    RetainedCharacters,
    /// The developer chose the arm's answer in a duel.
    Preferred,
}

impl TrialMetric {
    /// All metrics, in the order of tables.
    pub const ALL: [TrialMetric; 10] = [
        TrialMetric::ExactMatch,
        TrialMetric::EditSimilarity,
        TrialMetric::IdentifierF1,
        TrialMetric::InTime,
        TrialMetric::ExactInTime,
        TrialMetric::Restraint,
        TrialMetric::TruthValue,
        TrialMetric::ObservedValue,
        TrialMetric::RetainedCharacters,
        TrialMetric::Preferred,
    ];

    /// Returns the name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TrialMetric::ExactMatch => "exact_match",
            TrialMetric::EditSimilarity => "edit_similarity",
            TrialMetric::IdentifierF1 => "identifier_f1",
            TrialMetric::InTime => "in_time",
            TrialMetric::ExactInTime => "exact_in_time",
            TrialMetric::Restraint => "restraint",
            TrialMetric::TruthValue => "truth_value",
            TrialMetric::ObservedValue => "observed_value",
            TrialMetric::RetainedCharacters => "retained_characters",
            TrialMetric::Preferred => "preferred",
        }
    }

    /// Returns the title of its column.
    pub fn label(self) -> &'static str {
        match self {
            TrialMetric::ExactMatch => "exact match",
            TrialMetric::EditSimilarity => "edit similarity",
            TrialMetric::IdentifierF1 => "identifier F1",
            TrialMetric::InTime => "in time",
            TrialMetric::ExactInTime => "exact in time",
            TrialMetric::Restraint => "restraint",
            TrialMetric::TruthValue => "net value by truth",
            TrialMetric::ObservedValue => "net value observed",
            TrialMetric::RetainedCharacters => "retained characters",
            TrialMetric::Preferred => "preferred",
        }
    }

    /// Whether truths decide it, so that only unexposed opportunities count.
    pub fn is_of_truths(self) -> bool {
        !matches!(self, TrialMetric::ObservedValue | TrialMetric::RetainedCharacters | TrialMetric::Preferred)
    }

    /// Whether its values are shares of a whole, shown in percent.
    pub fn is_share(self) -> bool {
        !matches!(
            self,
            TrialMetric::TruthValue | TrialMetric::ObservedValue | TrialMetric::RetainedCharacters
        )
    }
}

impl fmt::Display for TrialMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TrialMetric {
    type Err = String;

    fn from_str(name: &str) -> Result<TrialMetric, String> {
        TrialMetric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(|| {
            let known = TrialMetric::ALL.map(TrialMetric::name);
            format!("unknown metric `{name}`; known are {}", known.join(", "))
        })
    }
}

impl Serialize for TrialMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
