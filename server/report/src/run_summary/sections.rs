//! Converts tables of `scoring` into the sections and groups of a report.

use std::collections::{BTreeMap, BTreeSet};

use cases::{BlockKind, BodyCut, CrossFileContext, Exposure, OriginKind, Scenario};
use scoring::{Grouping, IntervalMethod, MetricTable, Observation, TableRow};

use super::observations::{
    BLOCK_KIND, ENGINE, EXPOSURE, LANGUAGE, ORIGIN, RunObservations, SCENARIO, is_from_other_tree,
};
use super::{
    CaseGroup, CellView, EngineLine, ExcludedCases, IntervalView, LatencyView, ReportSection, SelectedCases,
    Selection, contexts, differences,
};

/// Returns one section per origin and exposure with observations, the largest first.
pub(super) fn sections(observed: &RunObservations, seed: u64) -> Vec<ReportSection> {
    let is_counted = |observation: &&Observation| !observed.left_out.contains_key(&observation.case);
    let counted: Vec<Observation> = observed.observations.iter().filter(is_counted).cloned().collect();
    let by_scenario = scoring::summarize(&observed.observations, &grouping(&[SCENARIO, BLOCK_KIND]), seed);
    let by_kind = scoring::summarize(&counted, &grouping(&[BLOCK_KIND]), seed);
    let by_language = scoring::summarize(&counted, &grouping(&[LANGUAGE]), seed);
    let mut sections = Vec::new();
    for &origin in OriginKind::ALL {
        for &exposure in Exposure::ALL {
            let Some(mut section) = section(origin, exposure, &by_scenario, &by_kind, &by_language) else {
                continue;
            };
            (section.selection, section.other_tree) = selection(observed, origin, exposure);
            section.controls = section.selection.left_out.iter().map(|part| part.cases).sum();
            section.differences = differences::differences(&counted, &section, seed);
            section.contexts = contexts::contexts(observed, &section, seed);
            mark_judges(&mut section.scenarios, &observed.judges);
            sections.push(section);
        }
    }
    sections.sort_by_key(|section| std::cmp::Reverse(section.size()));
    sections
}

/// Returns the answered cases that totals count and leave out, and the number of all that were cut from another tree than the
/// run's workspace.
fn selection(observed: &RunObservations, origin: OriginKind, exposure: Exposure) -> (Selection, usize) {
    let label =
        |observation: &Observation, name: &str| observation.labels.get(name).cloned().unwrap_or_default();
    let is_here = |observation: &&Observation| {
        label(observation, ORIGIN) == origin.name() && label(observation, EXPOSURE) == exposure.name()
    };
    let mut cases: BTreeMap<(Option<&'static str>, usize, String), BTreeSet<&str>> = BTreeMap::new();
    let mut other_tree: BTreeSet<&str> = BTreeSet::new();
    for observation in observed.observations.iter().filter(is_here) {
        other_tree.extend(is_from_other_tree(observation).then_some(observation.case.as_str()));
        let name = label(observation, SCENARIO);
        let scenario = name.split('/').next().unwrap_or_default().to_owned();
        let position = Scenario::ALL.iter().position(|value| value.name() == scenario);
        let key = (observed.left_out.get(&observation.case).copied(), position.unwrap_or_default(), scenario);
        cases.entry(key).or_default().insert(&observation.case);
    }
    let mut selection = Selection::default();
    for ((reason, _, scenario), cases) in cases {
        let judged = cases.iter().filter(|case| observed.judged.contains(**case)).count();
        let cases = cases.len();
        match reason {
            Some(reason) => selection.left_out.push(ExcludedCases { scenario, cases, reason }),
            None => {
                selection.cases += cases;
                selection.scenarios.push(SelectedCases { scenario, cases, judged });
            }
        }
    }
    (selection, other_tree.len())
}

fn grouping(pooled: &[&str]) -> Grouping {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Grouping { apart: owned(&[ORIGIN, EXPOSURE, ENGINE]), pooled: owned(pooled) }
}

fn section(
    origin: OriginKind,
    exposure: Exposure,
    by_scenario: &MetricTable,
    by_kind: &MetricTable,
    by_language: &MetricTable,
) -> Option<ReportSection> {
    let mut scenarios = groups(by_scenario, origin, exposure);
    scenarios.retain(|group| group.scenario.is_some());
    let mut block_kinds = groups(by_kind, origin, exposure);
    block_kinds.retain(|group| group.block_kind.is_some());
    let (mut languages, mut totals): (Vec<_>, Vec<_>) =
        groups(by_language, origin, exposure).into_iter().partition(|group| group.language.is_some());
    let overall = totals.pop()?;
    scenarios.sort_by_key(|group| (rank_of_scenario(group), rank_of_kind(group)));
    block_kinds.sort_by_key(rank_of_kind);
    languages.sort_by(|left, right| left.language.cmp(&right.language));
    Some(ReportSection {
        origin,
        exposure,
        overall,
        selection: Selection::default(),
        controls: 0,
        other_tree: 0,
        scenarios,
        block_kinds,
        languages,
        differences: Vec::new(),
        contexts: Vec::new(),
    })
}

/// Marks the rows of judges: cases that a judge solves from the file alone were left out, so that its own numbers are no rank.
fn mark_judges(scenarios: &mut [CaseGroup], judges: &BTreeSet<usize>) {
    let in_file = format!("{}/{}", Scenario::CrossFile, CrossFileContext::InFile);
    let is_in_file =
        |group: &&mut CaseGroup| group.scenario.as_ref().is_some_and(|name| name.starts_with(&in_file));
    for line in scenarios.iter_mut().filter(is_in_file).flat_map(|group| &mut group.lines) {
        line.is_selected_against = judges.contains(&line.engine);
    }
}

/// Returns the rows of one origin and exposure; rows of several engines over the same cases are grouped.
fn groups(table: &MetricTable, origin: OriginKind, exposure: Exposure) -> Vec<CaseGroup> {
    let mut groups: BTreeMap<[Option<&str>; 3], Vec<EngineLine>> = BTreeMap::new();
    for row in &table.rows {
        let label = |dimension| label(table, row, dimension);
        let is_here = label(ORIGIN) == Some(origin.name()) && label(EXPOSURE) == Some(exposure.name());
        let key = [SCENARIO, BLOCK_KIND, LANGUAGE].map(label);
        // A case without a block kind counts in its scenario's total; a separate row would repeat it.
        let is_unlabelled = key.contains(&Some(""));
        if let Some(line) = label(ENGINE).and_then(|engine| line(engine, row))
            && is_here
            && !is_unlabelled
        {
            groups.entry(key).or_default().push(line);
        }
    }
    groups.into_iter().map(|(key, lines)| group(key, lines)).collect()
}

/// Returns the row's value in a dimension; `None` if the row covers all values, or the table lacks the dimension.
fn label<'a>(table: &MetricTable, row: &'a TableRow, dimension: &str) -> Option<&'a str> {
    let column = table.dimensions.iter().position(|name| name == dimension)?;
    row.key.get(column)?.as_deref()
}

fn group(key: [Option<&str>; 3], mut lines: Vec<EngineLine>) -> CaseGroup {
    lines.sort_by_key(|line| line.engine);
    let [scenario, block_kind, language] = key.map(|label| label.map(str::to_owned));
    CaseGroup { scenario, block_kind, language, lines }
}

fn line(engine: &str, row: &TableRow) -> Option<EngineLine> {
    Some(EngineLine {
        engine: engine.parse().ok()?,
        cases: row.cases,
        files: row.clusters,
        is_selected_against: false,
        metrics: row.cells.iter().map(|(name, cell)| (name.clone(), cell.into())).collect(),
        latency: row.latency.map(LatencyView::from),
    })
}

impl From<&scoring::MetricCell> for CellView {
    fn from(cell: &scoring::MetricCell) -> CellView {
        let interval = cell.interval.map(IntervalView::from);
        CellView {
            cases: cell.cases,
            num: cell.counts.num,
            den: cell.counts.den,
            value: cell.value,
            interval,
        }
    }
}

impl From<scoring::Interval> for IntervalView {
    fn from(interval: scoring::Interval) -> IntervalView {
        let method = match interval.method {
            IntervalMethod::ClusterBootstrap { .. } => "cluster_bootstrap",
            IntervalMethod::ClopperPearson { .. } => "clopper_pearson",
            IntervalMethod::Student { .. } => "student_t",
        };
        IntervalView { low: interval.low, high: interval.high, method }
    }
}

impl From<scoring::Latency> for LatencyView {
    fn from(latency: scoring::Latency) -> LatencyView {
        let scoring::Latency { count, timeouts, p50, p95, p99 } = latency;
        LatencyView { count, timeouts, p50, p95, p99 }
    }
}

/// Returns the sort key: the documentation's order, a scenario's own row before its variants, and unresolved names last.
fn rank_of_scenario(group: &CaseGroup) -> (usize, bool, Option<usize>) {
    let name = group.scenario.as_deref().unwrap_or_default();
    let mut words = name.split('/');
    let mut word = || words.next().unwrap_or_default();
    let (scenario, variant, unresolved) = (word(), word(), word());
    let position = Scenario::ALL.iter().position(|value| value.name() == scenario);
    let variants =
        std::iter::once(BodyCut::Empty.name()).chain(CrossFileContext::ALL.iter().map(|it| it.name()));
    let variant = variants.into_iter().position(|value| value == variant);
    (position.unwrap_or(Scenario::ALL.len()), !unresolved.is_empty(), variant)
}

/// Returns the sort key: totals first, then the documentation's order.
fn rank_of_kind(group: &CaseGroup) -> Option<usize> {
    let name = group.block_kind.as_deref()?;
    BlockKind::ALL.iter().position(|kind| kind.name() == name)
}
