//! Correction of a bootstrap's percentiles for few files.
//!
//! Resampling n files gives a distribution that is too narrow by sqrt((n - 1) / n), and whose ends are a normal distribution's
//! instead of Student's. Percentiles further out correct both (Hesterberg 2015, "What teachers should know about the bootstrap",
//! the expanded percentile interval).
//!
//! In simulations with right and wrong answers at rates of 0.2 and 0.5, three cases a file on average and correlations of 0 to
//! 0.3 within files, plain percentiles contained the true rate in 89 to 95 % of the experiments with 10 to 15 files, these in
//! 92.5 to 97 %; with 100 files both are within a point of 95 %.

use super::beta::student_quantile;
use super::normal;

/// Returns the share below the lower end of a 95 % interval from resamples of `files` files (at least 2): 0.025 for infinitely
/// many, 0.009 for ten.
pub(super) fn bootstrap_tail(files: usize) -> f64 {
    let files = files as f64;
    normal::tail(student_quantile(files - 1.0, 0.05) * (files / (files - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expected: f64, precision: f64) {
        assert!((value - expected).abs() < precision, "{value} instead of {expected}");
    }

    #[test]
    fn tail_correction_vanishes_for_many_files() {
        check(bootstrap_tail(1_000_000), 0.025, 1e-5);
        check(bootstrap_tail(100), 0.0231, 1e-4);
        check(bootstrap_tail(10), 0.0085, 1e-4);
    }
}
