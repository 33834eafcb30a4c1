//! An opportunity: one moment of a live trial at which a completion could help, with the answers of all arms and the text that the
//! developer finally wrote.
//!
//! A row is written again, with the same id, whenever more is known about it: the last one counts. All texts of a row are at its
//! [`PrivacyLevel`]. Times are milliseconds since `opened_at`, by a clock that never goes backwards.

mod answer;
mod bundle;
mod case;
mod continue_dev;
mod definition;
mod imported_event;
mod open_telemetry;
mod outcome;
mod tabby;
mod timestamp;
mod truth;
mod zed;

use serde::{Deserialize, Serialize};

use crate::case::{BlockKind, ContextItem};
use crate::string_enum::string_enum;
use crate::task::Task;
use crate::{Exposure, SchemaVersion};

pub use answer::{ArmAnswer, ArmRole};
pub use bundle::{Bundle, BundleConsent, BundleError, Datasheet};
pub use continue_dev::{from_continue, to_continue};
pub use definition::{AssignmentUnit, TrialArm, TrialDefinition};
pub use imported_event::ImportedPlace;
pub use open_telemetry::{EvaluatedOpportunity, otlp_evaluations, otlp_spans};
pub use outcome::{AcceptedPart, OfferOutcome, OutcomeKind, Survival, SurvivalAge, SurvivalKind};
pub use tabby::{TabbyLog, from_tabby};
pub use truth::{LossReason, Provenance, ProvenanceSpan, Truth, TruthStage};
pub use zed::from_zed;

/// Id of an opportunity: 32 hexadecimal digits, unique in all stores.
pub type OpportunityId = String;

string_enum! {
    /// How an opportunity began.
    Trigger {
        /// The editor asked while the developer typed.
        Automatic = "automatic",
        /// The developer asked for a completion.
        Manual = "manual",
        /// The developer said: a suggestion was missing here.
        ShouldHaveSuggested = "should_have_suggested",
        /// The developer said: nothing should have been suggested here.
        NotWanted = "not_wanted",
    }
}

string_enum! {
    /// Experiment of a trial.
    TrialMode {
        /// One engine; opportunities are recorded.
        Single = "single",
        /// One engine is shown, the others answer the same question in shadow.
        Shadow = "shadow",
        /// Each unit (developer, day, session or file) sees one of the engines.
        Assign = "assign",
        /// Two answers are offered without names, in random order.
        Duel = "duel",
    }
}

string_enum! {
    /// How much of the code a row contains.
    PrivacyLevel {
        /// All texts, without secrets.
        Full = "full",
        /// Texts with consistently renamed identifiers and literals.
        Structure = "structure",
        /// Numbers only; all texts are empty.
        Metrics = "metrics",
    }
}

string_enum! {
    /// A random decision of a trial.
    DecisionKind {
        /// Whether anything is shown.
        Holdout = "holdout",
        /// The arm that is shown.
        Assignment = "assignment",
        /// The arm that is offered first.
        Order = "order",
    }
}

/// A random decision and its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The kind.
    pub kind: DecisionKind,
    /// The result: an arm's name, or `hidden` or `shown` for a holdout.
    pub value: String,
    /// Probability of this result before it was drawn.
    pub probability: f64,
}

/// The document at the cursor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpportunityCursor {
    /// Name of the language in `syntax`.
    pub language: String,
    /// File, relative to the workspace root, at [`PrivacyLevel::Full`]; otherwise a hash that is the same in all rows of the store.
    pub path: String,
    /// Offset of the cursor in the document, in UTF-8 bytes.
    pub offset: usize,
    /// Line, 0-based.
    pub line: u32,
    /// Column, in UTF-16 units.
    pub character: u32,
    /// The document before the cursor.
    pub prefix: String,
    /// The document after the cursor.
    pub suffix: String,
}

/// The developer's typing before an opportunity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypingRhythm {
    /// Time since the last key in this document, in ms; absent if none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_last_key: Option<f64>,
    /// Median time between the last keys, at most 16, in ms; absent if fewer than three are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_keys: Option<f64>,
    /// Time until the next key, in ms; absent until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_next_key: Option<f64>,
}

/// One opportunity of a live trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opportunity {
    /// Format version.
    pub schema: SchemaVersion,
    /// Identity; a later row with the same id replaces this one.
    pub id: OpportunityId,
    /// Name of the trial; absent if opportunities are recorded without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// Experiment in effect.
    pub mode: TrialMode,
    /// Pseudonym of the developer: random, the same in all stores of a data folder.
    pub developer: String,
    /// Id of the editor session.
    pub session: String,
    /// Start, RFC 3339 in UTC with milliseconds.
    pub opened_at: String,
    /// How it began.
    pub trigger: Trigger,
    /// How much of the code this row contains.
    pub privacy: PrivacyLevel,
    /// Number of secrets that were masked in its texts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub secrets: u32,
    /// The place.
    pub cursor: OpportunityCursor,
    /// Commit of the workspace, if it is a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Hash of the indexed files; empty while nothing is indexed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tree_hash: String,
    /// Context candidates in the order of the strategy, before they were cut to a budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextItem>,
    /// The functions that a `rag` case would receive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar_functions: Vec<ContextItem>,
    /// The developer's typing.
    pub rhythm: TypingRhythm,
    /// Number of requests that were the same thought, at least 1.
    pub requests: u32,
    /// Random decisions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Answers of all arms, the shown one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<ArmAnswer>,
    /// What became of the shown answer.
    pub outcome: OfferOutcome,
    /// Whether a suggestion was seen before the truth was written.
    pub exposure: Exposure,
    /// Task of the case, decided with the last truth; absent before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Kind of the block that the truth belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<BlockKind>,
    /// Texts that the developer wrote here, by stage; a later stage replaces an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truths: Vec<Truth>,
    /// Why there will be no further truth, if the region was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LossReason>,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl OpportunityCursor {
    /// Creates the cursor at the start of an empty document.
    pub fn at_start(language: &str, path: &str) -> OpportunityCursor {
        OpportunityCursor {
            language: language.to_owned(),
            path: path.to_owned(),
            offset: 0,
            line: 0,
            character: 0,
            prefix: String::new(),
            suffix: String::new(),
        }
    }
}

impl Opportunity {
    /// Creates an opportunity of mode `single` with all texts, without developer, session, time, answers and truths.
    pub fn new(id: OpportunityId, trigger: Trigger, cursor: OpportunityCursor) -> Opportunity {
        Opportunity {
            schema: SchemaVersion::CURRENT,
            id,
            trial: None,
            mode: TrialMode::Single,
            developer: String::new(),
            session: String::new(),
            opened_at: String::new(),
            trigger,
            privacy: PrivacyLevel::Full,
            secrets: 0,
            cursor,
            commit: None,
            tree_hash: String::new(),
            context: Vec::new(),
            similar_functions: Vec::new(),
            rhythm: TypingRhythm::default(),
            requests: 1,
            decisions: Vec::new(),
            answers: Vec::new(),
            outcome: OfferOutcome::not_shown(),
            exposure: Exposure::None,
            task: None,
            block_kind: None,
            truths: Vec::new(),
            lost: None,
        }
    }

    /// Returns the truth of the latest stage.
    pub fn truth(&self) -> Option<&Truth> {
        self.truths.iter().max_by_key(|truth| truth.stage)
    }

    /// Returns the answer that was shown, or would have been without a holdout.
    pub fn shown_answer(&self) -> Option<&ArmAnswer> {
        self.answers.iter().find(|answer| answer.role != ArmRole::Shadow)
    }

    /// Returns the texts that belong at the cursor: answers and truths, in order.
    pub fn texts_at_cursor_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let answers = self.answers.iter_mut().flat_map(|answer| [&mut answer.raw, &mut answer.text]);
        answers.chain(self.truths.iter_mut().flat_map(|truth| [&mut truth.text, &mut truth.region]))
    }

    /// Returns the texts from other places, in order: deleted text, reasons and context.
    pub fn other_texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let deleted =
            self.truths.iter_mut().flat_map(|truth| [&mut truth.deleted, &mut truth.deleted_before]);
        let reasons = self.answers.iter_mut().filter_map(|answer| answer.reason.as_mut());
        let items = self.context.iter_mut().chain(&mut self.similar_functions).map(|item| &mut item.text);
        deleted.chain(reasons).chain(items)
    }

    /// Returns the probability of all random decisions together.
    pub fn probability(&self) -> f64 {
        self.decisions.iter().map(|decision| decision.probability).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_line, to_line};

    fn sample() -> Opportunity {
        Opportunity {
            developer: "d1".to_owned(),
            session: "s1".to_owned(),
            opened_at: "2026-01-02T03:04:05.678Z".to_owned(),
            ..Opportunity::new(
                "0123456789abcdef0123456789abcdef".to_owned(),
                Trigger::Automatic,
                OpportunityCursor {
                    language: "python".to_owned(),
                    path: "a.py".to_owned(),
                    offset: 4,
                    line: 0,
                    character: 4,
                    prefix: "x = ".to_owned(),
                    suffix: "\n".to_owned(),
                },
            )
        }
    }

    fn truth(stage: TruthStage, text: &str) -> Truth {
        Truth {
            stage,
            at: 1.0,
            text: text.to_owned(),
            region: text.to_owned(),
            deleted: String::new(),
            deleted_before: String::new(),
            provenance: Vec::new(),
            reversals: 0,
            distance: None,
        }
    }

    #[test]
    fn a_row_reads_back_as_written() {
        let mut row = sample();
        row.task = Some(Task::EMPTY);
        row.truths = vec![truth(TruthStage::Save, "1")];
        let line = to_line(&row);
        assert!(
            line.contains(r#""task":{"task":"complete","scenario":"inner_block","variant":"empty"}"#),
            "{line}"
        );
        assert_eq!(parse_line::<Opportunity>(&line, 1), Ok(row));
    }

    #[test]
    fn the_latest_stage_is_the_truth_in_any_order() {
        let mut row = sample();
        row.truths = vec![truth(TruthStage::Save, "later"), truth(TruthStage::Settled, "earlier")];
        assert_eq!(row.truth().map(|truth| &*truth.text), Some("later"));
    }

    #[test]
    fn accepted_text_is_not_typed() {
        let mut truth = truth(TruthStage::Settled, "abcd");
        truth.provenance = vec![
            ProvenanceSpan { range: 0..1, provenance: Provenance::Typed, arm: None },
            ProvenanceSpan { range: 1..4, provenance: Provenance::Accepted, arm: Some("a".to_owned()) },
        ];
        assert_eq!(truth.share_typed(), 0.25);
    }

    #[test]
    fn decisions_multiply() {
        let mut row = sample();
        row.decisions = [0.5, 0.2]
            .map(|probability| Decision {
                kind: DecisionKind::Holdout,
                value: "shown".to_owned(),
                probability,
            })
            .to_vec();
        assert_eq!(row.probability(), 0.1);
    }
}
