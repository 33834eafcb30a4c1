//! Tables of metrics: observations grouped into rows; each cell has counts, value and interval.
//!
//! Reports show these types. All their numbers are computed here and in the modules below.

use std::collections::{BTreeMap, BTreeSet};

use crate::metric::{Counts, Metrics};
use crate::statistics::bootstrap::CountColumns;
use crate::statistics::percentile::percentile;
use crate::statistics::sample::{ClusterNumbers, Sample};
use crate::statistics::{MIN_CLUSTERS, bootstrap, clopper_pearson};

/// One scored prediction with the labels to group it by.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Case; observations of one case in one row are repetitions and weigh as one.
    pub case: String,
    /// File the case was cut from. Cases of one file are not independent.
    pub cluster: String,
    /// Values by dimension, such as `scenario` -> `full_block`; an absent one is the empty string.
    pub labels: BTreeMap<String, String>,
    /// The metrics that apply.
    pub metrics: Metrics,
    /// Milliseconds until the answer was ready, infinite after a timeout; `None` without a request to the engine.
    pub latency: Option<f64>,
}

/// The dimensions of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Dimensions whose values are never pooled, such as `engine` or `origin`.
    pub apart: Vec<String>,
    /// Dimensions with a row per value and additional rows over all values.
    pub pooled: Vec<String>,
}

/// Rows of cells. The dimensions of `apart` precede those of `pooled`.
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
    /// One value per dimension of the table; `None` means all values.
    pub key: Vec<Option<String>>,
    /// Number of cases.
    pub cases: usize,
    /// Number of files they come from.
    pub clusters: usize,
    /// Cells by the metric's name, without metrics that apply to no case of the group.
    pub cells: BTreeMap<String, MetricCell>,
    /// Latencies; `None` if no observation has one.
    pub latency: Option<Latency>,
}

/// One metric over one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricCell {
    /// Number of cases that the metric applies to.
    pub cases: usize,
    /// Number of files they come from.
    pub clusters: usize,
    /// Sums over the cases, after averaging repetitions.
    pub counts: Counts,
    /// Ratio of the sums; `None` with fewer than [`MIN_CASES`] cases or nothing to measure.
    pub value: Option<f64>,
    /// 95 % interval of the value; `None` without a value or an applicable method.
    pub interval: Option<Interval>,
}

/// Cells with fewer cases show only counts: a ratio of so few cases would be overrated.
pub const MIN_CASES: usize = 10;

/// An interval that covers the true value in 95 of 100 repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Method of its computation.
    pub method: IntervalMethod,
}

impl Interval {
    /// Returns the interval, widened to contain its value: percentiles of resamples need not contain it.
    pub(crate) fn widened_to(self, value: f64) -> Interval {
        Interval { low: self.low.min(value), high: self.high.max(value), ..self }
    }
}

/// Method of computing an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntervalMethod {
    /// Percentiles over resamples of whole files, further out for few files.
    ClusterBootstrap {
        /// Number of resamples.
        resamples: usize,
    },
    /// Clopper and Pearson's exact interval, with the number of cases reduced by the correlation of cases of one file.
    ClopperPearson {
        /// Number of independent cases that the group is equivalent to.
        effective_cases: f64,
    },
    /// Student's interval of a difference, over the files.
    Student {
        /// Degrees of freedom: the number of files of equal weight that the group is equivalent to, less one.
        degrees: f64,
    },
}

/// Latency percentiles in milliseconds; infinite if the percentile is a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// Number of observations with a latency, timeouts included.
    pub count: usize,
    /// Number of timeouts.
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

/// Returns all combinations of pooled dimensions; true for those that keep their values.
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
    /// File of the case.
    pub(crate) cluster: &'a str,
    observations: Vec<&'a Observation>,
}

impl Repetitions<'_> {
    /// Returns the metric's counts averaged over the repetitions that have it; `None` if none has.
    pub(crate) fn counts(&self, metric: &str) -> Option<Counts> {
        let values = self.observations.iter().filter_map(|observation| observation.metrics.get(metric));
        let repetitions = values.clone().count();
        let sum = values.fold(Counts::default(), |sum, value| sum + value.counts());
        (repetitions > 0).then(|| sum / repetitions as f64)
    }
}

/// Groups observations by their case.
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

/// Computes a cell for each sample. Samples whose files are resampled are resampled together.
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

/// Whether resampling the files shows the uncertainty of the sample. For shares, only informative files count: resamples of 30
/// files with right answers in two of them hardly differ.
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
