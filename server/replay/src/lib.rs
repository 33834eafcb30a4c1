//! Replays recorded cases: plans requests, runs them, and stores every answer.
//!
//! ```text
//! suite + engines --plan--> attempts --ask--> predictions --append--> run folder --score--> scores
//! ```
//!
//! A run is append-only and resumable: a killed process loses at most the row being written, and resuming repeats none. Replay
//! has no private path through completion: it calls [`completion::complete`] like editors do, with the case's file reduced to
//! prefix and suffix and other versions of that file hidden, so that no engine can read the removed text.
//!
//! Stores suites and runs for both the command line and the language server, and depends on neither.

mod answer_log;
mod background_scoring;
mod blocking_work;
mod case_request;
mod case_snapshot;
mod code_version;
mod data_folder;
mod error;
mod estimate;
mod execute;
mod file_io;
mod find_tests;
mod fingerprint;
mod function_request;
mod judged_answers;
mod judging_rules;
mod latest_answers;
mod leaked_copies;
mod machine;
mod patches;
mod placed_code;
mod plan;
mod prompt_symptoms;
mod recorded_suite;
mod request_size;
mod request_slots;
mod run_folder;
mod run_scores;
mod runner;
mod score_predictions;
mod slot_engine;
mod spend;
mod suite;
mod test_judge;
mod truth_copies;
mod watch_history;

pub use code_version::CodeVersion;
pub use data_folder::{DataFolder, RunsStamp};
pub use error::ReplayError;
pub use estimate::{EngineEstimate, RunEstimate};
pub use execute::{RequestPlan, RequestRunner, RunAnswers, describe_run, execute, execute_on, replay};
pub use file_io::FileStamp;
pub use find_tests::{CasesWithTests, FoundTests, RepositoryTests, TestCounts};
pub use fingerprint::differences_on_another_machine;
pub use judged_answers::{JudgedAnswers, JudgingJob, judge_answers, judgements};
pub use judging_rules::{CodevShape, JudgingRules};
pub use latest_answers::{LatestAnswers, SuiteRun, latest_answers};
pub use machine::cores;
pub use patches::{AnswerJudge, LocalJudge, Patch, PatchRunner};
pub use placed_code::saved_case;
pub use plan::{Attempt, plan};
pub use recorded_suite::{AddedCase, RecordedCase, RecordedSuite};
pub use request_slots::{RequestPace, RequestSlots, RequestTurn, StopSignal};
pub use run_folder::{RunContents, RunFolder, read_run, read_run_beside, write_scores};
pub use run_scores::{RunScores, scores_of};
pub use runner::{
    AnswerFilter, RunInputs, engine_config, engine_identity, outcome_cost, outcome_status, run_attempts,
    run_attempts_in, spans,
};
pub use score_predictions::score_all;
pub use spend::{ReachedLimit, Reservation, SpendLimits};
pub use suite::{read_suite, write_suite};
pub use test_judge::{SandboxJudge, TestJudge};
pub use truth_copies::TruthCopies;
pub use watch_history::{WatchHistory, read_history, unfinished_nights};
