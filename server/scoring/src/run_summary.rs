//! All numbers of a run as data: sections of rows of cells, from which every output is laid out.
//!
//! Converts rows of files into observations, groups them by typed keys, and compares engines on the same cases. Knows no layout and
//! no text: remarks are values, too.

mod contexts;
mod cutoffs;
mod differences;
pub mod distributions;
mod failures;
mod notes;
pub(crate) mod observations;
pub(crate) mod outcome;
pub(crate) mod rows;
mod scenario_group;
mod sections;
mod test_results;

use std::collections::{BTreeMap, HashSet};

use cases::{
    BlockKind, Case, CrossFileContext, EngineIdentity, Exposure, Judgement, Metric, NO_COPIES_SUFFIX,
    OriginKind, Prediction, Run, Scenario, SchemaVersion, Score,
};
use serde::Serialize;

use test_results::test_summary;

use crate::PairedDifference;
use crate::compared_runs::ComparedRuns;
use crate::metric_table::{Latency, MetricCell};
use crate::verdict::{Verdict, VerdictError, VerdictSettings};

pub use failures::{EngineFailures, FREQUENT, FailedCase, FailureReason, PromptProblem, request_failures};
pub use notes::{RunNote, completeness_notes};
pub use observations::ExclusionReason;
pub use outcome::{AnswerClass, RequestOutcome, answer_class, latency};
pub use rows::ScoreIndex;
pub use scenario_group::{NameResolution, ScenarioGroup};
pub use test_results::{EngineTests, TestAgreement, TestSummary};

/// The rows of one run.
#[derive(Clone, Copy, Debug)]
pub struct RunRows<'a> {
    /// The run: its engines, settings and machine.
    pub run: &'a Run,
    /// The suite.
    pub cases: &'a [Case],
    /// The answers, of any of the cases; a run may be unfinished.
    pub predictions: &'a [Prediction],
    /// The metrics of the answers.
    pub scores: &'a [Score],
    /// The judgements of answers by tests, one for each judged answer.
    pub judgements: &'a [Judgement],
    /// Remarks that precede those of the summary, as from [`completeness_notes`].
    pub notes: &'a [RunNote],
}

impl RunRows<'_> {
    /// Groups and counts the rows, with the usual verdict: by exact match, however late. The run's seed drives the resampling of
    /// intervals.
    pub fn summary(&self) -> RunSummary {
        let question = VerdictSettings::new(self.run.seed);
        self.summary_with(&ComparedRuns::new(&[*self]), &question).expect("exact match ranks any engines")
    }

    /// Groups and counts the rows, with the verdict that answers `question`. Its engines are those of [`RunSummary::engines`]; `runs` are
    /// these rows alone.
    pub fn summary_with(
        &self,
        runs: &ComparedRuns<'_>,
        question: &VerdictSettings,
    ) -> Result<RunSummary, VerdictError> {
        let engines = rows::engines(self);
        let observed = observations::observe(self, &engines);
        let sections = sections::sections(self.run, &engines, &observed, |section| {
            crate::verdict(runs, section, question)
        })?;
        let mut summary = RunSummary {
            schema: SchemaVersion::CURRENT,
            run: self.run.clone(),
            sections,
            costs: costs(self, &engines),
            failures: request_failures(self),
            tests: test_summary(self.scores),
            engines,
            notes: self.notes.to_vec(),
        };
        summary.notes.extend(notes::notes(self, &observed, &summary));
        Ok(summary)
    }
}

/// Completion setting that hides near-copies of a case's file from the engine.
const HIDES_COPIES: &str = "hide_near_duplicates";

/// All numbers of a report about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Version of the schema in which it is written.
    pub schema: SchemaVersion,
    /// The run.
    pub run: Run,
    /// The engines; [`EngineLine::engine`] counts from 0 in this list.
    pub engines: Vec<EngineIdentity>,
    /// One section per origin and exposure, the largest first: numbers of different origins are never pooled.
    pub sections: Vec<ReportSection>,
    /// Costs of the engines with prices; left out if there are none.
    pub costs: Vec<EngineCost>,
    /// Failed requests of the engines that have any.
    pub failures: Vec<EngineFailures>,
    /// Results of unit tests; left out if none judged an answer.
    pub tests: Option<TestSummary>,
    /// Remarks for the reader.
    pub notes: Vec<RunNote>,
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
    pub fn is_without_copies(&self, engine: usize) -> bool {
        self.with_copies(engine).is_some()
    }

    /// Returns the same engine with all files, if near-copies of the case's file were hidden from this one.
    pub fn with_copies(&self, engine: usize) -> Option<usize> {
        with_copies(&self.run, &self.engines, engine)
    }
}

/// Returns the engine with all files that belongs to an engine without near-copies of the case's file. They are matched by name:
/// different engines may have the same kind and model.
pub(crate) fn with_copies(run: &Run, engines: &[EngineIdentity], engine: usize) -> Option<usize> {
    let hides = |name: &str| {
        let config = run.engines.iter().find(|config| config.engine.name == name);
        config.and_then(|config| config.settings.get(HIDES_COPIES)).is_some_and(|hides| hides == "true")
    };
    let name = engines.get(engine)?.name.as_str();
    let base = name.strip_suffix(NO_COPIES_SUFFIX).filter(|base| hides(name) && !hides(base))?;
    engines.iter().position(|other| other.name == base)
}

/// The numbers of the cases of one origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportSection {
    /// Origin of the cases.
    pub origin: OriginKind,
    /// Whether a suggestion was shown before the truth was written.
    pub exposure: Exposure,
    /// Which engines are better, on the cases of [`ReportSection::selection`].
    pub verdict: Verdict,
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
    /// Every other engine with all files compared with the first one, by metric.
    pub differences: Vec<EngineDifference>,
    /// Effect of context in `cross_file`.
    pub contexts: Vec<ContextEffect>,
    /// Cases from commits until and after the training cut-offs of engines; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cutoffs: Vec<CutoffSlice>,
}

impl ReportSection {
    /// Whether answers were cut at the deadline, so that exact match in time differs from exact match.
    pub fn has_late_answers(&self) -> bool {
        self.overall.lines.iter().any(EngineLine::has_late_answers)
    }

    /// Whether unit tests judged answers.
    pub fn has_tests(&self) -> bool {
        self.overall.lines.iter().any(|line| line.metrics.contains_key(&Metric::TestsPassed))
    }

    /// Returns the metrics of the scoreboard, in its order: unit tests where there are any, and exact match in time if there are late answers.
    pub fn headline_metrics(&self) -> Vec<Metric> {
        let [exact, others @ ..] = differences::METRICS;
        let in_time = self.has_late_answers().then_some(Metric::ExactInTime);
        let tests = self.has_tests().then_some(Metric::TestsPassed);
        tests.into_iter().chain([exact]).chain(in_time).chain(others).collect()
    }

    /// Returns the number of cases and files of the engine with the most answers.
    pub fn size(&self) -> (usize, usize) {
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
    pub scenario: Scenario,
    /// Number of cases.
    pub cases: usize,
    /// Cases that a judge selected: cases that it solves from the file alone were left out.
    pub judged: usize,
}

/// Cases of one scenario that totals leave out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExcludedCases {
    /// The scenario.
    pub scenario: Scenario,
    /// Number of cases.
    pub cases: usize,
    /// Reason for leaving them out.
    pub reason: ExclusionReason,
}

/// One engine compared with another on the cases that both answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EngineDifference {
    /// The metric.
    pub metric: Metric,
    /// Index of the engine whose value is subtracted, in [`RunSummary::engines`].
    pub baseline: usize,
    /// Index of the engine whose value it is subtracted from.
    pub engine: usize,
    /// Cases that both answered.
    pub cases: usize,
    /// `engine` minus `baseline`.
    #[serde(flatten)]
    pub difference: PairedDifference,
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
    /// The metric.
    pub metric: Metric,
    /// Number of holes with answers for both.
    pub holes: usize,
    /// The variant minus `in_file`; each hole is a case.
    #[serde(flatten)]
    pub difference: PairedDifference,
}

/// Cases from commits, divided at the end of the training data of some engines. These may have seen the cases until then; the other
/// engines show whether the later cases are simply harder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutoffSlice {
    /// Last day or month of the training data.
    pub cutoff: String,
    /// Engines with this cut-off, as indices into [`RunSummary::engines`].
    pub engines: Vec<usize>,
    /// The cases that were written until then.
    pub until: CaseGroup,
    /// The cases that were written later.
    pub after: CaseGroup,
}

/// Results of all engines on the same cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseGroup {
    /// The scenario; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<ScenarioGroup>,
    /// The block kind; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<BlockKind>,
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
    /// Cells by metric, those of outcomes included, without metrics that apply to no case.
    pub metrics: BTreeMap<Metric, MetricCell>,
    /// Absent if there were no requests to the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

impl EngineLine {
    /// Whether answers were cut at the deadline.
    pub fn has_late_answers(&self) -> bool {
        self.metrics.get(&Metric::Late).is_some_and(|late| late.num > 0.0)
    }

    /// Whether cases were cut from another tree than the run's workspace.
    pub fn is_from_other_tree(&self) -> bool {
        self.metrics.get(&Metric::OtherTree).is_some_and(|other| other.num > 0.0)
    }
}

/// Returns a row for each engine with prices.
fn costs(rows: &RunRows<'_>, engines: &[EngineIdentity]) -> Vec<EngineCost> {
    let of_other_tree = rows.cases.iter().filter(|case| rows::is_from_other_tree(rows.run, case));
    let other_tree: HashSet<&str> = of_other_tree.map(|case| case.id.as_str()).collect();
    let cost = |(engine, name): (usize, &EngineIdentity)| {
        // Reused answers cost nothing.
        let is_own = |row: &&Prediction| row.engine.name == name.name && !row.reused;
        let own = || rows.predictions.iter().filter(is_own);
        let costs = own().map(|row| row.cost.map(|cost| (cost.amount, cost.is_estimated)));
        let crate::CostSummary { answers, estimated, unknown, amount, per_thousand } =
            crate::summarize_costs(costs);
        let other_tree = own().filter(|row| other_tree.contains(row.case.as_str())).count();
        EngineCost { engine, answers, estimated, unknown, amount, per_thousand, other_tree }
    };
    engines
        .iter()
        .enumerate()
        .filter(|(_, name)| {
            rows.run
                .engines
                .iter()
                .find(|config| config.engine.name == name.name)
                .is_some_and(|config| config.price.is_some())
        })
        .map(cost)
        .collect()
}
