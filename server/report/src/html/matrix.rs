//! The numbers by scenario and block kind: a table per scenario, with a row per engine and a column per block kind.

use cases::{BlockKind, Metric};
use serde::Serialize;

use crate::format::{self, Alphabet};
use scoring::MetricCell;
use scoring::run_summary::{CaseGroup, EngineLine, ReportSection, ScenarioGroup};

/// Metrics to choose from; the first one is shown without scripts.
const METRICS: [Metric; 5] =
    [Metric::EditSimilarity, Metric::ExactMatch, Metric::TokenExact, Metric::Stopping, Metric::RawStopping];

/// Steps of shading in `report.css`.
const STEPS: f64 = 10.0;

/// With more engines, only the totals are open initially.
const OPEN_ENGINES: usize = 4;

#[derive(Serialize)]
pub(super) struct Matrix {
    /// Names of the metrics to choose from.
    metrics: [&'static str; 5],
    /// Block kinds in use.
    columns: Vec<String>,
    /// The totals, then the scenarios.
    parts: Vec<ScenarioPart>,
}

#[derive(Serialize)]
struct ScenarioPart {
    name: String,
    /// Whether it shows restraint, independent of the chosen metric.
    is_restraint: bool,
    is_open: bool,
    rows: Vec<EngineRow>,
}

#[derive(Serialize)]
struct EngineRow {
    engine: usize,
    /// The total, then one per column; absent without cases.
    cells: Vec<Option<Cell>>,
}

#[derive(Serialize)]
struct Cell {
    /// Link to its cases in the browser below.
    link: String,
    /// For each metric to choose from; one if none can be chosen.
    values: Vec<CellValue>,
}

#[derive(Serialize)]
struct CellValue {
    text: String,
    interval: Option<String>,
    /// Cases that the metric applies to.
    cases: String,
    /// Step of shading; absent if there are too few cases.
    heat: Option<usize>,
}

pub(super) fn matrix(section: &ReportSection, order: &[usize]) -> Matrix {
    let mut columns: Vec<BlockKind> =
        section.block_kinds.iter().filter_map(|group| group.block_kind).collect();
    columns.dedup();
    let totals: Vec<CaseGroup> = section.block_kinds.iter().chain([&section.overall]).cloned().collect();
    let by_scenario = section.scenarios.chunk_by(|left, right| left.scenario == right.scenario);
    let part = |groups: &[CaseGroup]| part(section, groups, &columns, order);
    Matrix {
        metrics: METRICS.map(|metric| metric.spec().label),
        parts: [part(&totals)].into_iter().chain(by_scenario.map(part)).collect(),
        columns: columns.iter().map(|kind| kind.to_string()).collect(),
    }
}

fn part(
    section: &ReportSection,
    groups: &[CaseGroup],
    columns: &[BlockKind],
    order: &[usize],
) -> ScenarioPart {
    let scenario = groups.first().and_then(|group| group.scenario);
    let is_restraint = scenario.is_some_and(ScenarioGroup::is_empty);
    let cell = |kind: Option<BlockKind>, engine: usize| {
        let group = groups.iter().find(|group| group.block_kind == kind)?;
        let line = group.lines.iter().find(|line| line.engine == engine)?;
        Some(Cell { link: link(section, group, engine), values: values(line, is_restraint) })
    };
    let kinds = || [None].into_iter().chain(columns.iter().copied().map(Some));
    let row = |&engine: &usize| EngineRow { engine, cells: kinds().map(|kind| cell(kind, engine)).collect() };
    let rows: Vec<EngineRow> =
        order.iter().map(row).filter(|row| row.cells.iter().any(Option::is_some)).collect();
    ScenarioPart {
        name: scenario.map_or_else(|| "all scenarios in totals".to_owned(), |scenario| scenario.to_string()),
        is_restraint,
        is_open: scenario.is_none() || rows.len() <= OPEN_ENGINES,
        rows,
    }
}

fn values(line: &EngineLine, is_restraint: bool) -> Vec<CellValue> {
    let metrics: &[Metric] = if is_restraint { &[Metric::Restraint] } else { &METRICS };
    metrics.iter().map(|metric| value(line, line.metrics.get(metric))).collect()
}

fn value(line: &EngineLine, cell: Option<&MetricCell>) -> CellValue {
    let cases = cell.map_or(0, |cell| cell.cases);
    let text = |cell: &MetricCell| cell.value.map_or_else(|| format::counts(cell), format::percent);
    let interval = cell.and_then(|cell| cell.interval);
    CellValue {
        text: cell.map_or_else(|| "–".to_owned(), text),
        interval: interval.map(|interval| format::interval(interval, Alphabet::Unicode)),
        cases: format::cases(cases, line.is_from_other_tree(), Alphabet::Unicode),
        heat: cell.and_then(heat),
    }
}

fn heat(cell: &MetricCell) -> Option<usize> {
    cell.value.map(|value| (value * STEPS).clamp(0.0, STEPS - 1.0) as usize)
}

/// Returns the filters of the case browser in the format of its links.
fn link(section: &ReportSection, group: &CaseGroup, engine: usize) -> String {
    let origin = format::origin(section.origin, section.exposure);
    let mut filters = vec![format!("origin={origin}"), format!("engine={engine}")];
    filters.extend(group.scenario.iter().map(|scenario| format!("scenario={scenario}")));
    filters.extend(group.block_kind.iter().map(|kind| format!("block_kind={kind}")));
    format!("#{}", filters.join("&"))
}
