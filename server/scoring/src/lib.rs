//! The metrics of predictions, the statistics over many predictions, and all numbers of a run.
//!
//! ```text
//! case + predictions --CaseScorer--> scores --RunRows::summary--> RunSummary: sections of rows of cells
//! ```
//!
//! Pure and deterministic: the same inputs and seed give the same numbers. Counts are kept with ratios. The crate never reads
//! files, sends requests to engines, or lays out tables.
#![deny(clippy::disallowed_methods)]

pub mod cceval;
pub mod change_points;
pub mod compared_runs;
pub mod comparison;
mod cost;
mod counts;
pub mod gate;
pub mod metric_table;
mod paired_difference;
pub mod pass_at_k;
pub mod retrieval_score;
pub mod run_comparison;
pub mod run_summary;
mod score;
pub mod similarity;
mod statistics;
pub mod trial_scoreboard;
pub mod verdict;

pub use compared_runs::ComparedRuns;
pub use comparison::{Comparison, compare};
pub use cost::{CostSummary, summarize_costs};
pub use counts::Counts;
pub use metric_table::{Interval, IntervalMethod, Latency, MetricCell, Observation, TableRow, summarize};
pub use paired_difference::PairedDifference;
pub use run_comparison::RunComparison;
pub use run_summary::{RunRows, RunSummary};
pub use score::{AnswerOutcome, AnswerText, CaseScorer, RightFiles, SCORER_VERSION, ScoringInput, score};
pub use trial_scoreboard::{TrialLog, TrialScoreboard, TrialSettings};
pub use verdict::{Verdict, VerdictSettings, verdict};
