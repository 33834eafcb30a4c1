//! Comparison of two engines on the same cases: the interval of their difference.
//!
//! Only cases that both engines answered count. Significance tests, corrections for many pairs and estimates of the cases still
//! needed belong to [`mod@crate::verdict`].

use std::cmp::Ordering;

use cases::Metric;

use crate::counts::Counts;
use crate::metric_table::{Interval, MIN_CASES, Observation, by_case};
use crate::statistics::MIN_CLUSTERS;
use crate::statistics::paired_sample::{PairedCase, PairedSample};
use crate::statistics::sample::ClusterNumbers;

/// Share of repeats in which an interval misses the true value.
pub(crate) const OUTSIDE: f64 = 0.05;

/// `b` minus `a` in one metric, over the cases of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Number of cases that both have.
    pub cases: usize,
    /// Number of files the cases come from.
    pub clusters: usize,
    /// Cases where `b` has the higher value.
    pub wins: usize,
    /// Cases where `a` has the higher value.
    pub losses: usize,
    /// Cases where they are equal.
    pub ties: usize,
    /// `b` minus `a`, each a ratio of sums; `None` with fewer than [`MIN_CASES`] cases.
    pub difference: Option<f64>,
    /// 95 % interval of the difference.
    pub interval: Option<Interval>,
}

/// Compares two engines in one metric; `a` and `b` are their observations. Cases are matched by name, and repetitions are
/// averaged first. A case counts if the metric applies to both answers. `seed` drives the resampling.
pub fn compare<'a>(
    a: impl IntoIterator<Item = &'a Observation<'a>>,
    b: impl IntoIterator<Item = &'a Observation<'a>>,
    metric: Metric,
    seed: u64,
) -> Comparison {
    let (of_a, of_b) = (by_case(a), by_case(b));
    let paired = of_a.iter().filter_map(|(case, a)| {
        let (baseline, engine) = (a.counts(metric)?, of_b.get(case)?.counts(metric)?);
        (baseline.den != 0.0 && engine.den != 0.0).then_some((a.cluster, baseline, engine))
    });
    let paired: Vec<(&str, Counts, Counts)> = paired.collect();
    let files = ClusterNumbers::new(paired.iter().map(|(file, ..)| *file));
    let sample = PairedSample::new(paired.iter().filter_map(|&(file, baseline, engine)| {
        Some(PairedCase { file: files.number(file)?, baseline, engine })
    }));
    let difference = sample.difference().filter(|_| sample.len() >= MIN_CASES);
    Comparison {
        cases: sample.len(),
        clusters: sample.files(),
        wins: sample.count(Ordering::Greater),
        losses: sample.count(Ordering::Less),
        ties: sample.count(Ordering::Equal),
        difference,
        interval: difference.and_then(|difference| interval(&sample, difference, seed)),
    }
}

/// Returns the interval of a verdict's pair, so that a pair has one interval in all tables; for values that are no shares, that of
/// resampled files.
fn interval(sample: &PairedSample, difference: f64, seed: u64) -> Option<Interval> {
    if sample.are_shares() {
        return sample.estimate().map(|estimate| estimate.interval(OUTSIDE));
    }
    if sample.is_constant() || sample.files() < MIN_CLUSTERS {
        return None;
    }
    sample.bootstrap_interval(seed).map(|interval| interval.widened_to(difference))
}

#[cfg(test)]
mod tests {
    use cases::{MetricValue, Metrics};

    use crate::metric_table::IntervalMethod;

    use super::*;

    /// Any metric.
    const M: Metric = Metric::ExactMatch;

    /// Returns observations of numbered cases, `per_file` to a file.
    fn engine(per_file: usize, values: impl IntoIterator<Item = f64>) -> Vec<Observation<'static>> {
        let observation = |(case, value): (usize, f64)| {
            let metrics = Metrics::from([(M, MetricValue::Value(value))]);
            Observation::new(case.to_string(), (case / per_file).to_string(), metrics, None)
        };
        values.into_iter().enumerate().map(observation).collect()
    }

    fn every(n: usize, cases: usize) -> impl Iterator<Item = f64> {
        (0..cases).map(move |case| f64::from(u8::from(case % n == 0)))
    }

    #[test]
    fn only_common_cases_are_compared() {
        let comparison = compare(&engine(1, every(2, 40)), &engine(1, every(3, 30)), M, 1);
        assert_eq!((comparison.cases, comparison.clusters), (30, 30));
        assert_eq!((comparison.wins, comparison.losses, comparison.ties), (5, 10, 15));
        assert_eq!(comparison.difference, Some(10.0 / 30.0 - 0.5));
        assert_eq!(compare(&engine(1, []), &engine(1, every(2, 9)), M, 1).difference, None);
        assert_eq!(compare(&engine(1, every(2, 9)), &engine(1, every(2, 9)), Metric::Parses, 1).cases, 0);
    }

    #[test]
    fn swapping_the_engines_negates_the_difference() {
        let (a, b) = (engine(3, every(2, 90)), engine(3, every(5, 90)));
        let (forth, back) = (compare(&a, &b, M, 1), compare(&b, &a, M, 1));
        assert_eq!(forth.difference, back.difference.map(|difference| -difference));
        assert_eq!((forth.wins, forth.losses), (back.losses, back.wins));
    }

    #[test]
    fn pairing_narrows_the_interval() {
        // The engines differ in one case of ten, and both are right in half of the others.
        let a = engine(1, every(2, 200));
        let b = engine(
            1,
            every(2, 200).enumerate().map(|(case, value)| if case % 10 == 1 { 1.0 } else { value }),
        );
        let comparison = compare(&a, &b, M, 1);
        let interval = comparison.interval.expect("an interval");
        assert_eq!(interval.method, IntervalMethod::Tango);
        assert!(0.05 < interval.low && interval.high < 0.16, "{interval:?}");
    }

    #[test]
    fn values_that_are_not_shares_are_bootstrapped() {
        let b = every(2, 40).map(|value| 3.0 * value);
        let interval = compare(&engine(1, every(3, 40)), &engine(1, b), M, 1).interval;
        let method = interval.map(|interval| interval.method);
        assert_eq!(method, Some(IntervalMethod::ClusterBootstrap { resamples: 2_000 }));
        assert_eq!(compare(&engine(2, every(3, 40)), &engine(2, [0.0, 3.0].repeat(20)), M, 1).interval, None);
    }

    #[test]
    fn equal_engines_still_have_a_wide_interval() {
        let engine = engine(2, every(2, 40));
        let interval = compare(&engine, &engine, M, 1).interval.expect("an interval");
        assert_eq!(interval.method, IntervalMethod::ClopperPearson { effective_cases: 20.0 });
        assert!(interval.low < -0.1 && interval.high > 0.1, "{interval:?}");
    }

    #[test]
    fn few_files_use_the_student_interval() {
        let interval = compare(&engine(5, every(2, 30)), &engine(5, every(3, 30)), M, 1).interval;
        let interval = interval.expect("an interval");
        let IntervalMethod::Student { degrees } = interval.method else { panic!("{interval:?}") };
        assert!((degrees - 5.0).abs() < 1e-9, "{interval:?}");
        assert!(interval.low < -0.2 && -0.1 < interval.high, "{interval:?}");
    }

    #[test]
    fn equal_differences_of_all_files_are_no_certainty() {
        let interval = compare(&engine(3, [0.0; 30]), &engine(3, every(3, 30)), M, 1).interval;
        let interval = interval.expect("an interval");
        assert!(interval.low < 0.25 && 0.4 < interval.high, "{interval:?}");
    }

    #[test]
    fn repetitions_are_averaged_before_comparison() {
        let a = engine(1, every(2, 20));
        let b: Vec<_> = engine(1, [1.0; 20]).into_iter().chain(engine(1, [0.0; 20])).collect();
        let comparison = compare(&a, &b, M, 1);
        assert_eq!((comparison.cases, comparison.wins, comparison.losses), (20, 10, 10));
        assert_eq!(comparison.difference, Some(0.0));
    }
}
