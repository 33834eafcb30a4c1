//! The tables of a summary as CSV, for spreadsheets and data frames: one row per number, with all that identifies it.
//!
//! Numbers are not rounded. A text that a spreadsheet would run as a formula gets an apostrophe in front. docs/formats.md lists the
//! columns.

use scoring::run_summary::{
    CaseGroup, ContextEffect, EngineCost, EngineDifference, EngineLine, ReportSection,
};
use scoring::verdict::{PairVerdict, Quality, Standing};
use scoring::{Interval, MetricCell, PairedDifference, RunSummary};
use serde::Serialize;

/// Characters that start a formula in a spreadsheet, or that it drops before one.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvTable {
    /// Name of its file.
    pub file: &'static str,
    /// Its contents in UTF-8: a header, then the rows.
    pub text: String,
}

/// Returns the tables of a summary. Tables without rows have a header.
pub fn csv_tables(summary: &RunSummary) -> Vec<CsvTable> {
    let tables = Tables { summary };
    vec![
        tables.engines(),
        tables.standings(),
        tables.exact_within(),
        tables.pairs(),
        tables.metrics(),
        tables.latencies(),
        tables.differences(),
        tables.contexts(),
        tables.costs(),
        tables.failures(),
    ]
}

/// A cell.
enum Cell {
    Text(String),
    Number(f64),
    Count(usize),
    Flag(bool),
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::Count(count)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Cell {
        Cell::Flag(flag)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, T::into)
    }
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Cell::Text(text) if text.starts_with(FORMULA_STARTS) => format!("'{text}"),
            Cell::Text(text) => text.clone(),
            // The latency of a timeout.
            Cell::Number(number) if number.is_infinite() => "inf".to_owned(),
            Cell::Number(number) => number.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::Empty => String::new(),
        }
    }
}

type Row = Vec<Cell>;

/// Builds a row from values of different types.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$(Cell::from($value)),*] };
}

fn table(file: &'static str, header: &[&str], rows: impl Iterator<Item = Row>) -> CsvTable {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect("memory takes every byte");
    for row in rows {
        debug_assert_eq!(row.len(), header.len(), "{file}");
        writer.write_record(row.iter().map(Cell::text)).expect("rows have the length of the header");
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    CsvTable { file, text: String::from_utf8(bytes).expect("cells are UTF-8") }
}

struct Tables<'a> {
    summary: &'a RunSummary,
}

impl<'a> Tables<'a> {
    fn engines(&self) -> CsvTable {
        let header = ["engine", "kind", "model", "fingerprint", "without_copies_of"];
        let row = |(index, engine): (usize, &cases::EngineIdentity)| {
            let base = self.summary.with_copies(index).map(|base| self.name(base));
            row![
                engine.name.as_str(),
                engine.kind.as_str(),
                engine.model.as_str(),
                engine.fingerprint.as_str(),
                base
            ]
        };
        table("engines.csv", &header, self.summary.engines.iter().enumerate().map(row))
    }

    fn standings(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "rank",
            "engine",
            "metric",
            "deadline_ms",
            "cases",
            "num",
            "den",
            "value",
            "p50_ms",
            "p95_ms",
            "cost_per_thousand",
            "answers",
            "failed",
            "is_on_front",
        ];
        let rows = self.sections().flat_map(|section| {
            let ranks = section.verdict.ranks();
            let row = move |(standing, rank): (&Standing, usize)| {
                let Quality { deadline, cases, num, den, value } = standing.quality;
                let latency = standing.latency;
                let mut row = self.section(section);
                row.extend(row![rank, self.name(standing.engine), name_of(&section.verdict.metric)]);
                row.extend(row![deadline, cases, num, den, value]);
                row.extend(row![latency.map(|it| it.p50), latency.map(|it| it.p95)]);
                row.extend(row![
                    standing.cost_per_thousand,
                    standing.answers,
                    standing.failed,
                    standing.is_on_front
                ]);
                row
            };
            section.verdict.standings.iter().zip(ranks).map(row)
        });
        table("standings.csv", &header, rows)
    }

    fn exact_within(&self) -> CsvTable {
        let header = ["origin", "exposure", "engine", "deadline_ms", "cases", "num", "den", "value"];
        let rows = self.sections().flat_map(|section| {
            section.verdict.standings.iter().flat_map(move |standing| {
                standing.exact_within.iter().map(move |quality| {
                    let Quality { deadline, cases, num, den, value } = *quality;
                    let mut row = self.section(section);
                    row.extend(row![self.name(standing.engine), deadline, cases, num, den, value]);
                    row
                })
            })
        });
        table("exact_within.csv", &header, rows)
    }

    fn pairs(&self) -> CsvTable {
        let header = [
            "origin",
            "exposure",
            "metric",
            "engine",
            "baseline",
            "cases",
            "files",
            "difference",
            "low",
            "high",
            "better",
            "worse",
            "ties",
            "claim",
            "test",
            "p",
            "corrected_p",
            "needed_cases",
            "more_cases",
        ];
        let rows = self.sections().flat_map(|section| {
            let pairs = section.verdict.pairs.iter().chain(&section.verdict.copies);
            pairs.map(move |pair| self.pair(section, pair))
        });
        table("pairs.csv", &header, rows)
    }

    fn pair(&self, section: &ReportSection, pair: &PairVerdict) -> Row {
        let PairedDifference { value, interval, better, worse, .. } = pair.difference;
        let (low, high) = ends(interval);
        let size = pair.sample_size;
        let mut row = self.section(section);
        row.extend(row![name_of(&section.verdict.metric), self.name(pair.engine), self.name(pair.baseline)]);
        row.extend(row![
            pair.cases,
            pair.files,
            value,
            low,
            high,
            better,
            worse,
            pair.ties,
            name_of(&pair.claim)
        ]);
        row.extend(row![pair.test.map(|test| test.method.name())]);
        row.extend(row![pair.test.map(|test| test.p), pair.test.map(|test| test.corrected_p)]);
        row.extend(row![size.and_then(|size| size.needed), size.and_then(|size| size.more_cases)]);
        row
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
                let MetricCell { cases, num, den, value, interval, .. } = *cell;
                let (low, high) = ends(interval);
                let mut row = self.group(section, group);
                row.extend(row![self.name(line.engine), line.is_selected_against, name_of(metric)]);
                row.extend(row![cases, num, den, value, low, high]);
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
            row.extend(row![self.name(line.engine), latency.count, latency.timeouts]);
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
                let mut row = self.section(section);
                row.extend(row![name_of(&it.metric), self.name(it.engine), self.name(it.baseline), it.cases]);
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
                let mut row = self.section(section);
                row.extend(row![name_of(&it.metric), self.name(it.engine), it.variant.to_string()]);
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
                self.name(cost.engine),
                cost.answers,
                cost.estimated,
                cost.unknown,
                cost.amount,
                cost.per_thousand
            ]
        };
        table("costs.csv", &header, self.summary.costs.iter().map(row))
    }

    fn failures(&self) -> CsvTable {
        let header = ["engine", "requests", "status", "reason", "count"];
        let rows = self.summary.failures.iter().flat_map(|failures| {
            failures.reasons.iter().map(move |reason| {
                let text = reason.reason.as_deref();
                row![self.name(failures.engine), failures.requests, reason.status.name(), text, reason.count]
            })
        });
        table("failures.csv", &header, rows)
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

    fn section(&self, section: &ReportSection) -> Row {
        row![section.origin.to_string(), section.exposure.to_string()]
    }

    fn group(&self, section: &ReportSection, group: &CaseGroup) -> Row {
        let mut row = self.section(section);
        row.extend(row![
            group.scenario.map(|it| it.to_string()),
            group.block_kind.map(|it| it.to_string()),
            group.language.clone()
        ]);
        row
    }

    fn name(&self, engine: usize) -> String {
        self.summary.engines.get(engine).map_or_else(String::new, |engine| engine.name.clone())
    }
}

fn difference(difference: &PairedDifference) -> Row {
    let (low, high) = ends(difference.interval);
    row![difference.value, low, high, difference.better, difference.worse]
}

fn ends(interval: Option<Interval>) -> (Option<f64>, Option<f64>) {
    (interval.map(|it| it.low), interval.map(|it| it.high))
}

/// Returns the word of a value in files.
fn name_of(value: &impl Serialize) -> Cell {
    let word = serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned));
    Cell::from(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_texts_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(Cell::from(formula).text(), format!("'{formula}"));
        }
        assert_eq!(Cell::from(-0.25).text(), "-0.25");
        assert_eq!(Cell::from("a=b").text(), "a=b");
        assert_eq!(Cell::from(f64::INFINITY).text(), "inf");
        assert_eq!(Cell::from(None::<f64>).text(), "");
    }
}
