//! Statistics of tables and comparisons.
//!
//! Cases of one file are not independent, so all functions work on files (clusters). Intervals of shares come from the number of
//! independent cases that the cases are equivalent to, those of differences from Student's distribution over the files, and those of other
//! values from resampling whole files. The tests in `coverage` check over a grid how often they contain the true value.

pub(crate) mod beta;
pub(crate) mod bootstrap;
mod bootstrap_tail;
pub(crate) mod clopper_pearson;
pub(crate) mod confidence_sequence;
#[cfg(test)]
mod coverage;
pub(crate) mod difference_sums;
mod file_totals;
#[cfg(test)]
mod golden;
pub(crate) mod hall;
pub(crate) mod holm;
pub(crate) mod mcnemar;
pub(crate) mod normal;
pub(crate) mod paired_sample;
pub(crate) mod percentile;
pub(crate) mod sample;
mod seeded_random;
pub(crate) mod sign_flip;
pub(crate) mod tango;
pub(crate) mod wilson;

/// Fewest files for a bootstrap, and fewest informative files ([`sample::Sample::telling_clusters`]) for a variance over files: with fewer
/// of them, resamples and variances hardly show how files differ.
pub(crate) const MIN_CLUSTERS: usize = 30;
