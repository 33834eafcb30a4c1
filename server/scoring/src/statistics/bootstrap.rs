//! Percentile intervals by resampling whole clusters.

use super::percentile::percentile;
use super::rng::Rng;

/// How many resamples. The ends of the interval are then the 50th from either side, stable to about a tenth of its width.
pub(crate) const RESAMPLES: usize = 2_000;

/// Lower and upper end of the 95 % interval of `statistic` over sums of resampled clusters; `None` where too few
/// resamples have a statistic. Clusters are summed with `add`, from `T::default()`.
pub(crate) fn interval<T: Copy + Default>(
    clusters: &[T],
    seed: u64,
    add: impl Fn(T, T) -> T,
    statistic: impl Fn(T) -> Option<f64>,
) -> Option<(f64, f64)> {
    if clusters.is_empty() {
        return None;
    }
    let mut rng = Rng::new(seed);
    let mut resample =
        || (0..clusters.len()).fold(T::default(), |sum, _| add(sum, clusters[rng.below(clusters.len())]));
    let mut values: Vec<f64> = (0..RESAMPLES).filter_map(|_| statistic(resample())).collect();
    if values.len() < RESAMPLES / 2 {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    Some((percentile(&values, 0.025)?, percentile(&values, 0.975)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_means(values: &[f64], seed: u64) -> Option<(f64, f64)> {
        let size = values.len() as f64;
        interval(values, seed, |a, b| a + b, |sum| Some(sum / size))
    }

    #[test]
    fn agrees_with_the_normal_interval_where_that_holds() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 20)).collect();
        let margin = super::super::Z_95 * (399.0_f64 / 12.0 / 400.0).sqrt();
        let (low, high) = of_means(&values, 1).expect("an interval");
        assert!((low - (9.5 - margin)).abs() < 0.1 * margin, "{low}");
        assert!((high - (9.5 + margin)).abs() < 0.1 * margin, "{high}");
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(of_means(&values, 5), of_means(&values, 5));
        assert_ne!(of_means(&values, 5), of_means(&values, 6));
    }

    #[test]
    fn nothing_to_resample_gives_nothing() {
        assert_eq!(of_means(&[], 1), None);
        assert_eq!(interval(&[1.0, 2.0], 1, |a, b| a + b, |_| None), None);
    }
}
