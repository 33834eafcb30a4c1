//! The metrics of a prediction and the statistics over many predictions.
//!
//! Pure and deterministic: the same inputs and seed give the same numbers. Counts are kept with ratios. The crate never reads
//! files, sends requests to engines, or depends on the formats of cases and runs.
#![deny(clippy::disallowed_methods)]

pub mod cceval;
pub mod comparison;
mod cost;
pub mod metric;
pub mod metric_table;
pub mod retrieval_score;
mod score;
pub mod similarity;
mod statistics;

pub use comparison::{Comparison, compare};
pub use cost::{CostSummary, summarize_costs};
pub use metric::{Counts, METRICS, Metric, MetricUnit, MetricValue, Metrics};
pub use metric_table::{
    Grouping, Interval, IntervalMethod, Latency, MetricCell, MetricTable, Observation, TableRow, summarize,
};
pub use score::{AnswerOutcome, AnswerText, ScoringInput, score, score_response};
