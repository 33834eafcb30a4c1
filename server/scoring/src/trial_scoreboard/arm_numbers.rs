//! Numbers of each arm by exposure and scenario.

use std::collections::{BTreeMap, BTreeSet};

use cases::{Exposure, Status};
use serde::Serialize;

use super::TrialMetric;
use super::log::{LogView, Quality, Record, TruthState};
use crate::counts::Counts;
use crate::metric_table::{MIN_CASES, MetricCell};
use crate::run_summary::ScenarioGroup;

/// Truths of one exposure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialSection {
    /// What the developer had seen. Truths of [`Exposure::None`] are the headline, weighted by 1 / probability.
    pub exposure: Exposure,
    /// Number of opportunities with a truth.
    pub truths: usize,
    /// All scenarios first, without empty truths; then each scenario.
    pub scenarios: Vec<ScenarioNumbers>,
}

/// All arms in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioNumbers {
    /// The scenario; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<ScenarioGroup>,
    /// Number of opportunities with a truth.
    pub truths: usize,
    /// The arms that were asked.
    pub arms: Vec<ArmNumbers>,
}

/// One arm in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmNumbers {
    /// The arm.
    pub arm: usize,
    /// Opportunities with a truth at which it was asked.
    pub opportunities: usize,
    /// Those at which it suggested something.
    pub answered: usize,
    /// Those at which it failed.
    pub failed: usize,
    /// Those at which typing cancelled the request, so that its answer is unknown.
    pub cancelled: usize,
    /// Cells by metric, with weighted sums, without metrics that apply to no opportunity. Intervals belong to differences.
    pub metrics: BTreeMap<TrialMetric, MetricCell>,
}

/// A group of truths by how they came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TruthQuality {
    /// The developer typed all of it.
    Typed,
    /// Parts of it were pasted, accepted or formatted.
    PartlyTyped,
    /// Edits of it were undone.
    Reversed,
    /// It changed after an earlier stage.
    Changed,
}

/// The headline's truths of one quality. A truth can be in several rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TruthQualityRow {
    /// The quality.
    pub quality: TruthQuality,
    /// Number of truths.
    pub truths: usize,
    /// The metric of the settings, by arm that has a value.
    pub arms: Vec<(usize, MetricCell)>,
}

/// Returns the sections with truths, the headline first.
pub(super) fn sections(view: &LogView<'_>) -> Vec<TrialSection> {
    let section = |&exposure: &Exposure| {
        let records: Vec<(&Record, f64)> = view
            .records
            .iter()
            .filter(|record| is_written(record) && record.is_representative())
            .filter_map(|&record| Some((record, weight(view, record, exposure)?)))
            .collect();
        (!records.is_empty()).then(|| TrialSection {
            exposure,
            truths: records.len(),
            scenarios: scenarios(view, &records),
        })
    };
    Exposure::ALL.iter().filter_map(section).collect()
}

fn is_written(record: &Record) -> bool {
    matches!(record.truth, TruthState::Code | TruthState::Empty)
}

fn weight(view: &LogView<'_>, record: &Record, exposure: Exposure) -> Option<f64> {
    match exposure {
        Exposure::None => view.headline_weight(record),
        exposure => (record.exposure == exposure).then_some(1.0),
    }
}

fn scenarios(view: &LogView<'_>, records: &[(&Record, f64)]) -> Vec<ScenarioNumbers> {
    let groups: BTreeSet<ScenarioGroup> = records.iter().filter_map(|(record, _)| record.group).collect();
    let of_group = |scenario: Option<ScenarioGroup>| {
        let members: Vec<(&Record, f64)> = records
            .iter()
            .filter(|(record, _)| scenario.is_none() || record.group == scenario)
            .copied()
            .collect();
        let arms = (0..view.arms.len()).filter_map(|arm| arm_numbers(view, arm, &members)).collect();
        ScenarioNumbers { scenario, truths: members.len(), arms }
    };
    std::iter::once(None).chain(groups.into_iter().map(Some)).map(of_group).collect()
}

fn arm_numbers(view: &LogView<'_>, arm: usize, members: &[(&Record, f64)]) -> Option<ArmNumbers> {
    let name = view.arms[arm];
    let mut numbers =
        ArmNumbers { arm, opportunities: 0, answered: 0, failed: 0, cancelled: 0, metrics: BTreeMap::new() };
    for answer in members.iter().filter_map(|(record, _)| record.answer(name)) {
        numbers.opportunities += 1;
        numbers.answered += usize::from(answer.status == Status::Ok && !answer.is_blank);
        numbers.failed += usize::from(answer.has_failed());
        numbers.cancelled += usize::from(answer.status == Status::Cancelled);
    }
    let of_truths: Vec<TrialMetric> =
        TrialMetric::ALL.into_iter().filter(|metric| metric.is_of_truths()).collect();
    let cells = of_truths.iter().zip(cells(view, name, &of_truths, members));
    numbers.metrics = cells.filter_map(|(metric, cell)| Some((*metric, cell?))).collect();
    (numbers.opportunities > 0).then_some(numbers)
}

/// Returns the weighted sums of a metric; `None` if it applies to no opportunity.
pub(super) fn cell(
    view: &LogView<'_>,
    arm: u32,
    metric: TrialMetric,
    members: &[(&Record, f64)],
) -> Option<MetricCell> {
    cells(view, arm, &[metric], members).pop().flatten()
}

/// Returns the cells of several metrics. Reads the records once: there may be more than fit into the processor's cache.
fn cells(
    view: &LogView<'_>,
    arm: u32,
    metrics: &[TrialMetric],
    members: &[(&Record, f64)],
) -> Vec<Option<MetricCell>> {
    let mut sums: Vec<CellSums> = metrics.iter().map(|_| CellSums::new(view.log.files())).collect();
    for (record, weight) in members {
        let Some(answer) = record.answer(arm) else { continue };
        for (metric, sums) in metrics.iter().zip(&mut sums) {
            if let Some(counts) = view.value(record, answer, *metric) {
                sums.add(counts, *weight, record.file);
            }
        }
    }
    sums.into_iter().map(CellSums::cell).collect()
}

/// Sums of one metric.
struct CellSums {
    sum: Counts,
    cases: usize,
    clusters: usize,
    /// By file: whether one of the cases is in it.
    is_known: Vec<bool>,
}

impl CellSums {
    fn new(files: usize) -> CellSums {
        CellSums { sum: Counts::default(), cases: 0, clusters: 0, is_known: vec![false; files] }
    }

    fn add(&mut self, counts: Counts, weight: f64, file: u32) {
        self.sum += Counts { num: counts.num * weight, den: counts.den * weight };
        self.cases += 1;
        self.clusters += usize::from(!std::mem::replace(&mut self.is_known[file as usize], true));
    }

    fn cell(self) -> Option<MetricCell> {
        let CellSums { sum, cases, clusters, .. } = self;
        (cases > 0).then(|| MetricCell {
            cases,
            clusters,
            num: sum.num,
            den: sum.den,
            value: sum.ratio().filter(|_| cases >= MIN_CASES),
            interval: None,
        })
    }
}

/// Returns the headline's truths by quality.
pub(super) fn truth_quality(view: &LogView<'_>) -> Vec<TruthQualityRow> {
    let is_of = |quality: TruthQuality, of: Quality| match quality {
        TruthQuality::Typed => of.share_typed >= 1.0,
        TruthQuality::PartlyTyped => of.share_typed < 1.0,
        TruthQuality::Reversed => of.has_reversals,
        TruthQuality::Changed => of.has_changed,
    };
    let all = [TruthQuality::Typed, TruthQuality::PartlyTyped, TruthQuality::Reversed, TruthQuality::Changed];
    let row = |quality: TruthQuality| {
        let members: Vec<(&Record, f64)> = view
            .records
            .iter()
            .filter(|record| is_written(record) && record.quality.is_some_and(|of| is_of(quality, of)))
            .filter_map(|&record| Some((record, view.headline_weight(record)?)))
            .collect();
        let cells = view
            .arms
            .iter()
            .enumerate()
            .filter_map(|(arm, &name)| Some((arm, cell(view, name, view.settings.metric, &members)?)));
        (!members.is_empty()).then(|| TruthQualityRow {
            quality,
            truths: members.len(),
            arms: cells.collect(),
        })
    };
    all.into_iter().filter_map(row).collect()
}
