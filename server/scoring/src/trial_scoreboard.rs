//! The verdict of a live trial: which arm is better, which cannot be told apart, and how many opportunities would decide.
//!
//! ```text
//! opportunities --TrialLog::add--> numbers by opportunity and arm --TrialLog::scoreboard--> TrialScoreboard
//! ```
//!
//! Plain data for every output; knows no layout. A log keeps numbers only, no code: its memory is bounded by the number of opportunities.
//!
//! # Headline
//!
//! A truth that was written after a suggestion was seen favours the arm of that suggestion. The headline therefore counts unexposed
//! truths only, each weighted by 1 / the probability that it was unexposed: [`exposure`] says how. Exposed truths are in sections of
//! their own, about which nothing is claimed.
//!
//! # Claims
//!
//! Arms are compared on the same opportunities if both answered them. The interval of a difference is a confidence sequence over files,
//! or over developers if there are several: it holds at all times together, so that a trial may be watched and stopped at any moment. A
//! difference is claimed if the sequence excludes 0 at the level [`ALPHA`] divided by the number of pairs of arms, and enough files show
//! a difference. Nothing is claimed if some opportunities had no chance to stay unexposed.

mod arm_numbers;
mod arm_outcomes;
mod duel;
mod exposure;
mod health;
mod log;
mod names;
mod net_value;
mod pairs;
mod settings;
mod slices;

use cases::{Exposure, SchemaVersion};
use serde::Serialize;

pub use arm_numbers::{ArmNumbers, ScenarioNumbers, TrialSection, TruthQuality, TruthQualityRow};
pub use arm_outcomes::{ArmOutcomes, OutcomeCounts, SurvivalRow, TrialLatency};
pub use duel::{ArmVotes, DuelVotes, PositionVotes};
pub use health::{ArmTruths, EngineChange, LeftOutRows, ShareCheck, TrialHealth};
pub use log::TrialLog;
pub use net_value::{BestThreshold, NetValue};
pub use pairs::{Checkpoint, TrialClaim, TrialPair, TrialSampleSize};
pub use settings::{NetWeights, TrialMetric, TrialSettings};
pub use slices::{Recommendation, TrialSlice};

pub use crate::verdict::{ALPHA, POWER};

/// All numbers of a trial's scoreboard. Arms are indices into [`TrialScoreboard::arms`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialScoreboard {
    /// Version of the schema in which it is written.
    pub schema: SchemaVersion,
    /// The question.
    pub settings: TrialSettings,
    /// Names of the arms: the one that is shown most often first, as the baseline of the others.
    pub arms: Vec<String>,
    /// Number of opportunities.
    pub opportunities: usize,
    /// Files they come from.
    pub files: usize,
    /// Developers they come from.
    pub developers: usize,
    /// Start of the first and of the last opportunity, RFC 3339; absent without opportunities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<(String, String)>,
    /// The arm that is proven to be better than all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// Comparisons of all pairs of arms in the metric of the settings.
    pub pairs: Vec<TrialPair>,
    /// Truths by exposure, the headline first; without those of no opportunity.
    pub sections: Vec<TrialSection>,
    /// What became of the answers of each arm.
    pub outcomes: Vec<ArmOutcomes>,
    /// The votes of a duel; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duel: Option<DuelVotes>,
    /// Comparisons with the first arm by language and block kind, the largest first.
    pub slices: Vec<TrialSlice>,
    /// Which arm to use where; absent if no slice proves that another arm than [`Recommendation::elsewhere`] is better there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// How the headline's truths came about.
    pub truth_quality: Vec<TruthQualityRow>,
    /// Whether the trial can be trusted.
    pub health: TrialHealth,
}

impl TrialScoreboard {
    /// Returns the section of unexposed truths.
    pub fn headline(&self) -> Option<&TrialSection> {
        self.sections.iter().find(|section| section.exposure == Exposure::None)
    }

    /// Returns the comparison of two arms in either order.
    pub fn pair(&self, one: usize, other: usize) -> Option<&TrialPair> {
        self.pairs.iter().find(|pair| [(one, other), (other, one)].contains(&(pair.arm, pair.baseline)))
    }
}

impl TrialLog {
    /// Returns all numbers of the opportunities so far.
    pub fn scoreboard(&self, settings: &TrialSettings) -> TrialScoreboard {
        let view = log::LogView::new(self, settings);
        let pairs = pairs::pairs(&view);
        let winner = pairs::winner(&pairs, view.arms.len());
        let slices = slices::slices(&view);
        TrialScoreboard {
            schema: SchemaVersion::CURRENT,
            settings: *settings,
            arms: view.arms.iter().map(|&arm| self.arm_name(arm).to_owned()).collect(),
            opportunities: view.records.len(),
            files: self.files(),
            developers: self.developers(),
            period: view.period(),
            winner,
            sections: arm_numbers::sections(&view),
            outcomes: arm_outcomes::outcomes(&view),
            duel: duel::votes(&view),
            recommendation: slices::recommendation(&slices, winner.unwrap_or(0)),
            slices,
            truth_quality: arm_numbers::truth_quality(&view),
            health: health::health(&view),
            pairs,
        }
    }
}
