//! The tables of runs, comparisons and watched suites as CSV, for spreadsheets and data frames: one row per number, with all that
//! identifies it.
//!
//! Numbers are not rounded. docs/formats.md lists the columns.

mod cells;
mod verdict_tables;
mod watch_tables;

use benchmarks::BenchmarkTables;
use scoring::compared_runs::SectionKey;
use scoring::run_comparison::ComparedSection;
use scoring::run_summary::{
    CaseGroup, ContextEffect, CutoffSlice, EngineCost, EngineDifference, EngineLine, ReportSection,
};
use scoring::{ComparedRuns, MetricCell, PairedDifference, RunComparison, RunSummary};

use cells::{Row, ends, name_of, row, table};
use verdict_tables::{VerdictTables, section};
pub use watch_tables::watch_csv_tables;

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvTable {
    /// Name of its file.
    pub file: &'static str,
    /// Its contents in UTF-8: a header, then the rows.
    pub text: String,
}

/// Returns the tables of a run: of its summary, of its rows alone, `runs`, and of the public benchmarks that its cases come from. Tables
/// without rows have a header.
pub fn csv_tables(
    summary: &RunSummary,
    runs: &ComparedRuns<'_>,
    benchmarks: &[BenchmarkTables],
) -> Vec<CsvTable> {
    let verdicts = VerdictTables {
        verdicts: summary.sections.iter().map(|section| (key(section), &section.verdict)).collect(),
        names: summary.engines.iter().map(|engine| engine.name.clone()).collect(),
    };
    let tables = RunTables { summary, verdicts };
    vec![
        tables.engines(),
        tables.verdicts.standings(),
        tables.verdicts.exact_within(),
        tables.verdicts.right_over_time(runs),
        tables.verdicts.pairs(),
        tables.metrics(),
        tables.latencies(),
        tables.differences(),
        tables.contexts(),
        tables.cutoffs(),
        tables.costs(),
        tables.verdicts.failures(&summary.failures),
        benchmark_table(benchmarks),
    ]
}

/// Returns the tables of a comparison; `compared` are the rows of its runs.
pub fn comparison_csv_tables(comparison: &RunComparison, compared: &ComparedRuns<'_>) -> Vec<CsvTable> {
    let key = |section: &ComparedSection| SectionKey { origin: section.origin, exposure: section.exposure };
    let verdicts = VerdictTables {
        verdicts: comparison.sections.iter().map(|section| (key(section), &section.verdict)).collect(),
        names: comparison.engines.iter().map(|engine| engine.name.clone()).collect(),
    };
    vec![
        compared_run_table(comparison),
        compared_engine_table(comparison, compared, &verdicts),
        verdicts.standings(),
        verdicts.exact_within(),
        verdicts.right_over_time(compared),
        verdicts.pairs(),
        verdicts.failures(&comparison.failures),
    ]
}

fn compared_run_table(comparison: &RunComparison) -> CsvTable {
    let rows = comparison.runs.iter().map(|run| row![run.name.as_str(), run.cases, run.only_here]);
    table("runs.csv", &["run", "cases", "only_here"], rows)
}

fn compared_engine_table(
    comparison: &RunComparison,
    compared: &ComparedRuns<'_>,
    verdicts: &VerdictTables<'_>,
) -> CsvTable {
    let rows = comparison.engines.iter().zip(compared.contestants()).map(|(engine, contestant)| {
        let run = comparison.runs.get(engine.run).map(|run| run.name.as_str());
        let base = contestant.with_copies.map(|base| verdicts.name(base));
        let (name, own) = (engine.name.as_str(), &engine.engine);
        row![name, run, own.kind.as_str(), own.model.as_str(), own.fingerprint.as_str(), base]
    });
    table("engines.csv", &ENGINES, rows)
}

const ENGINES: [&str; 6] = ["engine", "run", "kind", "model", "fingerprint", "without_copies_of"];

/// Returns all tables of public benchmarks as one: a row per cell.
fn benchmark_table(benchmarks: &[BenchmarkTables]) -> CsvTable {
    let rows = benchmarks.iter().flat_map(|benchmark| {
        benchmark.tables.iter().flat_map(move |of| {
            of.rows.iter().flat_map(move |(name, values)| {
                of.columns.iter().zip(values).map(move |(column, value)| {
                    let rules = benchmark.rules.name();
                    row![benchmark.benchmark, of.name.as_str(), name.as_str(), column.as_str(), *value, rules]
                })
            })
        })
    });
    table("benchmarks.csv", &["benchmark", "table", "row", "column", "value", "rules"], rows)
}

/// The tables that only runs have.
struct RunTables<'a> {
    summary: &'a RunSummary,
    verdicts: VerdictTables<'a>,
}

impl<'a> RunTables<'a> {
    fn engines(&self) -> CsvTable {
        let row = |(index, engine): (usize, &cases::EngineIdentity)| {
            let base = self.summary.with_copies(index).map(|base| self.verdicts.name(base));
            let (name, run) = (engine.name.as_str(), self.summary.run.name.as_str());
            row![name, run, engine.kind.as_str(), engine.model.as_str(), engine.fingerprint.as_str(), base]
        };
        table("engines.csv", &ENGINES, self.summary.engines.iter().enumerate().map(row))
    }

    fn cutoffs(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "cutoff",
            "is_after",
            "engine",
            "has_cutoff",
            "metric",
            "cases",
            "num",
            "den",
            "value",
            "low",
            "high",
        ];
        let rows = self.sections().flat_map(|section| {
            section.cutoffs.iter().flat_map(move |slice: &CutoffSlice| {
                let sides = [(false, &slice.until), (true, &slice.after)];
                sides.into_iter().flat_map(move |(is_after, side)| {
                    side.lines.iter().flat_map(move |line| {
                        line.metrics.iter().map(move |(metric, cell)| {
                            let mut row = section_cells(section);
                            let has_cutoff = slice.engines.contains(&line.engine);
                            row.extend(row![slice.cutoff.as_str(), is_after]);
                            row.extend(row![self.verdicts.name(line.engine), has_cutoff, name_of(metric)]);
                            row.extend(metric_cells(cell));
                            row
                        })
                    })
                })
            })
        });
        table("cutoffs.csv", &header, rows)
    }

    fn metrics(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "scenario",
            "block_kind",
            "language",
            "engine",
            "is_selected_against",
            "metric",
            "cases",
            "num",
            "den",
            "value",
            "low",
            "high",
        ];
        let rows = self.lines().flat_map(|(section, group, line)| {
            line.metrics.iter().map(move |(metric, cell)| {
                let mut row = self.group(section, group);
                row.extend(row![self.verdicts.name(line.engine), line.is_selected_against, name_of(metric)]);
                row.extend(metric_cells(cell));
                row
            })
        });
        table("metrics.csv", &header, rows)
    }

    fn latencies(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "scenario",
            "block_kind",
            "language",
            "engine",
            "answers",
            "timeouts",
            "p50_ms",
            "p95_ms",
            "p99_ms",
        ];
        let rows = self.lines().filter_map(|(section, group, line)| {
            let latency = line.latency?;
            let mut row = self.group(section, group);
            row.extend(row![self.verdicts.name(line.engine), latency.count, latency.timeouts]);
            row.extend(row![latency.p50, latency.p95, latency.p99]);
            Some(row)
        });
        table("latencies.csv", &header, rows)
    }

    fn differences(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "metric",
            "engine",
            "baseline",
            "cases",
            "difference",
            "low",
            "high",
            "better",
            "worse",
        ];
        let rows = self.sections().flat_map(|section| {
            section.differences.iter().map(move |it: &EngineDifference| {
                let mut row = section_cells(section);
                row.extend(row![
                    name_of(&it.metric),
                    self.verdicts.name(it.engine),
                    self.verdicts.name(it.baseline),
                    it.cases
                ]);
                row.extend(difference(&it.difference));
                row
            })
        });
        table("differences.csv", &header, rows)
    }

    fn contexts(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "metric",
            "engine",
            "variant",
            "is_resolved",
            "is_selected_against",
            "holes",
            "difference",
            "low",
            "high",
            "better",
            "worse",
        ];
        let rows = self.sections().flat_map(|section| {
            section.contexts.iter().map(move |it: &ContextEffect| {
                let mut row = section_cells(section);
                row.extend(row![name_of(&it.metric), self.verdicts.name(it.engine), it.variant.to_string()]);
                row.extend(row![it.is_resolved, it.is_selected_against, it.holes]);
                row.extend(difference(&it.difference));
                row
            })
        });
        table("contexts.csv", &header, rows)
    }

    fn costs(&self) -> CsvTable {
        let header = ["engine", "answers", "estimated", "unknown", "amount", "per_thousand"];
        let row = |cost: &EngineCost| {
            row![
                self.verdicts.name(cost.engine),
                cost.answers,
                cost.estimated,
                cost.unknown,
                cost.amount,
                cost.per_thousand
            ]
        };
        table("costs.csv", &header, self.summary.costs.iter().map(row))
    }

    fn sections(&self) -> impl Iterator<Item = &'a ReportSection> {
        self.summary.sections.iter()
    }

    /// Returns the lines of all groups of cases: all cases of a section have neither scenario, block kind nor language.
    fn lines(&self) -> impl Iterator<Item = (&'a ReportSection, &'a CaseGroup, &'a EngineLine)> {
        self.sections().flat_map(|section| {
            let parts = section.scenarios.iter().chain(&section.block_kinds).chain(&section.languages);
            let groups = [&section.overall].into_iter().chain(parts);
            groups.flat_map(move |group| group.lines.iter().map(move |line| (section, group, line)))
        })
    }

    fn group(&self, section: &ReportSection, group: &CaseGroup) -> Row {
        let mut row = section_cells(section);
        row.extend(row![
            group.scenario.map(|it| it.to_string()),
            group.block_kind.map(|it| it.to_string()),
            group.language.clone()
        ]);
        row
    }
}

fn difference(difference: &PairedDifference) -> Row {
    let (low, high) = ends(difference.interval);
    row![difference.value, low, high, difference.better, difference.worse]
}

fn metric_cells(cell: &MetricCell) -> Row {
    let MetricCell { cases, num, den, value, interval, .. } = *cell;
    let (low, high) = ends(interval);
    row![cases, num, den, value, low, high]
}

fn key(section: &ReportSection) -> SectionKey {
    SectionKey { origin: section.origin, exposure: section.exposure }
}

fn section_cells(of: &ReportSection) -> Row {
    section(key(of))
}
