//! Tables of metrics: observations grouped into rows, each cell with its counts, value and interval.
//!
//! The types are what reports show; every number in them is computed here and in the modules below.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::{Counts, Metrics};
use crate::statistics::bootstrap::Columns;
use crate::statistics::percentile::percentile;
use crate::statistics::sample::{Clusters, Sample};
use crate::statistics::{MIN_CLUSTERS, bootstrap, exact};

/// One scored prediction with what it may be grouped by.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The case; observations of one case in one row are repetitions and weigh as one.
    pub case: String,
    /// The file the case was cut from. Cases of one file are not independent.
    pub cluster: String,
    /// Values by dimension, such as `scenario` -> `full_block`; an absent one is the empty string.
    pub labels: BTreeMap<String, String>,
    /// The metrics that apply.
    pub metrics: Metrics,
    /// Milliseconds until the answer was ready, infinite when the deadline passed; `None` when the engine was not asked.
    pub latency: Option<f64>,
}

/// The dimensions of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Dimensions whose values are never pooled, such as `engine` or `origin`.
    pub apart: Vec<String>,
    /// Dimensions that get, besides a row per value, rows over all values.
    pub pooled: Vec<String>,
}

/// Rows of cells. Dimensions are `apart` before `pooled`.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the dimensions, in the order of [`Row::key`].
    pub dimensions: Vec<String>,
    /// Rows in the order of their keys, a total before its parts.
    pub rows: Vec<Row>,
}

/// One group of observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// One value per dimension of the table; `None` is all of them.
    pub key: Vec<Option<String>>,
    /// How many cases.
    pub cases: usize,
    /// How many files they come from.
    pub clusters: usize,
    /// Cells by the metric's name; metrics that apply to no case of the group are absent.
    pub cells: BTreeMap<String, Cell>,
    /// Latencies; `None` when no observation has one.
    pub latency: Option<Latency>,
}

/// One metric over one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// How many cases the metric applies to.
    pub cases: usize,
    /// How many files they come from.
    pub clusters: usize,
    /// Sums over the cases, repetitions averaged first.
    pub counts: Counts,
    /// Ratio of the sums; `None` with fewer than [`MIN_CASES`] cases or nothing to measure.
    pub value: Option<f64>,
    /// 95 % interval of the value; `None` where there is no value or no method applies.
    pub interval: Option<Interval>,
}

/// Cells with fewer cases show their counts only: any ratio of so few would be read as more than it is.
pub const MIN_CASES: usize = 10;

/// An interval that covers the true value in 95 of 100 repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How it was made.
    pub method: IntervalMethod,
}

impl Interval {
    /// The interval, widened to hold the value that it belongs to: percentiles of resamples need not.
    pub(crate) fn around(self, value: f64) -> Interval {
        Interval { low: self.low.min(value), high: self.high.max(value), ..self }
    }
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntervalMethod {
    /// Percentiles over resamples of whole files, further apart where the files are few.
    ClusterBootstrap {
        /// How many resamples.
        resamples: usize,
    },
    /// Clopper and Pearson's exact interval, with the number of cases shrunk by how alike cases of one file may be.
    ClopperPearson {
        /// How many independent cases the group is worth.
        effective_cases: f64,
    },
    /// Student's interval over the files, of a difference.
    Student {
        /// Degrees of freedom: the files of equal weight that the group is worth, less one.
        degrees: f64,
    },
}

/// Latency percentiles in milliseconds; infinite where the percentile is a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// How many observations have a latency, timeouts included.
    pub count: usize,
    /// How many timed out.
    pub timeouts: usize,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Groups `observations` into rows with margins. `seed` drives the resampling.
pub fn summarize(observations: &[Observation], grouping: &Grouping, seed: u64) -> Table {
    let dimensions: Vec<String> = grouping.apart.iter().chain(&grouping.pooled).cloned().collect();
    let mut groups: BTreeMap<Vec<Option<String>>, Vec<&Observation>> = BTreeMap::new();
    for kept in margins(grouping) {
        for observation in observations {
            let key = dimensions.iter().zip(&kept);
            let key = key.map(|(dimension, kept)| kept.then(|| observation.label(dimension).to_owned()));
            groups.entry(key.collect()).or_default().push(observation);
        }
    }
    let rows = groups.into_iter().map(|(key, group)| row(key, &group, seed)).collect();
    Table { dimensions, rows }
}

impl Observation {
    fn label(&self, dimension: &str) -> &str {
        self.labels.get(dimension).map_or("", String::as_str)
    }
}

/// For every combination of pooled dimensions, which dimensions keep their values.
fn margins(grouping: &Grouping) -> Vec<Vec<bool>> {
    let mut margins = vec![vec![true; grouping.apart.len()]];
    for _ in &grouping.pooled {
        margins = margins
            .into_iter()
            .flat_map(|kept| [false, true].map(|keeps| [kept.as_slice(), &[keeps]].concat()))
            .collect();
    }
    margins
}

fn row(key: Vec<Option<String>>, group: &[&Observation], seed: u64) -> Row {
    let cases = by_case(group.iter().copied());
    let clusters = Clusters::new(cases.values().map(|case| case.cluster));
    let metrics: BTreeSet<&String> =
        group.iter().flat_map(|observation| observation.metrics.keys()).collect();
    let samples = metrics.into_iter().map(|name| {
        let of_cases = cases.values().filter_map(|case| Some((case.cluster, case.counts(name)?)));
        (name.clone(), Sample::new(&clusters, of_cases))
    });
    let (names, samples): (Vec<String>, Vec<Sample>) = samples.unzip();
    Row {
        key,
        cases: cases.len(),
        clusters: clusters.len(),
        cells: names.into_iter().zip(cells(&samples, seed)).collect(),
        latency: latency(group),
    }
}

/// The repetitions of one case.
pub(crate) struct Repetitions<'a> {
    /// The case's file.
    pub(crate) cluster: &'a str,
    observations: Vec<&'a Observation>,
}

impl Repetitions<'_> {
    /// The metric's counts averaged over the repetitions that have it, `None` if none has.
    pub(crate) fn counts(&self, metric: &str) -> Option<Counts> {
        let values = self.observations.iter().filter_map(|observation| observation.metrics.get(metric));
        let repetitions = values.clone().count();
        let sum = values.fold(Counts::default(), |sum, value| sum + value.counts());
        (repetitions > 0).then(|| sum / repetitions as f64)
    }
}

/// Observations by their case.
pub(crate) fn by_case<'a>(
    observations: impl IntoIterator<Item = &'a Observation>,
) -> BTreeMap<&'a str, Repetitions<'a>> {
    let mut cases: BTreeMap<&str, Repetitions<'_>> = BTreeMap::new();
    for observation in observations {
        cases
            .entry(&observation.case)
            .or_insert_with(|| Repetitions { cluster: &observation.cluster, observations: Vec::new() })
            .observations
            .push(observation);
    }
    cases
}

/// A cell for each sample. Those whose files are resampled are resampled together.
fn cells(samples: &[Sample], seed: u64) -> Vec<Cell> {
    let mut cells: Vec<Cell> = samples.iter().map(cell_without_resampling).collect();
    let resampled: Vec<usize> =
        (0..cells.len()).filter(|&i| cells[i].value.is_some() && is_resampled(&samples[i])).collect();
    let columns: Vec<Vec<Counts>> = resampled.iter().map(|&i| samples[i].cluster_totals()).collect();
    let mut ratios = vec![Vec::with_capacity(bootstrap::RESAMPLES); columns.len()];
    Columns::new(&columns).for_each_resample(seed, |sums| {
        for (ratios, sum) in ratios.iter_mut().zip(sums) {
            ratios.extend(sum.ratio());
        }
    });
    for (i, ratios) in resampled.into_iter().zip(ratios) {
        let interval = bootstrap::interval(ratios, samples[i].clusters());
        cells[i].interval = interval.zip(cells[i].value).map(|(interval, value)| interval.around(value));
    }
    cells
}

fn cell_without_resampling(sample: &Sample) -> Cell {
    let counts = sample.total();
    let value = counts.ratio().filter(|_| sample.len() >= MIN_CASES);
    let is_exact = !is_resampled(sample) && sample.is_share();
    Cell {
        cases: sample.len(),
        clusters: sample.clusters(),
        counts,
        value,
        interval: value.filter(|_| is_exact).map(|value| exact_interval(sample, value)),
    }
}

/// Whether resampling the files shows how uncertain the sample is.
fn is_resampled(sample: &Sample) -> bool {
    sample.clusters() >= MIN_CLUSTERS && !sample.is_constant()
}

fn exact_interval(sample: &Sample, value: f64) -> Interval {
    let effective_cases = sample.effective_cases();
    let (low, high) = exact::interval(value, effective_cases);
    Interval { low, high, method: IntervalMethod::ClopperPearson { effective_cases } }
}

fn latency(group: &[&Observation]) -> Option<Latency> {
    let mut sorted: Vec<f64> = group.iter().filter_map(|observation| observation.latency).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(Latency {
        count: sorted.len(),
        timeouts: sorted.iter().filter(|latency| latency.is_infinite()).count(),
        p50: percentile(&sorted, 0.5)?,
        p95: percentile(&sorted, 0.95)?,
        p99: percentile(&sorted, 0.99)?,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::metric::MetricValue;

    fn observation(case: usize, cluster: usize, labels: &[(&str, &str)], metric: MetricValue) -> Observation {
        Observation {
            case: case.to_string(),
            cluster: format!("file {cluster}"),
            labels: labels.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            metrics: Metrics::from([("m".to_owned(), metric)]),
            latency: None,
        }
    }

    /// Cases in order, `per_file` to a file, each right or wrong.
    fn right_or_wrong(per_file: usize, right: impl IntoIterator<Item = bool>) -> Vec<Observation> {
        let case = |(case, right)| {
            let value = MetricValue::Value(f64::from(u8::from(right)));
            observation(case, case / per_file, &[], value)
        };
        right.into_iter().enumerate().map(case).collect()
    }

    fn only_cell(observations: &[Observation]) -> Cell {
        summarize(observations, &Grouping::default(), 1).rows[0].cells["m"]
    }

    fn show(table: &Table) -> String {
        let mut text = format!("{}\n", table.dimensions.join(" "));
        for row in &table.rows {
            let key: Vec<&str> = row.key.iter().map(|value| value.as_deref().unwrap_or("*")).collect();
            let counts = row.cells["m"].counts;
            text += &format!("{}: {} of {} in {} cases\n", key.join(" "), counts.num, counts.den, row.cases);
        }
        text
    }

    #[track_caller]
    fn check(observations: &[Observation], apart: &[&str], pooled: &[&str], expected: Expect) {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let grouping = Grouping { apart: names(apart), pooled: names(pooled) };
        expected.assert_eq(&show(&summarize(observations, &grouping, 1)));
    }

    #[test]
    fn pooled_dimensions_get_totals_and_others_none() {
        let value = MetricValue::Value(1.0);
        let observations = [
            observation(1, 1, &[("engine", "a"), ("kind", "if"), ("language", "go")], value),
            observation(2, 1, &[("engine", "a"), ("kind", "for"), ("language", "go")], value),
            observation(1, 1, &[("engine", "b"), ("language", "go")], MetricValue::Value(0.0)),
        ];
        check(
            &observations,
            &["engine"],
            &["kind", "language"],
            expect![[r#"
                engine kind language
                a * *: 2 of 2 in 2 cases
                a * go: 2 of 2 in 2 cases
                a for *: 1 of 1 in 1 cases
                a for go: 1 of 1 in 1 cases
                a if *: 1 of 1 in 1 cases
                a if go: 1 of 1 in 1 cases
                b * *: 0 of 1 in 1 cases
                b * go: 0 of 1 in 1 cases
                b  *: 0 of 1 in 1 cases
                b  go: 0 of 1 in 1 cases
            "#]],
        );
        check(
            &[],
            &["engine"],
            &["kind"],
            expect![[r#"
            engine kind
        "#]],
        );
    }

    #[test]
    fn sums_are_divided_and_repetitions_weigh_as_one_case() {
        let observations = [
            observation(1, 1, &[], MetricValue::Ratio { num: 1.0, den: 1.0 }),
            observation(2, 1, &[], MetricValue::Ratio { num: 0.0, den: 4.0 }),
            observation(2, 1, &[], MetricValue::Ratio { num: 2.0, den: 4.0 }),
        ];
        check(
            &observations,
            &[],
            &[],
            expect![[r#"

            : 2 of 5 in 2 cases
        "#]],
        );
    }

    #[test]
    fn few_cases_show_their_counts_only() {
        let cell = only_cell(&right_or_wrong(1, [true; 9]));
        assert_eq!((cell.cases, cell.counts.num), (9, 9.0));
        assert_eq!((cell.value, cell.interval), (None, None));
        assert_eq!(only_cell(&right_or_wrong(1, [true; 10])).value, Some(1.0));
    }

    #[test]
    fn nothing_to_measure_has_no_value() {
        let nothing = MetricValue::Ratio { num: 0.0, den: 0.0 };
        let observations: Vec<_> = (0..20).map(|case| observation(case, case, &[], nothing)).collect();
        assert_eq!(only_cell(&observations).value, None);
    }

    #[test]
    fn many_files_are_resampled() {
        let cell = only_cell(&right_or_wrong(2, (0..60).map(|case| case % 3 == 0)));
        let interval = cell.interval.expect("an interval");
        assert_eq!(interval.method, IntervalMethod::ClusterBootstrap { resamples: 2_000 });
        assert!(interval.low < 0.28 && interval.high > 0.38, "{interval:?}");
        assert!(interval.low > 0.15 && interval.high < 0.5, "{interval:?}");
    }

    #[test]
    fn few_files_get_the_exact_interval_for_what_they_are_worth() {
        // Three files, each all right or all wrong, are worth three cases.
        let cell = only_cell(&right_or_wrong(10, (0..30).map(|case| case < 10)));
        let interval = cell.interval.expect("an interval");
        assert_eq!(interval.method, IntervalMethod::ClopperPearson { effective_cases: 3.0 });
        assert_eq!((interval.low, interval.high), exact::interval(1.0 / 3.0, 3.0));
    }

    #[test]
    fn all_right_in_many_files_is_still_uncertain() {
        let interval = only_cell(&right_or_wrong(2, [true; 40])).interval.expect("an interval");
        assert_eq!(interval.method, IntervalMethod::ClopperPearson { effective_cases: 20.0 });
        assert!(interval.low < 0.85 && interval.high == 1.0, "{interval:?}");
    }

    #[test]
    fn few_files_of_anything_but_shares_have_no_interval() {
        let observations: Vec<_> =
            (0..20).map(|case| observation(case, case / 5, &[], MetricValue::Value(case as f64))).collect();
        let cell = only_cell(&observations);
        assert_eq!((cell.value, cell.interval), (Some(9.5), None));
    }

    /// Right answers of a file are alike: its rate is 0 or 1 in a share `correlation` of the files, else the overall rate.
    fn correlated(
        rng: &mut impl FnMut() -> f64,
        files: usize,
        size: usize,
        rate: f64,
        correlation: f64,
    ) -> Vec<Observation> {
        let mut all = Vec::new();
        for file in 0..files {
            let pure = rng() < correlation;
            let common = rng() < rate;
            for _ in 0..size {
                let right = if pure { common } else { rng() < rate };
                let case = all.len();
                all.push(observation(case, file, &[], MetricValue::Value(f64::from(u8::from(right)))));
            }
        }
        all
    }

    fn uniform(mut seed: u64) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Of 300 experiments with true coverage of 95 %, fewer than 282 hits come about by chance in one of 300 cells.
    #[test]
    fn intervals_of_few_files_hold_the_true_value() {
        const EXPERIMENTS: usize = 300;
        for files in [3, 4, 5, 8, 10, 20] {
            for (rate, correlation) in [(0.5, 0.0), (0.5, 0.3), (0.2, 0.3), (0.0, 0.0), (1.0, 0.0)] {
                let mut rng = uniform(files as u64);
                let mut held = 0;
                for _ in 0..EXPERIMENTS {
                    let cell = only_cell(&correlated(&mut rng, files, 6, rate, correlation));
                    let (value, interval) =
                        (cell.value.expect("a value"), cell.interval.expect("an interval"));
                    assert!(interval.low <= value && value <= interval.high, "{cell:?}");
                    held += usize::from(interval.low <= rate && rate <= interval.high);
                }
                assert!(held * 100 >= EXPERIMENTS * 94, "{files} files, {rate}, {correlation}: {held}");
            }
        }
    }

    /// Engines that are equally good, with answers that are alike in a file, must seldom look different. With 20,000 experiments a cell the
    /// rates of false alarms are 0.0 to 5.1 %; 8 % of 300 come about by chance in one of 100 such cells.
    #[test]
    fn differences_in_few_files_raise_few_false_alarms() {
        const EXPERIMENTS: usize = 300;
        for files in [3, 4, 5, 8, 10, 20] {
            for (rate, correlation) in [(0.5, 0.0), (0.5, 0.3), (0.2, 0.3)] {
                let mut rng = uniform(77 + files as u64);
                let mut alarms = 0;
                for _ in 0..EXPERIMENTS {
                    let a = correlated(&mut rng, files, 6, rate, correlation);
                    let b = correlated(&mut rng, files, 6, rate, correlation);
                    let compared = crate::compare(&a, &b, "m", 1);
                    let interval = compared.interval.expect("an interval");
                    let value = compared.difference.expect("a value");
                    assert!(interval.low <= value && value <= interval.high, "{compared:?}");
                    alarms += usize::from(0.0 < interval.low || interval.high < 0.0);
                }
                assert!(alarms * 100 <= EXPERIMENTS * 8, "{files} files, {rate}, {correlation}: {alarms}");
            }
        }
    }

    /// Of 200 experiments with 30 files of 6 alike cases each, about 95 % of the intervals must hold the true share.
    #[test]
    fn intervals_hold_the_true_value_as_often_as_they_claim() {
        let mut uniform = uniform(1);
        let mut held = 0;
        for _ in 0..200 {
            let mut right = Vec::new();
            for _ in 0..30 {
                let of_file = if uniform() < 0.5 { 0.1 } else { 0.6 };
                right.extend((0..6).map(|_| uniform() < of_file));
            }
            let interval = only_cell(&right_or_wrong(6, right)).interval.expect("an interval");
            held += usize::from(interval.low <= 0.35 && 0.35 <= interval.high);
        }
        assert!((181..=198).contains(&held), "{held} of 200");
    }

    #[test]
    fn timeouts_count_in_latencies() {
        let mut observations = right_or_wrong(1, [true; 12]);
        let latencies = (1..=9).map(|ms| Some(f64::from(ms))).chain([Some(f64::INFINITY), None, None]);
        for (observation, latency) in observations.iter_mut().zip(latencies) {
            observation.latency = latency;
        }
        let latency = summarize(&observations, &Grouping::default(), 1).rows[0].latency;
        let expected = Latency { count: 10, timeouts: 1, p50: 5.0, p95: f64::INFINITY, p99: f64::INFINITY };
        assert_eq!(latency, Some(expected));
    }
}
