//! The difference of two sets of answers to the same cases.

use serde::Serialize;

use crate::Comparison;
use crate::metric_table::Interval;

/// The difference of two sets of answers to the same cases, in one metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PairedDifference {
    /// Cases in which the compared answer is better than the baseline's.
    pub better: usize,
    /// Cases in which it is worse.
    pub worse: usize,
    /// Cases that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// The compared answers' value minus the baseline's, each a ratio of sums; absent with too few cases for a meaningful ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl PairedDifference {
    /// Returns the difference of a comparison in a metric whose higher values are better, with the number of its cases that were
    /// cut from another tree.
    pub(crate) fn new(compared: &Comparison, other_tree: usize) -> PairedDifference {
        PairedDifference {
            better: compared.wins,
            worse: compared.losses,
            other_tree,
            value: compared.difference,
            interval: compared.interval,
        }
    }
}
