//! Two arms of a trial, case by case as the log grows: their difference and its time-uniform interval at any moment.
//!
//! Keeps sums by file and of products, no cases. Both arms of a case may have counts (the answers are paired), or only one of them (each
//! case had one arm). Counts are multiplied by the weight of the case before they are added.

use super::clopper_pearson;
use super::confidence_sequence::NormalMixture;
use super::file_totals::{Deviation, FileTotals};
use super::paired_sample::MIN_FILES;
use crate::counts::Counts;
use crate::metric_table::{Interval, IntervalMethod};

/// Sums over the cases so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct DifferenceSums {
    totals: FileTotals,
    /// Sums of the products of numerators and denominators of baseline and engine.
    products: [[f64; 4]; 4],
    /// Cases by file.
    sizes: Vec<f64>,
    cases: usize,
    better: usize,
    worse: usize,
    /// Difference of the first paired case.
    first: Option<f64>,
    /// Whether another case showed another difference, or had one arm only.
    varies: bool,
    /// Whether all ratios are between 0 and 1.
    exceeds_shares: bool,
}

/// A difference and the error of its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DifferenceEstimate {
    /// The engine's ratio of sums minus the baseline's.
    pub(crate) difference: f64,
    /// Standard error: the larger one of that by file and that of independent cases.
    pub(crate) error: f64,
    /// Degrees of freedom of the error.
    pub(crate) degrees: f64,
    /// Number of independent cases that the cases are equivalent to.
    pub(crate) effective_cases: f64,
}

impl DifferenceEstimate {
    /// Returns the mean of an independent case over its standard deviation.
    pub(crate) fn drift(self) -> f64 {
        self.difference / (self.error * self.effective_cases.sqrt())
    }
}

impl DifferenceSums {
    /// Adds a case. Counts without a denominator belong to an arm that has no value.
    pub(crate) fn add(&mut self, file: usize, baseline: Counts, engine: Counts) {
        self.totals.add(file, baseline, engine);
        if file >= self.sizes.len() {
            self.sizes.resize(file + 1, 0.0);
        }
        self.sizes[file] += 1.0;
        self.cases += 1;
        let counts = [baseline.num, baseline.den, engine.num, engine.den];
        for (row, left) in self.products.iter_mut().zip(counts) {
            row.iter_mut().zip(counts).for_each(|(sum, right)| *sum += left * right);
        }
        let ratios = [baseline.ratio(), engine.ratio()];
        self.exceeds_shares |= ratios.iter().flatten().any(|ratio| !(0.0..=1.0).contains(ratio));
        let [Some(baseline), Some(engine)] = ratios else {
            self.varies = true;
            return;
        };
        self.better += usize::from(engine > baseline);
        self.worse += usize::from(engine < baseline);
        let difference = engine - baseline;
        self.varies |= *self.first.get_or_insert(difference) != difference;
    }

    /// Returns the number of cases.
    pub(crate) fn cases(&self) -> usize {
        self.cases
    }

    /// Returns the number of files they come from.
    pub(crate) fn files(&self) -> usize {
        self.totals.len()
    }

    /// Returns the number of files in which the arms differ.
    pub(crate) fn informative_files(&self) -> usize {
        self.totals.differences().iter().filter(|&&difference| difference != 0.0).count()
    }

    /// Returns the numbers of cases in which the engine is better and worse than the baseline.
    pub(crate) fn better_and_worse(&self) -> (usize, usize) {
        (self.better, self.worse)
    }

    /// Returns the engine's ratio of sums minus the baseline's.
    pub(crate) fn difference(&self) -> Option<f64> {
        self.totals.difference()
    }

    /// Returns the estimate; `None` with fewer than [`MIN_FILES`] files, or if every case shows the same difference.
    ///
    /// With few files, the error by file may happen to be too small, which a comparison with that of independent cases limits.
    pub(crate) fn estimate(&self) -> Option<DifferenceEstimate> {
        if !self.varies || self.files() < MIN_FILES {
            return None;
        }
        let (deviation, difference) = (self.totals.deviation()?, self.difference()?);
        let independent = self.independent_variance(deviation);
        let variance = self.totals.variance(deviation).max(independent);
        let weight = self.effective_weights()?;
        let estimate = DifferenceEstimate {
            difference,
            error: variance.sqrt(),
            degrees: self.totals.degrees().max(1.0),
            effective_cases: weight * independent / variance,
        };
        let is_usable = estimate.error > 0.0 && estimate.error.is_finite() && estimate.effective_cases > 0.0;
        is_usable.then_some(estimate)
    }

    /// Returns the interval of the difference that holds at all times together with a probability of `1 - alpha`.
    ///
    /// If every case so far shows the same difference, it is Clopper and Pearson's, each file counting once: before the first case that
    /// differs, its limit is wrong at all times if it is wrong at the last one.
    pub(crate) fn sequence(&self, alpha: f64) -> Option<Interval> {
        if self.cases > 0 && !self.varies {
            return self.constant_interval(alpha);
        }
        let DifferenceEstimate { difference, error, degrees, effective_cases } = self.estimate()?;
        let margin = NormalMixture::of_trials().standard_errors(effective_cases, degrees, alpha)? * error;
        let method = IntervalMethod::NormalMixture { effective_cases };
        (margin.is_finite()).then(|| self.within_bounds(difference - margin, difference + margin, method))
    }

    /// Returns Student's interval for a number of cases that was fixed in advance.
    pub(crate) fn fixed_interval(&self, outside: f64) -> Option<Interval> {
        if self.cases > 0 && !self.varies {
            return self.constant_interval(outside);
        }
        let DifferenceEstimate { difference, degrees, .. } = self.estimate()?;
        let error = self.totals.variance(self.totals.deviation()?).sqrt();
        let margin = super::beta::student_quantile(degrees, outside) * error;
        let method = IntervalMethod::Student { degrees };
        Some(self.within_bounds(difference - margin, difference + margin, method))
    }

    fn constant_interval(&self, outside: f64) -> Option<Interval> {
        let difference = self.difference()?;
        if self.exceeds_shares {
            return None;
        }
        let cases: f64 = self.sizes.iter().sum();
        let effective_cases = cases * cases / self.sizes.iter().map(|size| size * size).sum::<f64>();
        let (_, others) = clopper_pearson::interval(0.0, effective_cases, outside);
        let method = IntervalMethod::ClopperPearson { effective_cases };
        Some(self.within_bounds(difference - others, difference + others, method))
    }

    fn within_bounds(&self, low: f64, high: f64, method: IntervalMethod) -> Interval {
        if self.exceeds_shares {
            return Interval { low, high, method };
        }
        Interval { low: low.max(-1.0), high: high.min(1.0), method }
    }

    /// Returns the variance of the difference if cases were independent.
    fn independent_variance(&self, Deviation(factors): Deviation) -> f64 {
        let row =
            |products: &[f64; 4]| products.iter().zip(factors).map(|(sum, factor)| sum * factor).sum::<f64>();
        self.products
            .iter()
            .zip(factors)
            .map(|(products, factor)| row(products) * factor)
            .sum::<f64>()
            .max(0.0)
    }

    /// Returns the number of cases of equal weight that the cases are equivalent to (Kish): for one arm a case, that of both together.
    fn effective_weights(&self) -> Option<f64> {
        let (baseline, engine) = self.totals.sums();
        let (of_baseline, of_engine) = (self.products[1][1], self.products[3][3]);
        let cases = |sum: f64, squares: f64| (squares > 0.0).then(|| sum * sum / squares);
        let (of_baseline, of_engine) = (cases(baseline.den, of_baseline)?, cases(engine.den, of_engine)?);
        Some(of_baseline.max(of_engine))
    }
}

#[cfg(test)]
mod tests {
    use text::SplitMix64;

    use super::super::paired_sample::{Estimate, PairedCase, PairedSample};
    use super::*;

    fn uniform(random: &mut SplitMix64) -> f64 {
        (random.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn flag(set: bool) -> Counts {
        Counts { num: f64::from(u8::from(set)), den: 1.0 }
    }

    /// Returns cases of two arms that are right in half of the cases each. `correlation` is the share of the files' part of the variance
    /// of the difference.
    fn cases(random: &mut SplitMix64, files: usize, cases: usize, correlation: f64) -> Vec<PairedCase> {
        let leans: Vec<f64> =
            (0..files).map(|_| (uniform(random) - 0.5) * (12.0 * 0.5 * correlation).sqrt()).collect();
        let case = |_| {
            let file = random.below(files);
            let (left, right) = (uniform(random), uniform(random));
            let lean = leans[file] / 2.0;
            PairedCase { file, baseline: flag(left < 0.5 - lean), engine: flag(right < 0.5 + lean) }
        };
        (0..cases).map(case).collect()
    }

    #[test]
    fn estimates_agree_with_those_of_all_cases() {
        let cases = cases(&mut SplitMix64::new(3), 12, 200, 0.1);
        let mut sums = DifferenceSums::default();
        cases.iter().for_each(|case| sums.add(case.file, case.baseline, case.engine));
        let sample = PairedSample::new(cases.iter().copied());
        let ours = sums.estimate().expect("an estimate");
        let Some(Estimate::Student { difference, error, degrees }) = sample.student_estimate() else {
            panic!("an estimate over files");
        };
        assert!((ours.difference - difference).abs() < 1e-12 && (ours.degrees - degrees).abs() < 1e-9);
        assert!(ours.error >= error - 1e-12, "{ours:?} {error}");
        assert_eq!(sums.fixed_interval(0.05).map(|it| it.method.name()), Some("student_t"));
        assert_eq!(sums.cases(), 200);
    }

    #[test]
    fn weights_count_as_repeated_cases() {
        let (mut weighted, mut repeated) = (DifferenceSums::default(), DifferenceSums::default());
        for case in cases(&mut SplitMix64::new(4), 8, 100, 0.1) {
            let triple = |counts: Counts| Counts { num: 3.0 * counts.num, den: 3.0 * counts.den };
            weighted.add(case.file, triple(case.baseline), triple(case.engine));
            repeated.add(case.file, case.baseline, case.engine);
        }
        let (one, other) = (weighted.estimate().expect("one"), repeated.estimate().expect("one"));
        assert!((one.effective_cases - other.effective_cases).abs() < 1e-9, "{one:?} {other:?}");
        assert!((one.error - other.error).abs() < 1e-12, "{one:?} {other:?}");
    }

    #[test]
    fn cases_of_one_arm_each_are_compared_by_their_means() {
        let mut sums = DifferenceSums::default();
        for case in 0..400 {
            let right = flag(case % 5 == 0 || case % 4 == 1);
            let (baseline, engine) =
                if case % 2 == 0 { (right, Counts::default()) } else { (Counts::default(), right) };
            sums.add(case % 40, baseline, engine);
        }
        let estimate = sums.estimate().expect("an estimate");
        assert!(estimate.effective_cases <= 200.0 + 1e-9, "{estimate:?}");
        assert_eq!(sums.better_and_worse(), (0, 0));
        assert!(
            sums.sequence(0.05)
                .is_some_and(|it| it.low < estimate.difference && estimate.difference < it.high)
        );
    }

    #[test]
    fn equal_cases_and_few_files_give_no_certainty() {
        let mut sums = DifferenceSums::default();
        assert_eq!(sums.sequence(0.05), None);
        (0..60).for_each(|case| sums.add(case % 30, flag(true), flag(true)));
        let interval = sums.sequence(0.05).expect("an interval");
        assert!(interval.low < -0.1 && interval.high > 0.1, "{interval:?}");
        let mut few = DifferenceSums::default();
        (0..60).for_each(|case| few.add(case % 4, flag(case % 3 == 0), flag(true)));
        assert_eq!(few.sequence(0.05), None, "four files are too few");
    }

    #[test]
    fn denominators_of_zero_and_infinite_numbers_are_no_panic() {
        let mut sums = DifferenceSums::default();
        (0..20).for_each(|file| sums.add(file, Counts::default(), Counts::default()));
        assert_eq!((sums.difference(), sums.sequence(0.05)), (None, None));
        sums.add(1, Counts { num: f64::INFINITY, den: 1.0 }, flag(true));
        assert_eq!(sums.sequence(0.05), None);
    }

    /// Returns the share of trials in which an interval misses 0 at any of the peeks after every 50 cases.
    fn missed(seed: u64, files: usize, correlation: f64, trials: usize) -> f64 {
        let mut random = SplitMix64::new(seed);
        let misses = |_: &usize| {
            let mut sums = DifferenceSums::default();
            cases(&mut random, files, 1_000, correlation).into_iter().enumerate().any(|(number, case)| {
                sums.add(case.file, case.baseline, case.engine);
                let interval = if (number + 1) % 50 == 0 { sums.sequence(0.05) } else { None };
                interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
            })
        };
        (0..trials).filter(misses).count() as f64 / trials as f64
    }

    /// 5 % of 300 are 15; three standard deviations are 11 more. Fixed-sample intervals miss in about a quarter of them.
    #[test]
    fn intervals_contain_the_difference_at_all_peeks_also_with_few_files() {
        for (files, correlation) in [(1_000, 0.0), (100, 0.05), (12, 0.1), (6, 0.2)] {
            let missed = missed(11, files, correlation, 300);
            assert!(missed <= 0.085, "{files} files: {missed}");
        }
    }
}
