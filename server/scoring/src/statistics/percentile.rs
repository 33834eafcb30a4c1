//! Percentiles by the nearest rank, which never average a number with an infinite one.

/// Returns the smallest of the sorted values that at least `share` (above 0, up to 1) of them do not exceed; `None` for no
/// values.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_is_the_nearest_rank() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(percentile(&values, 0.5), Some(5.0));
        assert_eq!(percentile(&values, 0.51), Some(6.0));
        assert_eq!(percentile(&values, 0.9), Some(9.0));
        assert_eq!(percentile(&values, 0.99), Some(10.0));
        assert_eq!(percentile(&values, 1.0), Some(10.0));
        assert_eq!(percentile(&[3.0], 0.01), Some(3.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn percentile_among_timeouts_is_infinite() {
        assert_eq!(percentile(&[1.0, 2.0, f64::INFINITY], 0.5), Some(2.0));
        assert_eq!(percentile(&[1.0, 2.0, f64::INFINITY], 0.9), Some(f64::INFINITY));
    }
}
