//! Tables of metrics: observations grouped into rows; each cell has counts, value and interval.
//!
//! Reports show these types. All their numbers are computed here and in the modules below.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cases::{Metric, MetricValue, Metrics};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use crate::comparison::OUTSIDE;
use crate::counts::Counts;
use crate::run_summary::outcome::RequestOutcome;
use crate::statistics::beta::student_quantile;
use crate::statistics::bootstrap::CountColumns;
use crate::statistics::hall::SkewedMean;
use crate::statistics::percentile::percentile;
use crate::statistics::sample::{ClusterNumbers, Sample, ShareSpread};
use crate::statistics::{MIN_CLUSTERS, bootstrap, clopper_pearson, wilson};

/// One scored prediction. A run has many, so that they share the texts and metrics of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation<'a> {
    /// Case; observations of one case in one row are repetitions and weigh as one.
    pub case: Cow<'a, str>,
    /// File the case was cut from. Cases of one file are not independent.
    pub cluster: Arc<str>,
    /// The metrics of the answer that apply.
    pub metrics: Cow<'a, Metrics>,
    /// Outcome of the request, whose metrics count in place of equal ones of the answer; `None` without a request.
    pub outcome: Option<RequestOutcome>,
    /// Milliseconds until the answer was ready, infinite after a timeout; `None` without a request to the engine.
    pub latency: Option<f64>,
}

impl<'a> Observation<'a> {
    /// Creates an observation without a request's outcome.
    pub fn new(
        case: impl Into<Cow<'a, str>>,
        cluster: impl Into<Arc<str>>,
        metrics: Metrics,
        latency: Option<f64>,
    ) -> Observation<'a> {
        let (case, cluster) = (case.into(), cluster.into());
        Observation { case, cluster, metrics: Cow::Owned(metrics), outcome: None, latency }
    }

    /// Returns the value of a metric, if it applies.
    fn value(&self, metric: Metric) -> Option<MetricValue> {
        let of_request = self.outcome.and_then(|outcome| outcome.value(metric));
        of_request.or_else(|| self.metrics.get(&metric).copied())
    }

    /// Returns the metrics that apply, in any order.
    fn applicable_metrics(&self) -> impl Iterator<Item = Metric> {
        let of_request = self.outcome.iter().flat_map(|outcome| outcome.flags()).map(|(metric, _)| metric);
        self.metrics.keys().copied().chain(of_request)
    }
}

/// One group of observations.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Number of cases.
    pub cases: usize,
    /// Number of files they come from.
    pub clusters: usize,
    /// Cells by metric, without metrics that apply to no case of the group.
    pub cells: BTreeMap<Metric, MetricCell>,
    /// Latencies; `None` if no observation has one.
    pub latency: Option<Latency>,
}

/// One metric over one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetricCell {
    /// Number of cases that the metric applies to.
    pub cases: usize,
    /// Number of files they come from.
    #[serde(skip)]
    pub clusters: usize,
    /// Sum of the numerators, after averaging repetitions.
    pub num: f64,
    /// Sum of the denominators.
    pub den: f64,
    /// Ratio of the sums; `None` with fewer than [`MIN_CASES`] cases or nothing to measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the value; `None` without a value or an applicable method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl MetricCell {
    /// Returns the ratio of the sums, of however few cases; `None` if there is nothing to measure.
    pub fn mean(&self) -> Option<f64> {
        Counts { num: self.num, den: self.den }.ratio()
    }
}

/// Cells with fewer cases show only counts: a ratio of so few cases would be overrated.
pub const MIN_CASES: usize = 10;

/// An interval that covers the true value in 95 of 100 repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    /// Wilson's score interval of a share, with the number of cases reduced by the correlation of cases of one file.
    Wilson {
        /// Number of independent cases that the group is equivalent to.
        effective_cases: f64,
        /// Degrees of freedom of this number.
        degrees: f64,
    },
    /// Hall's interval of a share of other values than counts, which may be skewed, over the files.
    Hall {
        /// Degrees of freedom.
        degrees: f64,
    },
    /// Clopper and Pearson's exact interval, with the number of cases reduced by the correlation of cases of one file, for shares of which
    /// too few files are informative.
    ClopperPearson {
        /// Number of independent cases that the group is equivalent to.
        effective_cases: f64,
    },
    /// Tango's score interval of a difference of two shares of independent cases.
    Tango,
    /// Student's interval of a difference, over the files.
    Student {
        /// Degrees of freedom: for files of equal weight, their number less one.
        degrees: f64,
    },
    /// A confidence sequence of a difference over the files, by the normal mixture: it holds at all times of a growing trial together.
    NormalMixture {
        /// Number of independent cases that the cases are equivalent to.
        effective_cases: f64,
    },
}

impl IntervalMethod {
    /// Returns the method's name in files.
    pub fn name(self) -> &'static str {
        match self {
            IntervalMethod::ClusterBootstrap { .. } => "cluster_bootstrap",
            IntervalMethod::Wilson { .. } => "wilson",
            IntervalMethod::Hall { .. } => "hall",
            IntervalMethod::ClopperPearson { .. } => "clopper_pearson",
            IntervalMethod::Tango => "tango",
            IntervalMethod::Student { .. } => "student_t",
            IntervalMethod::NormalMixture { .. } => "normal_mixture",
        }
    }
}

impl Serialize for IntervalMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Latency percentiles in milliseconds; infinite if the percentile is a timeout, `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

/// Returns a row per key. An observation counts in each row that it is paired with: pair it also with the keys of the totals.
/// `seed` drives the resampling.
pub fn summarize<'a, K: Ord + Send>(
    observations: impl IntoIterator<Item = (K, &'a Observation<'a>)>,
    seed: u64,
) -> BTreeMap<K, TableRow> {
    let mut groups: BTreeMap<K, Vec<&Observation<'_>>> = BTreeMap::new();
    for (key, observation) in observations {
        groups.entry(key).or_default().push(observation);
    }
    groups.into_par_iter().map(|(key, group)| (key, row(&group, seed))).collect()
}

fn row(group: &[&Observation<'_>], seed: u64) -> TableRow {
    let cases = by_case(group.iter().copied());
    let clusters = ClusterNumbers::new(cases.values().map(|case| case.cluster));
    let metrics: BTreeSet<Metric> =
        group.iter().flat_map(|observation| observation.applicable_metrics()).collect();
    let numbered: Vec<(usize, &Repetitions<'_>)> =
        cases.values().filter_map(|case| Some((clusters.number(case.cluster)?, case))).collect();
    let samples = metrics.into_iter().map(|metric| {
        let of_cases = numbered.iter().filter_map(|(file, case)| Some((*file, case.counts(metric)?)));
        (metric, Sample::new(clusters.len(), of_cases))
    });
    let (names, samples): (Vec<Metric>, Vec<Sample>) = samples.unzip();
    TableRow {
        cases: cases.len(),
        clusters: clusters.len(),
        cells: names.into_iter().zip(cells(&samples, seed)).collect(),
        latency: latency_of(group.iter().filter_map(|observation| observation.latency).collect()),
    }
}

/// The repetitions of one case.
pub(crate) struct Repetitions<'a> {
    /// File of the case.
    pub(crate) cluster: &'a str,
    observations: Vec<&'a Observation<'a>>,
}

impl Repetitions<'_> {
    /// Returns the metric's counts averaged over the repetitions that have it; `None` if none has.
    pub(crate) fn counts(&self, metric: Metric) -> Option<Counts> {
        let values = self.observations.iter().filter_map(|observation| observation.value(metric));
        let repetitions = values.clone().count();
        let sum = values.fold(Counts::default(), |sum, value| sum + Counts::from(value));
        (repetitions > 0).then(|| sum / repetitions as f64)
    }
}

/// Groups observations by their case.
pub(crate) fn by_case<'a>(
    observations: impl IntoIterator<Item = &'a Observation<'a>>,
) -> BTreeMap<&'a str, Repetitions<'a>> {
    let mut cases: BTreeMap<&str, Repetitions<'_>> = BTreeMap::new();
    for observation in observations {
        cases
            .entry(&*observation.case)
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
    MetricCell {
        cases: sample.len(),
        clusters: sample.clusters(),
        num: counts.num,
        den: counts.den,
        value,
        interval: value.filter(|_| sample.is_share()).map(|value| share_interval(sample, value)),
    }
}

/// Whether the files are resampled: for values that are no shares, if there are enough files.
fn is_resampled(sample: &Sample) -> bool {
    !sample.is_share() && sample.clusters() >= MIN_CLUSTERS && !sample.is_constant()
}

/// Returns the interval of a share: Wilson's of counts, Hall's of other values such as similarities, and, if too few files are informative to
/// estimate their spread, the exact one for a cautious number of cases.
pub(crate) fn share_interval(sample: &Sample, value: f64) -> Interval {
    let Some(spread) = sample.spread().filter(|_| !sample.is_constant()) else {
        let effective_cases = sample.effective_cases();
        let (low, high) = clopper_pearson::interval(value, effective_cases, OUTSIDE);
        return Interval { low, high, method: IntervalMethod::ClopperPearson { effective_cases } };
    };
    let ShareSpread { effective_cases, degrees, error, skewness } = spread;
    let limit = student_quantile(degrees, OUTSIDE);
    if sample.has_counts() {
        let (low, high) = wilson::interval(value, effective_cases, limit);
        return Interval { low, high, method: IntervalMethod::Wilson { effective_cases, degrees } };
    }
    let mean = SkewedMean { mean: value, error, skewness, count: sample.clusters() as f64 };
    let (low, high) = mean.interval(limit);
    Interval { low: low.max(0.0), high: high.min(1.0), method: IntervalMethod::Hall { degrees } }
        .widened_to(value)
}

/// Returns the percentiles of latencies in milliseconds, infinite for timeouts; `None` for none.
pub(crate) fn latency_of(mut sorted: Vec<f64>) -> Option<Latency> {
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
