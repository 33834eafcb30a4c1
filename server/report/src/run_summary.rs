//! The numbers of a run in the order in which reports show them; also the schema of `--json`.
//!
//! Turns rows into `scoring`'s observations and its tables into [`ReportSection`]s. Never computes a number itself.

mod contexts;
mod differences;
mod observations;
mod sections;

pub(crate) use observations::left_out;

use std::collections::{BTreeMap, HashSet};

use cases::{EngineConfig, EngineIdentity, Exposure, OriginKind, Prediction, Run, SchemaVersion, Variant};
use scoring::metric::{EXACT_IN_TIME, EXACT_MATCH};
use serde::Serialize;

use crate::{RunReport, format, run_rows};
use observations::RunObservations;

/// Shares of answers by status, beside the metrics of `scoring` in [`EngineLine::metrics`].
pub(crate) const SILENT: &str = "silent";
/// See [`SILENT`].
pub(crate) const GATED: &str = "gated";
/// Timed out, cancelled or broken. See [`SILENT`].
pub(crate) const FAILED: &str = "failed";
/// Cut at the deadline, whatever the status. See [`SILENT`].
pub(crate) const LATE: &str = "late";

/// Cut from another tree than the run's workspace. See [`SILENT`].
pub(crate) const OTHER_TREE: &str = "other_tree";

/// Setting of completion that keeps near-copies of a case's file from the engine.
const HIDES_COPIES: &str = "hide_near_duplicates";
/// What follows an engine's name where it was asked again without copies.
const NO_COPIES: &str = " no-copies";

/// Why an engine has two rows, and over which cases.
fn copies_note(report: &RunReport<'_>) -> String {
    format!(
        "The truths of {} of {} cases have copies in other files. In the rows \"no-copies\" engines were asked again without those files; \
         about all other cases their answer is the same and counts as it is.",
        report.run.copies.len(),
        report.cases.len(),
    )
}

/// Everything a report says about a run in numbers.
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
    /// What the engines that have a price cost; left out where none has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<EngineCost>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

/// What an engine's answers cost, in the currency of the prices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EngineCost {
    /// Index into [`RunSummary::engines`].
    pub engine: usize,
    /// Answers whose cost is known.
    pub answers: usize,
    /// Those of them whose tokens were estimated.
    pub estimated: usize,
    /// Answers whose cost is not known, such as failures.
    pub unknown: usize,
    /// What the known ones cost.
    pub amount: f64,
    /// What a thousand like them cost; absent where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_thousand: Option<f64>,
    /// Answers to cases that were cut from another tree than the run's workspace.
    pub other_tree: usize,
}

impl RunSummary {
    /// Whether an engine is one that was asked twice, and this time without near-copies of the case's file.
    pub(crate) fn is_without_copies(&self, engine: usize) -> bool {
        with_copies(&self.run, &self.engines, engine).is_some()
    }
}

/// The engine that was asked with all files, of one that was asked again without near-copies of the case's file. Their names tell:
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
    /// Where the cases come from.
    pub origin: OriginKind,
    /// Whether a suggestion was seen before the truth was written.
    pub exposure: Exposure,
    /// The cases of [`ReportSection::selection`].
    pub overall: CaseGroup,
    /// What `overall`, `block_kinds`, `languages` and `differences` are over, and what they leave out.
    pub selection: Selection,
    /// Cases that count in no total: the sum of what is left out.
    pub controls: usize,
    /// Answered cases, in totals or not, that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// By scenario (`block_kind` is absent) and by scenario and block kind, a total before its parts.
    pub scenarios: Vec<CaseGroup>,
    /// By block kind over all scenarios, without cases that count in no total.
    pub block_kinds: Vec<CaseGroup>,
    /// By language.
    pub languages: Vec<CaseGroup>,
    /// Every other engine against the first one, metric by metric.
    pub differences: Vec<EngineDifference>,
    /// What context adds in `cross_file`.
    pub contexts: Vec<ContextEffect>,
}

impl ReportSection {
    /// Whether answers were cut at the deadline, so that exact match in time is another number than exact match.
    pub(crate) fn has_late_answers(&self) -> bool {
        self.overall.lines.iter().any(EngineLine::has_late_answers)
    }

    /// Cases and files of the engine that answered most.
    pub(crate) fn size(&self) -> (usize, usize) {
        self.overall.lines.iter().map(|line| (line.cases, line.files)).max().unwrap_or_default()
    }
}

/// Which answered cases totals are over.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Selection {
    /// How many.
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
    /// How many.
    pub cases: usize,
    /// Those of them that a judge selected: what it answers from the file alone was left out.
    pub judged: usize,
}

/// Cases of one scenario that totals leave out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExcludedCases {
    /// The scenario.
    pub scenario: String,
    /// How many.
    pub cases: usize,
    /// Why.
    pub reason: &'static str,
}

/// One engine against another on the cases that both answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EngineDifference {
    /// Name of the metric.
    pub metric: &'static str,
    /// Index of the engine whose value is subtracted, into [`RunSummary::engines`].
    pub baseline: usize,
    /// Index of the engine that it is subtracted from.
    pub engine: usize,
    /// Cases that both answered.
    pub cases: usize,
    /// Cases in which `engine` is better.
    pub better: usize,
    /// Cases in which it is worse.
    pub worse: usize,
    /// Cases that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// `engine` minus `baseline`; absent with too few cases for a ratio to mean anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalView>,
}

/// One engine with context from other files against the same engine without any, on the holes where both were asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContextEffect {
    /// Index into [`RunSummary::engines`].
    pub engine: usize,
    /// The variant of `cross_file` that `in_file` is subtracted from.
    pub variant: Variant,
    /// Whether the names asked for are those that the language's rules resolve.
    pub is_resolved: bool,
    /// Whether the holes were selected against the engine: those that it answers from the file alone are left out.
    pub is_selected_against: bool,
    /// Name of the metric.
    pub metric: &'static str,
    /// Holes where both were answered.
    pub holes: usize,
    /// Holes in which context makes it better.
    pub better: usize,
    /// Holes in which context makes it worse.
    pub worse: usize,
    /// Holes that were cut from another tree than the run's workspace.
    pub other_tree: usize,
    /// The variant minus `in_file`; absent with too few holes for a ratio to mean anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// 95 % interval of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalView>,
}

/// The same cases asked of every engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseGroup {
    /// The scenario, with `/empty` where the right answer is nothing, `/empty/after_jump` where nothing else can follow, and of `cross_file` with `/` and the variant, and `/unresolved` where
    /// the name was found by itself; absent for all.
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
    /// Cells by the name of the metric, and the shares `silent`, `gated`, `failed`, `late` and `other_tree`; what applies to no case is absent.
    pub metrics: BTreeMap<String, CellView>,
    /// Absent when no engine was asked.
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
    /// Sum of the numerators, repetitions averaged first.
    pub num: f64,
    /// Sum of the denominators.
    pub den: f64,
    /// `num` / `den`; absent with too few cases for a ratio to mean anything.
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
    /// `cluster_bootstrap` over files; where few of these tell `clopper_pearson` at the effective number of cases; of differences
    /// `student_t`.
    pub method: &'static str,
}

/// Milliseconds until the answer was ready; a percentile that fell on a timeout is infinite, `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyView {
    /// Answers with a time, timeouts included.
    pub count: usize,
    /// How many timed out.
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

/// What each engine had of the answers that were cut at the deadline.
fn late_notes(summary: &RunSummary, section: &ReportSection) -> Vec<String> {
    let note = |line: &EngineLine| {
        let of = |metric: &str| line.metrics.get(metric).map_or_else(String::new, format::share);
        format!(
            "{}: {} of {} were cut at the deadline and count as timeouts. Exact match: {} with what there was by then, {} in time.",
            summary.engines.get(line.engine).map_or("", |engine| &engine.name),
            format::status_count(line, LATE),
            format::count_of(line.cases, "answer"),
            of(EXACT_MATCH),
            of(EXACT_IN_TIME),
        )
    };
    section.overall.lines.iter().filter(|line| line.has_late_answers()).map(note).collect()
}

/// A row for each engine that has a price.
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

/// Why `cross_file` has more rows than holes.
const CONTROLS_NOTE: &str = "cross_file asks at each hole without context (in_file), with what retrieval finds (retrieval), and with what \
    it finds when it sees the truth (oracle).";

/// Why a row of `in_file` is marked.
const JUDGE_NOTE: &str = "Selected against (*): what this engine answers from the file alone was left out of cross_file, so that its in_file \
    rows are no rank, and its gain by context is that on cases it had failed.";

/// What the times of answers from a cassette mean.
fn recorded_note([timed, untimed]: [usize; 2]) -> Option<String> {
    let of_recording = "their times are those of the recording";
    let unknown = "how long the engine took is not known and counts in no time";
    match (timed, untimed) {
        (0, 0) => None,
        (timed, 0) => Some(format!("{timed} answers come from a cassette; {of_recording}")),
        (0, untimed) => Some(format!("{untimed} answers come from a cassette; {unknown}")),
        (timed, untimed) => Some(format!(
            "{} answers come from a cassette; {of_recording}, but for {untimed} of which {unknown}",
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
