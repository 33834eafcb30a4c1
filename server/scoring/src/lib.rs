//! The metrics of a prediction and the statistics over many.
//!
//! Pure and deterministic: the same inputs and seed give the same numbers. Counts stay beside ratios. Nothing here
//! reads files, asks engines or knows the formats of cases and runs.
#![deny(clippy::disallowed_methods)]

pub mod cceval;
pub mod comparison;
mod cost;
pub mod metric;
pub mod retrieval;
mod score;
pub mod similarity;
mod statistics;
pub mod summary;

pub use comparison::{Comparison, compare};
pub use cost::{Cost, cost};
pub use metric::{Counts, METRICS, Metric, MetricValue, Metrics, Unit};
pub use score::{Answer, Question, Response, score, score_response};
pub use summary::{Cell, Grouping, Interval, IntervalMethod, Latency, Observation, Row, Table, summarize};
