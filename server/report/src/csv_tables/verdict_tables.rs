//! The tables that a run and a comparison of runs have in common: their verdicts, and the failures of their engines.

use scoring::compared_runs::SectionKey;
use scoring::run_summary::EngineFailures;
use scoring::verdict::{PairVerdict, Quality, Standing, right_over_time};
use scoring::{ComparedRuns, PairedDifference, Verdict};

use super::CsvTable;
use super::cells::{Row, ends, name_of, row, table};

/// Verdicts by section, and the names of the engines.
pub(super) struct VerdictTables<'a> {
    pub(super) verdicts: Vec<(SectionKey, &'a Verdict)>,
    pub(super) names: Vec<String>,
}

impl VerdictTables<'_> {
    pub(super) fn name(&self, engine: usize) -> String {
        self.names.get(engine).cloned().unwrap_or_default()
    }

    pub(super) fn standings(&self) -> CsvTable {
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
            "time_limit_ms",
            "is_on_front",
        ];
        let rows = self.verdicts.iter().flat_map(|(key, verdict)| {
            let row = move |(standing, rank): (&Standing, usize)| {
                let Quality { deadline, cases, num, den, value } = standing.quality;
                let latency = standing.latency;
                let mut row = section(*key);
                row.extend(row![rank, self.name(standing.engine), name_of(&verdict.metric)]);
                row.extend(row![deadline, cases, num, den, value]);
                row.extend(row![latency.map(|it| it.p50), latency.map(|it| it.p95)]);
                row.extend(row![standing.cost_per_thousand, standing.answers, standing.failed]);
                row.extend(row![standing.time_limit, standing.is_on_front]);
                row
            };
            verdict.standings.iter().zip(verdict.ranks()).map(row)
        });
        table("standings.csv", &header, rows)
    }

    pub(super) fn exact_within(&self) -> CsvTable {
        let header = ["origin", "exposure", "engine", "deadline_ms", "cases", "num", "den", "value"];
        let rows = self.verdicts.iter().flat_map(|(key, verdict)| {
            verdict.standings.iter().flat_map(move |standing| {
                standing.exact_within.iter().map(move |quality| {
                    let Quality { deadline, cases, num, den, value } = *quality;
                    let mut row = section(*key);
                    row.extend(row![self.name(standing.engine), deadline, cases, num, den, value]);
                    row
                })
            })
        });
        table("exact_within.csv", &header, rows)
    }

    pub(super) fn right_over_time(&self, runs: &ComparedRuns<'_>) -> CsvTable {
        let rows = self.verdicts.iter().flat_map(|(key, verdict)| {
            right_over_time(runs, *key, verdict).into_iter().flat_map(move |curve| {
                let engine = curve.engine;
                curve.points.into_iter().map(move |(ms, share)| {
                    let mut row = section(*key);
                    row.extend(row![self.name(engine), ms, share]);
                    row
                })
            })
        });
        table("right_over_time.csv", &["origin", "exposure", "engine", "ms", "share"], rows)
    }

    pub(super) fn pairs(&self) -> CsvTable {
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
            "power",
            "detectable",
            "needed_cases",
            "resolution",
            "more_cases",
            "margin",
            "is_not_inferior",
            "p_not_inferior",
            "is_equivalent",
            "p_equivalent",
        ];
        let rows = self.verdicts.iter().flat_map(|(key, verdict)| {
            let pairs = verdict.pairs.iter().chain(&verdict.copies);
            pairs.map(move |pair| self.pair(*key, verdict, pair))
        });
        table("pairs.csv", &header, rows)
    }

    fn pair(&self, key: SectionKey, verdict: &Verdict, pair: &PairVerdict) -> Row {
        let PairedDifference { value, interval, better, worse, .. } = pair.difference;
        let (low, high) = ends(interval);
        let (test, size, margin) = (pair.test, pair.sample_size, pair.margin);
        let mut row = section(key);
        row.extend(row![name_of(&verdict.metric), self.name(pair.engine), self.name(pair.baseline)]);
        row.extend(row![pair.cases, pair.files, value, low, high, better, worse, pair.ties]);
        row.extend(row![name_of(&pair.claim), test.map(|test| test.method.name())]);
        row.extend(row![test.map(|test| test.p), test.map(|test| test.corrected_p)]);
        row.extend(row![size.map(|size| size.power), size.map(|size| size.detectable)]);
        row.extend(row![size.and_then(|size| size.needed), size.and_then(|size| size.resolution)]);
        row.extend(row![size.and_then(|size| size.more_cases)]);
        row.extend(row![margin.map(|it| it.margin)]);
        row.extend(row![margin.map(|it| it.is_not_inferior), margin.map(|it| it.p_not_inferior)]);
        row.extend(row![margin.map(|it| it.is_equivalent), margin.map(|it| it.p_equivalent)]);
        row
    }

    pub(super) fn failures(&self, failures: &[EngineFailures]) -> CsvTable {
        let header = ["engine", "requests", "status", "reason", "count"];
        let rows = failures.iter().flat_map(|failures| {
            failures.reasons.iter().map(move |reason| {
                let text = reason.reason.as_deref();
                row![self.name(failures.engine), failures.requests, reason.status.name(), text, reason.count]
            })
        });
        table("failures.csv", &header, rows)
    }
}

/// Returns the cells that name a section.
pub(super) fn section(key: SectionKey) -> Row {
    row![key.origin.to_string(), key.exposure.to_string()]
}
