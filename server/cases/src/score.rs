//! The metrics of one prediction.

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;
use crate::case::CaseId;
use crate::metric::Metrics;
use crate::prediction::Prediction;

/// The metrics of one prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Format version.
    pub schema: SchemaVersion,
    /// The case.
    pub case: CaseId,
    /// Name of the engine; empty in rows of schema 1.2 and older, which contain only the fingerprint.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// Fingerprint of the engine.
    pub fingerprint: String,
    /// Repetition.
    pub repetition: u32,
    /// Version of the code that computed the metrics; absent in rows of schema 1.4 and older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer: Option<u32>,
    /// The metrics; inapplicable ones are absent.
    pub metrics: Metrics,
}

impl Score {
    /// Creates the row of a prediction, computed by this version of the scorer.
    pub fn new(prediction: &Prediction, scorer: u32, metrics: Metrics) -> Score {
        Score {
            schema: SchemaVersion::CURRENT,
            case: prediction.case.clone(),
            engine: prediction.engine.name.clone(),
            fingerprint: prediction.engine.fingerprint.clone(),
            repetition: prediction.repetition,
            scorer: Some(scorer),
            metrics,
        }
    }

    /// Returns the key of its prediction.
    pub fn key(&self) -> (&str, &str, u32) {
        (&self.case, &self.engine, self.repetition)
    }
}
