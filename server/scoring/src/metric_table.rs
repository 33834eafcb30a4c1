//! Tables of metrics: observations grouped into rows, each cell with its counts, value and interval.
//!
//! The types are what reports show; every number in them is computed here and in the modules below.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::{Counts, Metrics};
use crate::statistics::bootstrap::CountColumns;
use crate::statistics::percentile::percentile;
use crate::statistics::sample::{ClusterNumbers, Sample};
use crate::statistics::{MIN_CLUSTERS, bootstrap, clopper_pearson};

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
pub struct MetricTable {
    /// Names of the dimensions, in the order of [`TableRow::key`].
    pub dimensions: Vec<String>,
    /// Rows in the order of their keys, a total before its parts.
    pub rows: Vec<TableRow>,
}

/// One group of observations.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// One value per dimension of the table; `None` is all of them.
    pub key: Vec<Option<String>>,
    /// How many cases.
    pub cases: usize,
    /// How many files they come from.
    pub clusters: usize,
    /// Cells by the metric's name; metrics that apply to no case of the group are absent.
    pub cells: BTreeMap<String, MetricCell>,
    /// Latencies; `None` when no observation has one.
    pub latency: Option<Latency>,
}

/// One metric over one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricCell {
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
    pub(crate) fn widened_to(self, value: f64) -> Interval {
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
pub fn summarize(observations: &[Observation], grouping: &Grouping, seed: u64) -> MetricTable {
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
    MetricTable { dimensions, rows }
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

fn row(key: Vec<Option<String>>, group: &[&Observation], seed: u64) -> TableRow {
    let cases = by_case(group.iter().copied());
    let clusters = ClusterNumbers::new(cases.values().map(|case| case.cluster));
    let metrics: BTreeSet<&String> =
        group.iter().flat_map(|observation| observation.metrics.keys()).collect();
    let samples = metrics.into_iter().map(|name| {
        let of_cases = cases.values().filter_map(|case| Some((case.cluster, case.counts(name)?)));
        (name.clone(), Sample::new(&clusters, of_cases))
    });
    let (names, samples): (Vec<String>, Vec<Sample>) = samples.unzip();
    TableRow {
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
fn cells(samples: &[Sample], seed: u64) -> Vec<MetricCell> {
    let mut cells: Vec<MetricCell> = samples.iter().map(cell_without_resampling).collect();
    let resampled: Vec<usize> =
        (0..cells.len()).filter(|&i| cells[i].value.is_some() && is_resampled(&samples[i])).collect();
    let columns: Vec<Vec<Counts>> = resampled.iter().map(|&i| samples[i].cluster_totals()).collect();
    let mut ratios = vec![Vec::with_capacity(bootstrap::RESAMPLES); columns.len()];
    CountColumns::new(&columns).for_each_resample(seed, |sums| {
        for (ratios, sum) in ratios.iter_mut().zip(sums) {
            ratios.extend(sum.ratio());
        }
    });
    for (i, ratios) in resampled.into_iter().zip(ratios) {
        let interval = bootstrap::interval(ratios, samples[i].clusters());
        cells[i].interval = interval.zip(cells[i].value).map(|(interval, value)| interval.widened_to(value));
    }
    cells
}

fn cell_without_resampling(sample: &Sample) -> MetricCell {
    let counts = sample.total();
    let value = counts.ratio().filter(|_| sample.len() >= MIN_CASES);
    let is_exact = !is_resampled(sample) && sample.is_share();
    MetricCell {
        cases: sample.len(),
        clusters: sample.clusters(),
        counts,
        value,
        interval: value.filter(|_| is_exact).map(|value| exact_interval(sample, value)),
    }
}

/// Whether resampling the files shows how uncertain the sample is. Of shares, only telling files count: resamples of 30 files with
/// right answers in two of them hardly differ.
fn is_resampled(sample: &Sample) -> bool {
    let files = if sample.is_share() { sample.telling_clusters() } else { sample.clusters() };
    files >= MIN_CLUSTERS && !sample.is_constant()
}

fn exact_interval(sample: &Sample, value: f64) -> Interval {
    let effective_cases = sample.effective_cases();
    let (low, high) = clopper_pearson::interval(value, effective_cases);
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
mod tests;
