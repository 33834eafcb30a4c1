//! Two engines on the same cases: the interval of their difference.
//!
//! Only cases that both engines answered count. Tests of significance, corrections for many pairs and the cases still
//! needed are questions of their own and get modules of their own.

use crate::summary::Interval;

/// `b` minus `a` in one metric, over the cases that both have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// How many cases both have.
    pub cases: usize,
    /// How many files they come from.
    pub clusters: usize,
    /// Cases where `b` is better.
    pub wins: usize,
    /// Cases where `a` is better.
    pub losses: usize,
    /// Cases where they are equal.
    pub ties: usize,
    /// `b` minus `a`, each a ratio of sums; `None` with fewer than [`MIN_CASES`](crate::summary::MIN_CASES) cases.
    pub difference: Option<f64>,
    /// 95 % interval of the difference.
    pub interval: Option<Interval>,
}
