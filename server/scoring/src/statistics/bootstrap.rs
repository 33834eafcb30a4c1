//! Percentile intervals by resampling whole files, wider for few files.

use super::bootstrap_tail;
use super::percentile::percentile;
use super::seeded_random::SeededRandom;
use crate::Counts;
use crate::metric_table::{Interval, IntervalMethod};

/// Number of resamples. The ends of an interval from many files are then the 50th from either side, stable to about a tenth of
/// its width; those from ten files are the 17th.
pub(crate) const RESAMPLES: usize = 2_000;

/// Several columns of counts with a row per file. All columns are resampled together, which costs little more than one.
pub(crate) struct CountColumns {
    width: usize,
    rows: Vec<Counts>,
}

impl CountColumns {
    /// Creates columns of equal length.
    pub(crate) fn new(columns: &[Vec<Counts>]) -> CountColumns {
        let length = columns.first().map_or(0, Vec::len);
        let rows = (0..length).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        CountColumns { width: columns.len(), rows }
    }

    /// Calls `each` with the sums of every resample, a sum per column.
    pub(crate) fn for_each_resample(&self, seed: u64, mut each: impl FnMut(&[Counts])) {
        if self.rows.is_empty() {
            return;
        }
        let clusters = self.rows.len() / self.width;
        let mut rng = SeededRandom::new(seed);
        let mut sums = vec![Counts::default(); self.width];
        for _ in 0..RESAMPLES {
            sums.fill(Counts::default());
            for _ in 0..clusters {
                let row = rng.below(clusters) * self.width;
                add(&mut sums, &self.rows[row..row + self.width]);
            }
            each(&sums);
        }
    }
}

fn add(sums: &mut [Counts], row: &[Counts]) {
    for (sum, counts) in sums.iter_mut().zip(row) {
        *sum += *counts;
    }
}

/// Returns the 95 % interval of a statistic from its values in the resamples of `files` files; `None` if most resamples had no
/// value.
pub(crate) fn interval(mut values: Vec<f64>, files: usize) -> Option<Interval> {
    if values.len() < RESAMPLES / 2 || files < 2 {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let tail = bootstrap_tail::bootstrap_tail(files);
    Some(Interval {
        low: percentile(&values, tail)?,
        high: percentile(&values, 1.0 - tail)?,
        method: IntervalMethod::ClusterBootstrap { resamples: RESAMPLES },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_means(values: impl Iterator<Item = f64>, seed: u64) -> Option<Interval> {
        let column: Vec<Counts> = values.map(|num| Counts { num, den: 1.0 }).collect();
        let files = column.len();
        let mut means = Vec::new();
        CountColumns::new(&[column]).for_each_resample(seed, |sums| means.extend(sums[0].ratio()));
        interval(means, files)
    }

    #[test]
    fn interval_agrees_with_the_normal_interval() {
        let margin = 1.959_963_984_540_054 * (399.0_f64 / 12.0 / 400.0).sqrt();
        let interval = of_means((0..400).map(|i| f64::from(i % 20)), 1).expect("an interval");
        assert!((interval.low - (9.5 - margin)).abs() < 0.1 * margin, "{interval:?}");
        assert!((interval.high - (9.5 + margin)).abs() < 0.1 * margin, "{interval:?}");
    }

    #[test]
    fn interval_is_determined_by_the_seed() {
        let of_seed = |seed| of_means((0..40).map(f64::from), seed);
        assert_eq!(of_seed(5), of_seed(5));
        assert_ne!(of_seed(5), of_seed(6));
    }

    #[test]
    fn columns_are_resampled_together() {
        let column: Vec<Counts> = (0..20).map(|num| Counts { num: f64::from(num), den: 1.0 }).collect();
        let mut resamples = 0;
        CountColumns::new(&[column.clone(), column]).for_each_resample(1, |sums| {
            assert_eq!(sums[0], sums[1]);
            assert_eq!(sums[0].den, 20.0);
            resamples += 1;
        });
        assert_eq!(resamples, RESAMPLES);
    }

    #[test]
    fn no_interval_without_enough_resamples() {
        assert_eq!(of_means(std::iter::empty(), 1), None);
        assert_eq!(interval(vec![1.0; RESAMPLES / 2 - 1], 20), None);
    }
}
