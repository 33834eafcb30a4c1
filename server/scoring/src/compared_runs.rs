//! The answers of all engines of one or more runs, paired by case.
//!
//! Rows are keyed by engine, case and repetition. The id of a case is a hash of its question: the same case in two runs is the same
//! question, whichever engines were asked and whenever. So two engines of different runs are compared as two of the same run are, and
//! so is one engine on two days. Says nothing about who is better; that is [`mod@crate::verdict`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cases::{
    Case, Direction, EngineIdentity, Exposure, JUDGE_TAG, Metric, MetricSource, MetricUnit, Metrics,
    OriginKind, Prediction, Run,
};
use serde::Serialize;

use crate::Counts;
use crate::metric_table::MIN_CASES;
use crate::run_summary::observations::left_out;
use crate::run_summary::outcome::{RequestOutcome, finished_within};
use crate::run_summary::rows::{engine_index, engines, is_from_other_tree};
use crate::run_summary::{RunRows, ScoreIndex, with_copies};
use crate::statistics::paired_sample::{PairedCase, PairedSample};
use crate::{AnswerOutcome, CaseScorer, RightFiles, ScoringInput};

/// An engine of one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contestant {
    /// Index of the run.
    pub run: usize,
    /// The engine.
    pub engine: EngineIdentity,
    /// If near-copies of the case's file were hidden from it: the index of the same engine with all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_copies: Option<usize>,
    /// Time after which the run gave up a request to it, milliseconds; absent if the run does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

/// Cases of one origin; numbers of different origins are never pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SectionKey {
    /// Origin of the cases.
    pub origin: OriginKind,
    /// Whether a suggestion was shown before the truth was written.
    pub exposure: Exposure,
}

/// The scored answers of one or more runs.
pub struct ComparedRuns<'a> {
    contestants: Vec<Contestant>,
    cases: Vec<ComparedCase<'a>>,
    /// By contestant, in the order of rows.
    answers: Vec<Vec<ComparedAnswer<'a>>>,
}

/// A case of any of the runs.
struct ComparedCase<'a> {
    case: &'a Case,
    section: SectionKey,
    /// Number of its file, in the order of the files' names.
    file: usize,
    /// Whether totals leave it out in one of the runs.
    is_left_out: bool,
    /// Whether it was cut from another tree than the workspace of one of the runs.
    is_from_other_tree: bool,
    /// Name of the engine that selected it: it was kept because this engine does not solve it from the file alone.
    judge: Option<&'a str>,
}

/// An answer to a case.
pub(crate) struct ComparedAnswer<'a> {
    /// Index of the case.
    pub(crate) case: usize,
    pub(crate) prediction: &'a Prediction,
    /// The metrics of its text; `None` if it is not scored. Failures need no row of scores.
    metrics: Option<Cow<'a, Metrics>>,
}

impl<'a> ComparedRuns<'a> {
    /// Indexes the rows of the runs. Answers to cases that are not in their run's suite do not count.
    pub fn new(runs: &[RunRows<'a>]) -> ComparedRuns<'a> {
        let cases: BTreeMap<&str, &Case> =
            runs.iter().flat_map(|run| run.cases).map(|case| (case.id.as_str(), case)).collect();
        let numbers: HashMap<&str, usize> =
            cases.keys().enumerate().map(|(number, &id)| (id, number)).collect();
        let mut compared = ComparedRuns {
            contestants: Vec::new(),
            cases: compared_cases(runs, &cases),
            answers: Vec::new(),
        };
        for (index, run) in runs.iter().enumerate() {
            compared.add(index, run, &numbers);
        }
        compared
    }

    fn add(&mut self, index: usize, run: &RunRows<'a>, numbers: &HashMap<&str, usize>) {
        let engines = engines(run);
        let first = self.contestants.len();
        for (number, engine) in engines.iter().enumerate() {
            let with_copies = with_copies(run.run, &engines, number).map(|base| first + base);
            let time_limit = time_limit(run.run, engine);
            self.contestants.push(Contestant { run: index, engine: engine.clone(), with_copies, time_limit });
        }
        self.answers.resize_with(self.contestants.len(), Vec::new);
        let scores = ScoreIndex::new(run);
        let suite: HashSet<&str> = run.cases.iter().map(|case| case.id.as_str()).collect();
        for prediction in run.predictions.iter().filter(|row| suite.contains(row.case.as_str())) {
            let engine = engine_index(&engines, prediction);
            let Some((engine, &case)) = engine.zip(numbers.get(prediction.case.as_str())) else { continue };
            let metrics = match scores.get(prediction) {
                None if prediction.has_failed() => Some(Cow::Owned(failure_metrics(self.cases[case].case))),
                score => score.map(|score| Cow::Borrowed(&score.metrics)),
            };
            self.answers[first + engine].push(ComparedAnswer { case, prediction, metrics });
        }
    }

    /// Returns the engines: those of the first run, then those of the next one.
    pub fn contestants(&self) -> &[Contestant] {
        &self.contestants
    }

    /// Returns the sections with answered cases that count in totals, with their number, the largest first.
    pub fn sections(&self) -> Vec<(SectionKey, usize)> {
        let answered: BTreeSet<usize> = self.answers.iter().flatten().map(|answer| answer.case).collect();
        let mut sections: Vec<(SectionKey, usize)> = Vec::new();
        for case in answered.into_iter().map(|case| &self.cases[case]).filter(|case| !case.is_left_out) {
            match sections.iter_mut().find(|(section, _)| *section == case.section) {
                Some((_, cases)) => *cases += 1,
                None => sections.push((case.section, 1)),
            }
        }
        sections.sort_by_key(|(_, cases)| std::cmp::Reverse(*cases));
        sections
    }

    /// Whether cases of the section that count in totals were selected against the engine, so that its quality is no rank.
    pub(crate) fn is_selected_against(&self, section: SectionKey, engine: usize) -> bool {
        let name = self.contestants[engine].engine.name.as_str();
        let mut counted = self.cases.iter().filter(|case| case.section == section && !case.is_left_out);
        counted.any(|case| case.judge == Some(name))
    }

    /// Returns an engine's answers to the cases of a section that count in totals.
    pub(crate) fn answers(
        &self,
        section: SectionKey,
        engine: usize,
    ) -> impl Iterator<Item = &ComparedAnswer<'a>> {
        self.answers[engine].iter().filter(move |answer| {
            let case = &self.cases[answer.case];
            case.section == section && !case.is_left_out
        })
    }

    /// Returns the values that a [verdict](mod@crate::verdict) compares: by case, one per engine, averaged over repetitions. Cases
    /// that count in no total, or in which an engine has nothing to measure, have none.
    pub fn case_values(
        &self,
        section: SectionKey,
        metric: Metric,
        deadline: Option<f64>,
    ) -> HashMap<&'a str, Vec<Option<f64>>> {
        let values = self.values(section, metric, deadline).values;
        let of_case =
            |case: usize| values.iter().map(|of_engine| of_engine[case].and_then(Counts::ratio)).collect();
        let cases = self.cases.iter().enumerate().filter(|(_, case)| case.section == section);
        cases.map(|(number, case)| (case.case.id.as_str(), of_case(number))).collect()
    }

    /// Returns the case of an answer.
    pub(crate) fn case(&self, answer: &ComparedAnswer<'_>) -> &'a Case {
        self.cases[answer.case].case
    }

    /// Returns the values of a metric, where answers later than `deadline` milliseconds count as failures.
    pub(crate) fn values(
        &self,
        section: SectionKey,
        metric: Metric,
        deadline: Option<f64>,
    ) -> ValueTable<'_> {
        let of_engine = |engine: usize| {
            let mut sums = vec![(Counts::default(), 0_u32); self.cases.len()];
            for answer in self.answers(section, engine) {
                if let Some(counts) = self.counts(answer, metric, deadline) {
                    let (sum, repetitions) = &mut sums[answer.case];
                    *sum += counts;
                    *repetitions += 1;
                }
            }
            sums.into_iter().map(|(sum, n)| (n > 0).then(|| sum / f64::from(n))).collect()
        };
        let values = (0..self.contestants.len()).map(of_engine).collect();
        ValueTable { cases: &self.cases, values, direction: metric.spec().direction }
    }

    /// Returns the metric of an answer; `None` if it does not apply.
    pub(crate) fn counts(
        &self,
        answer: &ComparedAnswer<'_>,
        metric: Metric,
        deadline: Option<f64>,
    ) -> Option<Counts> {
        let is_in_time =
            deadline.map_or(Some(true), |deadline| finished_within(answer.prediction, deadline))?;
        let spec = metric.spec();
        let worst =
            |den: f64| Counts { num: if spec.direction == Direction::Lower { den } else { 0.0 }, den };
        let is_conditional = matches!(spec.unit, MetricUnit::WholeTruths | MetricUnit::RightSoFar);
        let counts = match spec.source {
            MetricSource::Answer => match answer.metrics.as_ref().and_then(|metrics| metrics.get(&metric)) {
                Some(&value) => Counts::from(value),
                // These metrics apply to complete answers only, but a failure is no excuse.
                None if is_conditional && answer.prediction.has_failed() => worst(1.0),
                None => return None,
            },
            MetricSource::Outcome => {
                let is_from_other_tree = self.cases[answer.case].is_from_other_tree;
                RequestOutcome::new(answer.prediction, is_from_other_tree).value(metric)?.into()
            }
            MetricSource::Context => return None,
        };
        Some(if is_in_time { counts } else { worst(counts.den) })
    }
}

fn compared_cases<'a>(runs: &[RunRows<'_>], cases: &BTreeMap<&str, &'a Case>) -> Vec<ComparedCase<'a>> {
    let left_out: HashSet<&str> = runs.iter().flat_map(|run| left_out(run.cases).into_keys()).collect();
    let mut other_tree: HashSet<&str> = HashSet::new();
    for run in runs {
        let cases = run.cases.iter().filter(|case| is_from_other_tree(run.run, case));
        other_tree.extend(cases.map(|case| case.id.as_str()));
    }
    let files: BTreeSet<(&str, &str)> = cases.values().map(|case| file(case)).collect();
    let files: HashMap<(&str, &str), usize> =
        files.into_iter().enumerate().map(|(number, file)| (file, number)).collect();
    let compared = |(id, &case): (&&str, &&'a Case)| ComparedCase {
        case,
        section: SectionKey { origin: case.origin.kind, exposure: case.origin.exposure },
        file: files[&file(case)],
        is_left_out: left_out.contains(id),
        is_from_other_tree: other_tree.contains(id),
        judge: case.tags.get(JUDGE_TAG).map(String::as_str),
    };
    cases.iter().map(compared).collect()
}

/// Returns the metrics of a failed request: a failure is the worst answer, scored or not.
fn failure_metrics(case: &Case) -> Metrics {
    let files = RightFiles::default();
    CaseScorer::new(ScoringInput::from(case), &files).score_response(AnswerOutcome::Failed)
}

/// Setting with the time limit of requests.
const TIME_LIMIT: &str = "deadline_ms";

/// Returns the time limit of requests to an engine in a run, milliseconds.
fn time_limit(run: &Run, engine: &EngineIdentity) -> Option<f64> {
    let config = run.engines.iter().find(|config| config.engine.name == engine.name)?;
    let limit: f64 = config.settings.get(TIME_LIMIT)?.parse().ok()?;
    (limit.is_finite() && limit > 0.0).then_some(limit)
}

/// Returns repository and path of a case's file.
fn file(case: &Case) -> (&str, &str) {
    (case.origin.repository.as_deref().unwrap_or_default(), &case.path)
}

/// The values of one metric, by engine and case.
pub(crate) struct ValueTable<'a> {
    cases: &'a [ComparedCase<'a>],
    /// By contestant and case, averaged over repetitions.
    values: Vec<Vec<Option<Counts>>>,
    direction: Direction,
}

/// Sums over cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CaseSums {
    pub(crate) cases: usize,
    pub(crate) counts: Counts,
}

impl ValueTable<'_> {
    /// Whether lower values are better.
    pub(crate) fn lower_is_better(&self) -> bool {
        self.direction == Direction::Lower
    }

    /// Returns the number of cases, of which engines need not have values.
    pub(crate) fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether the engine has a value for any case.
    pub(crate) fn has_values(&self, engine: usize) -> bool {
        self.values[engine].iter().any(Option::is_some)
    }

    /// Returns the sums of an engine over its cases that satisfy the predicate.
    pub(crate) fn sums_of(&self, engine: usize, contains: impl Fn(&Case) -> bool) -> CaseSums {
        self.sums(engine, (0..self.cases.len()).filter(|&case| contains(self.cases[case].case)))
    }

    /// Returns the cases of two engines with the value of each.
    pub(crate) fn paired_values(
        &self,
        engine: usize,
        baseline: usize,
    ) -> impl Iterator<Item = (&Case, f64, f64)> {
        let value = move |engine: usize, case: usize| self.values[engine][case]?.ratio();
        let paired =
            move |case: usize| Some((self.cases[case].case, value(engine, case)?, value(baseline, case)?));
        (0..self.cases.len()).filter_map(paired)
    }

    /// Returns the cases of two engines.
    pub(crate) fn sample(&self, engine: usize, baseline: usize) -> PairedSample {
        PairedSample::new(self.shared(&[engine, baseline]).into_iter().filter_map(|case| {
            let file = self.cases[case].file;
            Some(PairedCase {
                file,
                baseline: self.values[baseline][case]?,
                engine: self.values[engine][case]?,
            })
        }))
    }

    /// Returns by how much the first engine is better than the other on the cases of both; `None` with too few cases.
    pub(crate) fn better_by(&self, one: usize, other: usize) -> Option<f64> {
        let shared = self.shared(&[one, other]);
        let [one, other] = [one, other].map(|engine| self.sums(engine, shared.iter().copied()));
        let difference = one.counts.ratio()? - other.counts.ratio()?;
        let oriented = if self.lower_is_better() { -difference } else { difference };
        (shared.len() >= MIN_CASES).then_some(oriented)
    }

    /// Returns the cases in which each of the engines has something to measure.
    pub(crate) fn shared(&self, engines: &[usize]) -> Vec<usize> {
        let has = |engine: &usize, case: usize| self.values[*engine][case].is_some_and(|it| it.den != 0.0);
        (0..self.cases.len()).filter(|&case| engines.iter().all(|engine| has(engine, case))).collect()
    }

    /// Returns the number of files of the cases.
    pub(crate) fn files(&self, cases: &[usize]) -> usize {
        cases.iter().map(|&case| self.cases[case].file).collect::<BTreeSet<_>>().len()
    }

    /// Returns the number of the cases in which the right answer is nothing.
    pub(crate) fn without_code(&self, cases: &[usize]) -> usize {
        cases.iter().filter(|&&case| self.cases[case].case.truth.is_empty()).count()
    }

    /// Returns the number of the cases that were cut from another tree than the workspace of one of the runs.
    pub(crate) fn other_tree(&self, engine: usize, baseline: usize) -> usize {
        let shared = self.shared(&[engine, baseline]);
        shared.into_iter().filter(|&case| self.cases[case].is_from_other_tree).count()
    }

    /// Returns the sums of an engine over those of the cases that it has.
    pub(crate) fn sums(&self, engine: usize, cases: impl Iterator<Item = usize>) -> CaseSums {
        let values = cases.filter_map(|case| self.values[engine][case]).filter(|counts| counts.den != 0.0);
        values.fold(CaseSums::default(), |sum, counts| CaseSums {
            cases: sum.cases + 1,
            counts: sum.counts + counts,
        })
    }
}
