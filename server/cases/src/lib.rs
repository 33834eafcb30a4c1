//! The file formats of Ghostbench: cases, predictions, scores and runs, as JSON Lines.
//!
//! This crate owns the file formats; `docs/formats.md` documents them. Its types are only for serialization: runtime types are
//! in the crates that compute them. Parsing a printed value returns the same value. No IO: callers pass and receive text.
#![deny(clippy::disallowed_methods)]

mod case;
mod case_tests;
mod definition_tags;
mod function_question;
mod history_tags;
mod jsonl;
mod metric;
mod prediction;
mod redaction;
mod run;
mod schema_version;
mod score;
mod string_enum;
mod task;
mod trial;
mod truth_locator;
mod watch;
mod zed_example;

pub use case::{
    BlockKind, Case, CaseId, ContextItem, Exposure, Origin, OriginKind, Tags, suite_hash, suite_hash_of_ids,
};
pub use case_tests::{CaseTests, Judgement, TestRunnerKind, TestVerdict};
pub use definition_tags::{
    AFTER_JUMP, DEFINED_TAG, DefinitionLocation, ENTITY_TAG, FOLLOWS_TAG, JUDGE_TAG, RESOLVED_TAG,
};
pub use function_question::{
    CandidateFunction, ContextComments, FindFunction, FunctionQuestion, WriteFunction,
};
pub use history_tags::{AGE_TAG, AUTHOR_TAG, COMMIT_TAG, DATE_TAG};
pub use jsonl::{ParseError, ParsedLines, parse_document, parse_line, parse_lines, to_document, to_line};
pub use metric::{Direction, Metric, MetricSource, MetricSpec, MetricUnit, MetricValue, Metrics};
pub use prediction::{
    AnswerForm, Cost, EngineIdentity, Finish, Prediction, PredictionTimings, PromptSymptom, Recorded, Rename,
    Span, SpanSource, Status, TokenCounts,
};
pub use redaction::{redact_case, redact_opportunity, redact_prediction};
pub use run::{CaseCopies, EngineConfig, Machine, NO_COPIES_SUFFIX, Price, Run, WorkspaceState};
pub use schema_version::SchemaVersion;
pub use score::Score;
pub use task::{
    BlockCut, BodyCut, CallScope, CompletionTask, CrossFileContext, MissingTail, Scenario, Task, TaskKind,
};
pub use trial::{
    AcceptedPart, ArmAnswer, ArmRole, AssignmentUnit, Bundle, BundleConsent, BundleError, Datasheet,
    Decision, DecisionKind, EvaluatedOpportunity, ImportedPlace, LossReason, OfferOutcome, Opportunity,
    OpportunityCursor, OpportunityId, OutcomeKind, PrivacyLevel, Provenance, ProvenanceSpan, Survival,
    SurvivalAge, SurvivalKind, TabbyLog, TrialArm, TrialDefinition, TrialMode, Trigger, Truth, TruthStage,
    TypingRhythm, from_continue, from_tabby, from_zed, otlp_evaluations, otlp_spans, to_continue,
};
pub use truth_locator::{FileText, TruthLocator};
pub use watch::{ChangeKind, WatchedChange, WatchedEngine, WatchedFailure, WatchedNight, WatchedShift};
pub use zed_example::{CapturedFile, ZedExample};
