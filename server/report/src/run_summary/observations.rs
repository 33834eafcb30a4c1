//! Converts the rows of a run into `scoring`'s observations.

use std::collections::{BTreeSet, HashMap, HashSet};

use cases::{
    Case, CrossFileContext, EngineIdentity, JUDGE_TAG, Prediction, Recorded, Scenario, Score, Status,
};
use scoring::{MetricValue, Metrics, Observation};

use super::{FAILED, GATED, LATE, OTHER_TREE, SILENT, with_copies};
use crate::RunReport;
use crate::run_rows::{self, ScoreIndex};

/// The dimensions of the tables.
pub(super) const ORIGIN: &str = "origin";
pub(super) const EXPOSURE: &str = "exposure";
pub(super) const ENGINE: &str = "engine";
pub(super) const SCENARIO: &str = "scenario";
pub(super) const BLOCK_KIND: &str = "block_kind";
pub(super) const LANGUAGE: &str = "language";
/// For `cross_file`: the hole, its context, and whether the name is resolved.
pub(super) const HOLE: &str = "hole";
pub(super) const VARIANT: &str = "variant";
pub(super) const RESOLVED: &str = "resolved";

/// Observations of a run, and counts of rows that are not complete observations.
pub(super) struct RunObservations {
    pub(super) observations: Vec<Observation>,
    /// Reasons for the cases that count in no total.
    pub(super) left_out: HashMap<String, &'static str>,
    /// Cases that a judge selected.
    pub(super) judged: HashSet<String>,
    /// Engines that were the judge of a `cross_file` case.
    pub(super) judges: BTreeSet<usize>,
    /// Answers to cases that are not in the suite.
    pub(super) unknown_cases: usize,
    /// Answers without a row of scores.
    pub(super) unscored: usize,
    /// Answers from a cassette, with the times of the recording and without times.
    pub(super) recorded: [usize; 2],
    /// Cases to be weighted by the probability of their exposure.
    pub(super) weighted: usize,
}

/// Returns one observation per answer.
pub(super) fn observe(report: &RunReport<'_>, engines: &[EngineIdentity]) -> RunObservations {
    let cases: HashMap<&str, &Case> = report.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let scores = ScoreIndex::new(report);
    let weighted =
        report.cases.iter().filter(|case| case.origin.probability.is_some_and(|share| share < 1.0));
    let mut observed = RunObservations {
        observations: Vec::new(),
        left_out: left_out(report.cases),
        judges: judges(report, engines),
        judged: judged(report.cases),
        unknown_cases: 0,
        unscored: 0,
        recorded: [Recorded::Timed, Recorded::Untimed].map(|kind| {
            report.predictions.iter().filter(|prediction| prediction.recorded == Some(kind)).count()
        }),
        weighted: weighted.count(),
    };
    for prediction in report.predictions {
        let engine = run_rows::engine_index(engines, prediction);
        let Some((case, engine)) = cases.get(prediction.case.as_str()).zip(engine) else {
            observed.unknown_cases += 1;
            continue;
        };
        let score = scores.get(prediction);
        observed.unscored += usize::from(score.is_none());
        let mut observation = observation(case, prediction, score, engine);
        let is_from_other_tree = run_rows::is_from_other_tree(report.run, case);
        let share = MetricValue::Value(f64::from(is_from_other_tree));
        observation.metrics.insert(OTHER_TREE.to_owned(), share);
        observed.observations.push(observation);
    }
    let same = same_without_copies(report, engines, &observed.observations);
    observed.observations.extend(same);
    observed
}

/// Returns the answers of engines without copies to the cases that have no copies: the answers of the same engine with all files.
fn same_without_copies(
    report: &RunReport<'_>,
    engines: &[EngineIdentity],
    observations: &[Observation],
) -> Vec<Observation> {
    let affected: HashSet<&str> = report.run.copies.iter().map(|copies| copies.case.as_str()).collect();
    let mut same = Vec::new();
    for (engine, base) in without_copies(report, engines) {
        let (engine, base) = (engine.to_string(), base.to_string());
        let of = |engine: &str| {
            let engine = engine.to_owned();
            observations.iter().filter(move |answer| answer.labels.get(ENGINE) == Some(&engine))
        };
        let asked: HashSet<&str> = of(&engine).map(|answer| answer.case.as_str()).collect();
        let is_same = |answer: &&Observation| {
            !affected.contains(answer.case.as_str()) && !asked.contains(answer.case.as_str())
        };
        same.extend(of(&base).filter(is_same).map(|answer| {
            let mut labels = answer.labels.clone();
            labels.insert(ENGINE.to_owned(), engine.clone());
            Observation { labels, ..answer.clone() }
        }));
    }
    same
}

/// Returns the engines without copies, each with its engine with all files.
fn without_copies(report: &RunReport<'_>, engines: &[EngineIdentity]) -> Vec<(usize, usize)> {
    let pair = |engine| Some((engine, with_copies(report.run, engines, engine)?));
    (0..engines.len()).filter_map(pair).collect()
}

/// Reasons for cases that do not count: other cases of the same hole count, or the judge's answers decided the selection of
/// holes.
const OTHER_CONTEXT: &str = "the same holes with other context";
const JUDGED: &str =
    "no random sample, so no rank: cases that the judge solves from the file alone were left out";

/// Returns the cases that count in no total, with the reason: in `cross_file`, all that a judge selected. If a suite has no other
/// cases, only the controls of context are left out.
pub(crate) fn left_out(cases: &[Case]) -> HashMap<String, &'static str> {
    let kind = |case: &Case| (case.origin.kind, case.origin.exposure);
    let others: HashSet<_> =
        cases.iter().filter(|case| case.scenario() != Scenario::CrossFile).map(kind).collect();
    let cross_file = || cases.iter().filter(|case| case.scenario() == Scenario::CrossFile);
    let is_retrieval = |case: &Case| case.task.cross_file_context() == Some(CrossFileContext::Retrieval);
    let retrieved = cross_file().filter(|case| is_retrieval(case));
    let holes: HashSet<&str> = retrieved.map(|case| case.hole.as_str()).collect();
    let reason = |case: &Case| {
        if case.tags.contains_key(JUDGE_TAG) && others.contains(&kind(case)) {
            Some(JUDGED)
        } else {
            (!is_retrieval(case) && holes.contains(case.hole.as_str())).then_some(OTHER_CONTEXT)
        }
    };
    cross_file().filter_map(|case| Some((case.id.clone(), reason(case)?))).collect()
}

fn judged(cases: &[Case]) -> HashSet<String> {
    cases.iter().filter(|case| case.tags.contains_key(JUDGE_TAG)).map(|case| case.id.clone()).collect()
}

/// Returns the engines that a case names as its judge, and the same engines without copies.
fn judges(report: &RunReport<'_>, engines: &[EngineIdentity]) -> BTreeSet<usize> {
    let names: HashSet<&str> =
        report.cases.iter().filter_map(|case| case.tags.get(JUDGE_TAG)).map(String::as_str).collect();
    let is_judge = |engine: &usize| {
        let base = with_copies(report.run, engines, *engine).unwrap_or(*engine);
        engines.get(base).is_some_and(|engine| names.contains(engine.name.as_str()))
    };
    (0..engines.len()).filter(is_judge).collect()
}

fn observation(case: &Case, prediction: &Prediction, score: Option<&Score>, engine: usize) -> Observation {
    let labels = [
        (ORIGIN, case.origin.kind.to_string()),
        (EXPOSURE, case.origin.exposure.to_string()),
        (ENGINE, engine.to_string()),
        (SCENARIO, run_rows::scenario_key(case)),
        (BLOCK_KIND, case.block_kind.map(|kind| kind.to_string()).unwrap_or_default()),
        (LANGUAGE, case.language.clone()),
    ];
    let of_cross_file = (case.scenario() == Scenario::CrossFile).then(|| {
        [
            (HOLE, case.hole.clone()),
            (VARIANT, case.task.variant().unwrap_or_default().to_owned()),
            (RESOLVED, case.is_resolved().to_string()),
        ]
    });
    let labels = labels.into_iter().chain(of_cross_file.into_iter().flatten());
    let repository = case.origin.repository.as_deref().unwrap_or_default();
    Observation {
        case: case.id.clone(),
        cluster: format!("{repository}\n{}", case.path),
        labels: labels.map(|(name, value)| (name.to_owned(), value)).collect(),
        metrics: metrics(prediction, score),
        latency: run_rows::latency(prediction),
    }
}

fn metrics(prediction: &Prediction, score: Option<&Score>) -> Metrics {
    let status = prediction.status;
    let shares = [
        (SILENT, status == Status::Silent),
        (GATED, status == Status::Gated),
        (FAILED, prediction.has_failed()),
        (LATE, prediction.late),
    ];
    let shares =
        shares.into_iter().map(|(name, holds)| (name.to_owned(), MetricValue::Value(f64::from(holds))));
    let scored = score.map(|score| &score.metrics).into_iter().flatten();
    scored.map(|(name, &metric)| (name.clone(), run_rows::value(metric))).chain(shares).collect()
}

/// Whether an observation's case was cut from another tree than the run's workspace.
pub(super) fn is_from_other_tree(observation: &Observation) -> bool {
    observation.metrics.get(OTHER_TREE).is_some_and(|share| share.counts().num > 0.0)
}
