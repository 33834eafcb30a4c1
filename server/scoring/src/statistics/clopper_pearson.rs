//! The exact interval of a share (Clopper and Pearson 1934), also for a fractional number of cases.

use super::beta::quantile;

/// Returns the ends of the interval of `share` over `cases` independent cases (more than 0, may be fractional). It misses the true
/// share in at most `outside` (0 to 1) of the repeats.
///
/// For values between 0 and 1 that are not all 0 or 1 it is too wide rather than too narrow: no such values vary more than zeros
/// and ones with the same mean.
pub(crate) fn interval(share: f64, cases: f64, outside: f64) -> (f64, f64) {
    let right = share * cases;
    let wrong = cases - right;
    let low = quantile(outside / 2.0, right, wrong + 1.0);
    let high = quantile(1.0 - outside / 2.0, right + 1.0, wrong);
    (low.clamp(0.0, share), high.clamp(share, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(share: f64, cases: f64, low: f64, high: f64) {
        let ends = interval(share, cases, 0.05);
        assert!((ends.0 - low).abs() < 5e-5 && (ends.1 - high).abs() < 5e-5, "{ends:?}");
    }

    #[test]
    fn interval_matches_known_values() {
        check(0.5, 10.0, 0.1871, 0.8129);
        check(0.2, 10.0, 0.0252, 0.5561);
        check(0.0, 10.0, 0.0, 0.3085);
        check(1.0, 10.0, 0.6915, 1.0);
        check(0.0, 3.0, 0.0, 0.7076);
        check(1.0, 1.0, 0.025, 1.0);
    }
}
