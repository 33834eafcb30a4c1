//! The numbers of a run in the order of reports; also the schema of `--json`.
//!
//! Converts rows into `scoring`'s observations, and `scoring`'s tables into [`ReportSection`]s. It never computes a number.

mod contexts;
mod differences;
mod observations;
mod sections;

pub(crate) use observations::left_out;

use std::collections::{BTreeMap, HashSet};

use cases::{
    CrossFileContext, EngineConfig, EngineIdentity, Exposure, OriginKind, Prediction, Run, SchemaVersion,
};
use scoring::metric::{EXACT_IN_TIME, EXACT_MATCH};
use serde::Serialize;

use crate::{RunReport, format, run_rows};
use observations::RunObservations;

/// Names of shares of answers by status, which [`EngineLine::metrics`] contains besides the metrics of `scoring`.
pub(crate) const SILENT: &str = "silent";
/// See [`SILENT`].
pub(crate) const GATED: &str = "gated";
/// Timed out, cancelled or broken. See [`SILENT`].
pub(crate) const FAILED: &str = "failed";
/// Cut at the deadline, with any status. See [`SILENT`].
pub(crate) const LATE: &str = "late";

/// Cut from another tree than the run's workspace. See [`SILENT`].
pub(crate) const OTHER_TREE: &str = "other_tree";

/// Completion setting that hides near-copies of a case's file from the engine.
const HIDES_COPIES: &str = "hide_near_duplicates";
/// Suffix of an engine's name in a run without copies.
const NO_COPIES: &str = " no-copies";

/// Explains why an engine has two rows, and which cases they cover.
fn copies_note(report: &RunReport<'_>) -> String {
    format!(
        "The truths of {} of {} cases have copies in other files. In the rows \"no-copies\", engines answered those cases without these \
         files; their answers to all other cases are reused.",
        report.run.copies.len(),
        report.cases.len(),
    )
}

/// All numbers of a report about a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// Version of this schema.
    pub schema: SchemaVersion,
    /// The run.
    pub run: Run,
    /// The engines; [`EngineLine::engine`] counts from 0 in this list.
    pub engines: Vec<EngineIdentity>,
    /// One section per origin and exposure, the largest first: numbers of different origins are never pooled.
    pub sections: Vec<ReportSection>,
    /// Costs of the engines with prices; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<EngineCost>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

/// Cost of an engine's answers, in the currency of the prices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EngineCost {
    /// Index into [`RunSummary::engines`].
    pub engine: usize,
    /// Answers whose cost is known.
    pub answers: usize,
    /// Known answers whose tokens were estimated.
    pub estimated: usize,
    /// Answers whose cost is unknown, such as failures.
    pub unknown: usize,
    /// Total of the known costs.
    pub amount: f64,
    /// Cost of a thousand such answers; absent if no cost is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_thousand: Option<f64>,
    /// Answers to cases that were cut from another tree than the run's workspace.
    pub other_tree: usize,
}

impl RunSummary {
    /// Whether the engine runs a second time in the run, without near-copies of the case's file.
    pub(crate) fn is_without_copies(&self, engine: usize) -> bool {
        with_copies(&self.run, &self.engines, engine).is_some()
    }
}

/// Returns the engine with all files that belongs to an engine without near-copies of the case's file. They are matched by name:
/// different engines may have the same kind and model.
fn with_copies(run: &Run, engines: &[EngineIdentity], engine: usize) -> Option<usize> {
    let hides = |name: &str| {
        let config = run.engines.iter().find(|config| config.engine.name == name);
        config.and_then(|config| config.settings.get(HIDES_COPIES)).is_some_and(|hides| hides == "true")
    };
    let name = engines.get(engine)?.name.as_str();
    let base = name.strip_suffix(NO_COPIES).filter(|base| hides(name) && !hides(base))?;
    engines.iter().position(|other| other.name == base)
}

/// The numbers of the cases of one origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportSection {
    /// Origin of the cases.
    pub origin: OriginKind,
    /// Whether a suggestion was shown before the truth was written.
    pub exposure: Exposure,
    /// The cases of [`ReportSection::selection`].
    pub overall: CaseGroup,
    /// The cases of `overall`, `block_kinds`, `languages` and `differences`, and the cases left out of them.
    pub selection: Selection,
    /// Number of cases that count in no total: the sum of `left_out`.
    pub controls: usize,
    /// Answered cases, in totals or not, that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// By scenario (`block_kind` is absent) and by scenario and block kind, a total before its parts.
    pub scenarios: Vec<CaseGroup>,
    /// By block kind over all scenarios, without cases that count in no total.
    pub block_kinds: Vec<CaseGroup>,
    /// By language.
    pub languages: Vec<CaseGroup>,
    /// Every other engine compared with the first one, by metric.
    pub differences: Vec<EngineDifference>,
    /// Effect of context in `cross_file`.
    pub contexts: Vec<ContextEffect>,
}

impl ReportSection {
    /// Whether answers were cut at the deadline, so that exact match in time differs from exact match.
    pub(crate) fn has_late_answers(&self) -> bool {
        self.overall.lines.iter().any(EngineLine::has_late_answers)
    }

    /// Returns the number of cases and files of the engine with the most answers.
    pub(crate) fn size(&self) -> (usize, usize) {
        self.overall.lines.iter().map(|line| (line.cases, line.files)).max().unwrap_or_default()
    }
}

/// The answered cases that totals count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Selection {
    /// Number of cases.
    pub cases: usize,
    /// The same by scenario.
    pub scenarios: Vec<SelectedCases>,
    /// Answered cases that are left out of totals.
    pub left_out: Vec<ExcludedCases>,
}

/// Cases of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelectedCases {
    /// The scenario.
    pub scenario: String,
    /// Number of cases.
    pub cases: usize,
    /// Cases that a judge selected: cases that it solves from the file alone were left out.
    pub judged: usize,
}

/// Cases of one scenario that totals leave out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExcludedCases {
    /// The scenario.
    pub scenario: String,
    /// Number of cases.
    pub cases: usize,
    /// Reason for leaving them out.
    pub reason: &'static str,
}

/// One engine compared with another on the cases that both answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EngineDifference {
    /// Name of the metric.
    pub metric: &'static str,
    /// Index of the engine whose value is subtracted, in [`RunSummary::engines`].
    pub baseline: usize,
    /// Index of the engine whose value it is subtracted from.
    pub engine: usize,
    /// Cases that both answered.
    pub cases: usize,
    /// Cases in which `engine` is better.
    pub better: usize,
    /// Cases in which it is worse.
    pub worse: usize,
    /// Cases that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// `engine` minus `baseline`; absent with too few cases for a meaningful ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalView>,
}

/// One engine with context from other files compared with the same engine without, on the holes with answers for both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContextEffect {
    /// Index into [`RunSummary::engines`].
    pub engine: usize,
    /// The variant of `cross_file` that is compared with `in_file`.
    pub variant: CrossFileContext,
    /// Whether the language's rules resolve the names of the truths.
    pub is_resolved: bool,
    /// Whether the holes were selected against the engine: holes that it solves from the file alone are left out.
    pub is_selected_against: bool,
    /// Name of the metric.
    pub metric: &'static str,
    /// Number of holes with answers for both.
    pub holes: usize,
    /// Holes where context makes the answer better.
    pub better: usize,
    /// Holes where context makes the answer worse.
    pub worse: usize,
    /// Holes that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// The variant minus `in_file`; absent with too few holes for a meaningful ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalView>,
}

/// Results of all engines on the same cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseGroup {
    /// The scenario; absent for all. It ends in `/empty` if the truth is empty, and in `/empty/after_jump` if no other code can
    /// follow. For `cross_file` it ends in `/` and the variant, and then `/unresolved` for unresolved names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The block kind; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<String>,
    /// The language; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// One line per engine that answered any of the cases.
    pub lines: Vec<EngineLine>,
}

/// One engine's numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineLine {
    /// Index into [`RunSummary::engines`].
    pub engine: usize,
    /// Cases answered.
    pub cases: usize,
    /// Files they come from.
    pub files: usize,
    /// Whether the cases were selected against the engine, so that its numbers are no rank.
    pub is_selected_against: bool,
    /// Cells by the name of the metric, and the shares `silent`, `gated`, `failed`, `late` and `other_tree`, without those that
    /// apply to no case.
    pub metrics: BTreeMap<String, CellView>,
    /// Absent if there were no requests to the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyView>,
}

impl EngineLine {
    /// Whether answers were cut at the deadline.
    pub(crate) fn has_late_answers(&self) -> bool {
        self.metrics.get(LATE).is_some_and(|late| late.num > 0.0)
    }

    /// Whether cases were cut from another tree than the run's workspace.
    pub(crate) fn is_from_other_tree(&self) -> bool {
        self.metrics.get(OTHER_TREE).is_some_and(|other| other.num > 0.0)
    }
}

/// One metric over one group of cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellView {
    /// Cases that the metric applies to.
    pub cases: usize,
    /// Sum of the numerators, after averaging repetitions.
    pub num: f64,
    /// Sum of the denominators.
    pub den: f64,
    /// `num` / `den`; absent with too few cases for a meaningful ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalView>,
}

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntervalView {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// `cluster_bootstrap` over files, `exact` at the effective number of cases if few files are informative, or
    /// `student_t` for differences.
    pub method: &'static str,
}

/// Milliseconds until the answer was ready; a percentile that is a timeout is infinite, `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyView {
    /// Answers with a time, timeouts included.
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

/// Groups and counts the rows of a run.
pub(crate) fn summarize(report: &RunReport<'_>) -> RunSummary {
    let engines = run_rows::engines(report);
    let observed = observations::observe(report, &engines);
    let notes = report.notes.iter().cloned().chain(remarks(&observed)).collect();
    let mut summary = RunSummary {
        schema: SchemaVersion::CURRENT,
        run: report.run.clone(),
        sections: sections::sections(&observed, report.run.seed),
        costs: costs(report, &engines),
        engines,
        notes,
    };
    let late: Vec<String> =
        summary.sections.iter().flat_map(|section| late_notes(&summary, section)).collect();
    summary.notes.extend(late);
    if (0..summary.engines.len()).any(|engine| summary.is_without_copies(engine)) {
        summary.notes.push(copies_note(report));
    }
    summary
}

/// Returns a note for each engine with answers that were cut at the deadline.
fn late_notes(summary: &RunSummary, section: &ReportSection) -> Vec<String> {
    let note = |line: &EngineLine| {
        let of = |metric: &str| line.metrics.get(metric).map_or_else(String::new, format::share);
        format!(
            "{}: {} of {} were cut at the deadline and count as timeouts. Exact match: {} with the text written by then, {} in time.",
            summary.engines.get(line.engine).map_or("", |engine| &engine.name),
            format::status_count(line, LATE),
            format::count_of(line.cases, "answer"),
            of(EXACT_MATCH),
            of(EXACT_IN_TIME),
        )
    };
    section.overall.lines.iter().filter(|line| line.has_late_answers()).map(note).collect()
}

/// Returns a row for each engine with prices.
fn costs(report: &RunReport<'_>, engines: &[EngineIdentity]) -> Vec<EngineCost> {
    let has_price = |(_, name): &(usize, &EngineIdentity)| {
        let named = |config: &&EngineConfig| config.engine.name == name.name;
        report.run.engines.iter().find(named).is_some_and(|config| config.price.is_some())
    };
    let of_other_tree = report.cases.iter().filter(|case| run_rows::is_from_other_tree(report.run, case));
    let other_tree: HashSet<&str> = of_other_tree.map(|case| case.id.as_str()).collect();
    let cost = |(engine, name): (usize, &EngineIdentity)| {
        let own = || report.predictions.iter().filter(|row| row.engine.name == name.name);
        let costs = own().map(|row| row.cost.map(|cost| (cost.amount, cost.is_estimated)));
        let scoring::CostSummary { answers, estimated, unknown, amount, per_thousand } =
            scoring::summarize_costs(costs);
        let is_from_other_tree = |row: &&Prediction| other_tree.contains(row.case.as_str());
        let other_tree = own().filter(is_from_other_tree).count();
        EngineCost { engine, answers, estimated, unknown, amount, per_thousand, other_tree }
    };
    engines.iter().enumerate().filter(has_price).map(cost).collect()
}

/// Explains why `cross_file` has more rows than holes.
const CONTROLS_NOTE: &str = "cross_file tests each hole without context (in_file), with the context that retrieval finds (retrieval), and \
    with the context that it finds if it sees the truth (oracle).";

/// Explains the mark of `in_file` rows.
const JUDGE_NOTE: &str = "Selected against (*): cases that this engine solves from the file alone were left out of cross_file. Its in_file \
    rows are therefore no rank, and its gain by context is measured on cases that it had failed.";

/// Explains the times of answers from a cassette.
fn recorded_note([timed, untimed]: [usize; 2]) -> Option<String> {
    let of_recording = "their times are those of the recording";
    let unknown = "times are unknown and not counted";
    match (timed, untimed) {
        (0, 0) => None,
        (timed, 0) => Some(format!("{timed} answers come from a cassette; {of_recording}")),
        (0, untimed) => Some(format!("{untimed} answers come from a cassette; their {unknown}")),
        (timed, untimed) => Some(format!(
            "{} answers come from a cassette; {of_recording}, except {untimed} whose {unknown}",
            timed + untimed
        )),
    }
}

fn remarks(observed: &RunObservations) -> impl Iterator<Item = String> {
    let controls = (!observed.left_out.is_empty()).then(|| CONTROLS_NOTE.to_owned());
    let judges = (!observed.judges.is_empty()).then(|| JUDGE_NOTE.to_owned());
    let strangers = (observed.unknown_cases > 0).then(|| {
        format!("{} answers belong to no case of the suite and are left out", observed.unknown_cases)
    });
    let unscored = (observed.unscored > 0).then(|| {
        format!("{} answers have no scores; only their status and time are counted", observed.unscored)
    });
    let recorded = recorded_note(observed.recorded);
    let unweighted = (observed.weighted > 0).then(|| {
        format!(
            "{} live cases were left without a suggestion by chance; they are not weighted here",
            observed.weighted
        )
    });
    [strangers, unscored, recorded, unweighted, controls, judges].into_iter().flatten()
}
