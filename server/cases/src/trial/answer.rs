//! The answer of one arm to one opportunity.

use serde::{Deserialize, Serialize};

use crate::metric::Metrics;
use crate::prediction::{Cost, EngineIdentity, Finish, PredictionTimings, Status, TokenCounts};
use crate::string_enum::string_enum;

string_enum! {
    /// Role of an arm in one opportunity.
    ArmRole {
        /// Its answer was offered to the developer.
        Shown = "shown",
        /// Its answer would have been offered, but the opportunity is a holdout.
        Held = "held",
        /// Its answer was recorded only.
        Shadow = "shadow",
    }
}

/// The answer of one arm. Times are in ms since the opportunity was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmAnswer {
    /// Name of the arm.
    pub arm: String,
    /// Its engine.
    pub engine: EngineIdentity,
    /// Its role.
    pub role: ArmRole,
    /// Outcome of the request.
    pub status: Status,
    /// Reason of the status, if it needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The engine's unmodified text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
    /// The text to insert at the cursor of the opportunity.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Why the text ended.
    pub finish: Finish,
    /// When the request was sent to the arm.
    pub asked: f64,
    /// Durations since the arm was asked.
    pub ms: PredictionTimings,
    /// Probability of the text by the engine, from 0 to 1, if it reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Token counts, if the engine reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts>,
    /// Cost, if the engine has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether the answer came from a cache or a request that was under way.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// Metrics of the answer for the last truth, only at [`super::PrivacyLevel::Metrics`], where there is no text to compute them from.
    #[serde(default, skip_serializing_if = "Metrics::is_empty")]
    pub metrics: Metrics,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl ArmAnswer {
    /// Creates an answer without text, times and costs.
    pub fn empty(arm: String, engine: EngineIdentity, role: ArmRole, status: Status) -> ArmAnswer {
        ArmAnswer {
            arm,
            engine,
            role,
            status,
            reason: None,
            raw: String::new(),
            text: String::new(),
            finish: Finish::None,
            asked: 0.0,
            ms: PredictionTimings { gather: 0.0, first: None, total: 0.0 },
            confidence: None,
            tokens: None,
            cost: None,
            cached: false,
            metrics: Metrics::new(),
        }
    }

    /// Whether the engine failed: it returned neither text nor the decision to suggest nothing.
    pub fn has_failed(&self) -> bool {
        matches!(self.status, Status::Timeout | Status::Cancelled | Status::Error)
    }
}
