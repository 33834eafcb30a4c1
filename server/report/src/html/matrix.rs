//! The matrix of scenarios and block kinds.

use cases::{BlockKind, Exposure, Metric};
use serde::Serialize;

use super::scoreboard::{self, ShareCell};
use crate::format::{self, Alphabet};
use scoring::MetricCell;
use scoring::run_summary::{CaseGroup, ReportSection, ScenarioGroup};

/// Metrics to choose from; the first one is shown initially.
const METRICS: [Metric; 5] =
    [Metric::EditSimilarity, Metric::ExactMatch, Metric::TokenExact, Metric::Stopping, Metric::RawStopping];

/// Steps of shading in `report.css`.
const STEPS: f64 = 10.0;

#[derive(Serialize)]
pub(super) struct Matrix {
    /// Keys and names of the metrics to choose from.
    metrics: Vec<(&'static str, &'static str)>,
    /// Block kinds in use.
    columns: Vec<String>,
    rows: Vec<MatrixRow>,
}

#[derive(Serialize)]
struct MatrixRow {
    name: String,
    /// Whether the row shows restraint, independent of the chosen metric.
    is_restraint: bool,
    /// One per column, then the total.
    cells: Vec<Vec<CellVariant>>,
}

/// Contents of a cell for one chosen metric.
#[derive(Serialize)]
struct CellVariant {
    metric: &'static str,
    lines: Vec<CellLine>,
}

#[derive(Serialize)]
struct CellLine {
    engine: usize,
    share: ShareCell,
    /// Cases that the metric applies to.
    cases: String,
    /// Step of shading; absent if there are too few cases.
    heat: Option<usize>,
    /// Link to these cases in the browser below.
    link: String,
}

pub(super) fn matrix(section: &ReportSection) -> Matrix {
    let mut columns: Vec<BlockKind> =
        section.block_kinds.iter().filter_map(|group| group.block_kind).collect();
    columns.dedup();
    let by_scenario = section.scenarios.chunk_by(|left, right| left.scenario == right.scenario);
    let mut rows: Vec<MatrixRow> = by_scenario.map(|groups| row(section, groups, &columns)).collect();
    let totals: Vec<CaseGroup> = section.block_kinds.iter().chain([&section.overall]).cloned().collect();
    rows.push(row(section, &totals, &columns));
    let metrics = METRICS.map(|metric| (metric.name(), metric.spec().label)).to_vec();
    Matrix { metrics, columns: columns.iter().map(|kind| kind.to_string()).collect(), rows }
}

fn row(section: &ReportSection, groups: &[CaseGroup], columns: &[BlockKind]) -> MatrixRow {
    let scenario = groups.first().and_then(|group| group.scenario);
    let is_restraint = scenario.is_some_and(ScenarioGroup::is_empty);
    let kinds = columns.iter().copied().map(Some).chain([None]);
    let cells = kinds.map(|kind| {
        let group = groups.iter().find(|group| group.block_kind == kind);
        group.map_or_else(Vec::new, |group| variants(section, group, is_restraint))
    });
    let name = scenario.map_or_else(|| "all".to_owned(), |scenario| scenario.to_string());
    MatrixRow { name, is_restraint, cells: cells.collect() }
}

fn variants(section: &ReportSection, group: &CaseGroup, is_restraint: bool) -> Vec<CellVariant> {
    let variant = |metric: Metric| {
        let shown = if is_restraint { Metric::Restraint } else { metric };
        let lines = group.lines.iter().map(|line| {
            let cell = line.metrics.get(&shown);
            CellLine {
                engine: line.engine,
                share: scoreboard::share(cell),
                cases: format::cases(
                    cell.map_or(0, |cell| cell.cases),
                    line.is_from_other_tree(),
                    Alphabet::Unicode,
                ),
                heat: cell.and_then(heat),
                link: link(section, group, line.engine),
            }
        });
        CellVariant { metric: metric.name(), lines: lines.collect() }
    };
    METRICS.into_iter().map(variant).collect()
}

fn heat(cell: &MetricCell) -> Option<usize> {
    cell.value.map(|value| (value * STEPS).clamp(0.0, STEPS - 1.0) as usize)
}

/// Returns the filters of the case browser in the format of its links.
fn link(section: &ReportSection, group: &CaseGroup, engine: usize) -> String {
    let origin = match section.exposure {
        Exposure::None => section.origin.to_string(),
        exposure => format!("{}/{exposure}", section.origin),
    };
    let mut filters = vec![format!("origin={origin}"), format!("engine={engine}")];
    filters.extend(group.scenario.iter().map(|scenario| format!("scenario={scenario}")));
    filters.extend(group.block_kind.iter().map(|kind| format!("block_kind={kind}")));
    format!("#{}", filters.join("&"))
}
