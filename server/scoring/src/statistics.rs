//! The statistics under tables and comparisons.
//!
//! Cases of one file are not independent, so everything here works on files (clusters): intervals come from resampling
//! whole files, and where there are too few to resample from what a group is worth in independent cases.

pub(crate) mod bootstrap;
pub(crate) mod percentile;
mod rng;
pub(crate) mod sample;
mod student;
pub(crate) mod wilson;

/// The normal quantile of a two-sided 95 % interval.
pub(crate) const Z_95: f64 = 1.959_963_984_540_054;

/// With fewer files a bootstrap is not used: resamples of so few hardly differ from each other.
pub(crate) const MIN_CLUSTERS: usize = 10;
