//! Converts the rows of a run into observations with typed keys.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use cases::{
    BlockKind, Case, CrossFileContext, EngineIdentity, Exposure, JUDGE_TAG, OriginKind, Recorded, Scenario,
};
use serde::{Serialize, Serializer};

use super::outcome::{self, RequestOutcome};
use super::rows::{self, ScoreIndex};
use super::{RunRows, ScenarioGroup, with_copies};
use crate::Observation;

/// An answer with the keys of its rows.
#[derive(Clone, Debug)]
pub(super) struct RunObservation<'a> {
    pub(super) observation: Observation<'a>,
    pub(super) case: &'a Case,
    /// Index of the engine.
    pub(super) engine: usize,
    pub(super) group: ScenarioGroup,
    pub(super) is_from_other_tree: bool,
}

impl RunObservation<'_> {
    pub(super) fn origin(&self) -> (OriginKind, Exposure) {
        (self.case.origin.kind, self.case.origin.exposure)
    }

    pub(super) fn block_kind(&self) -> Option<BlockKind> {
        self.case.block_kind
    }
}

/// Observations of a run, and counts of rows that are not complete observations.
pub(super) struct RunObservations<'a> {
    pub(super) observations: Vec<RunObservation<'a>>,
    /// Reasons for the cases that count in no total.
    pub(super) left_out: HashMap<&'a str, ExclusionReason>,
    /// Engines that were the judge of a `cross_file` case.
    pub(super) judges: BTreeSet<usize>,
    /// Engines without copies: they got other context than all others.
    pub(super) without_copies: BTreeSet<usize>,
    /// Answers to cases that are not in the suite.
    pub(super) unknown_cases: usize,
    /// Answers without a row of scores.
    pub(super) unscored: usize,
    /// Answers from a cassette, with the times of the recording and without times.
    pub(super) recorded: [usize; 2],
    /// Cases to be weighted by the probability of their exposure.
    pub(super) weighted: usize,
}

/// Why answered cases count in no total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExclusionReason {
    /// The judge's answers decided the selection of holes.
    Judged,
    /// Other cases of the same hole count.
    OtherContext,
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExclusionReason::Judged => {
                "no random sample, so no rank: cases that the judge solves from the file alone were left out"
            }
            ExclusionReason::OtherContext => "the same holes with other context",
        })
    }
}

impl Serialize for ExclusionReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns one observation per answer.
pub(super) fn observe<'a>(report: &RunRows<'a>, engines: &[EngineIdentity]) -> RunObservations<'a> {
    let named = |case: &'a Case| (case.id.as_str(), (case, cluster(case)));
    let cases: HashMap<&str, (&Case, Arc<str>)> = report.cases.iter().map(named).collect();
    let scores = ScoreIndex::new(report);
    let weighted =
        report.cases.iter().filter(|case| case.origin.probability.is_some_and(|share| share < 1.0));
    let mut observed = RunObservations {
        observations: Vec::with_capacity(report.predictions.len()),
        left_out: left_out(report.cases),
        judges: judges(report, engines),
        without_copies: without_copies(report, engines).into_iter().map(|(engine, _)| engine).collect(),
        unknown_cases: 0,
        unscored: 0,
        recorded: [Recorded::Timed, Recorded::Untimed].map(|kind| {
            report.predictions.iter().filter(|prediction| prediction.recorded == Some(kind)).count()
        }),
        weighted: weighted.count(),
    };
    for prediction in report.predictions {
        let engine = rows::engine_index(engines, prediction);
        let Some(((case, cluster), engine)) = cases.get(prediction.case.as_str()).zip(engine) else {
            observed.unknown_cases += 1;
            continue;
        };
        let score = scores.get(prediction);
        observed.unscored += usize::from(score.is_none());
        let is_from_other_tree = rows::is_from_other_tree(report.run, case);
        observed.observations.push(RunObservation {
            observation: Observation {
                case: Cow::Borrowed(&case.id),
                cluster: Arc::clone(cluster),
                metrics: score.map_or_else(Cow::default, |score| Cow::Borrowed(&score.metrics)),
                outcome: Some(RequestOutcome::new(prediction, is_from_other_tree)),
                latency: outcome::latency(prediction),
            },
            case,
            engine,
            group: ScenarioGroup::of(case),
            is_from_other_tree,
        });
    }
    let same = same_without_copies(report, engines, &observed.observations);
    observed.observations.extend(same);
    observed
}

/// Returns the answers of engines without copies to the cases that have no copies: the answers of the same engine with all files.
fn same_without_copies<'a>(
    report: &RunRows<'a>,
    engines: &[EngineIdentity],
    observations: &[RunObservation<'a>],
) -> Vec<RunObservation<'a>> {
    let affected: HashSet<&str> = report.run.copies.iter().map(|copies| copies.case.as_str()).collect();
    let mut same = Vec::new();
    for (engine, base) in without_copies(report, engines) {
        let of = |engine: usize| observations.iter().filter(move |answer| answer.engine == engine);
        let asked: HashSet<&str> = of(engine).map(|answer| answer.case.id.as_str()).collect();
        same.extend(
            of(base)
                .filter(|answer| {
                    let id = answer.case.id.as_str();
                    !affected.contains(id) && !asked.contains(id)
                })
                .map(|answer| RunObservation { engine, ..answer.clone() }),
        );
    }
    same
}

/// Returns the engines without copies, each with its engine with all files.
fn without_copies(report: &RunRows<'_>, engines: &[EngineIdentity]) -> Vec<(usize, usize)> {
    (0..engines.len())
        .filter_map(|engine| Some((engine, with_copies(report.run, engines, engine)?)))
        .collect()
}

/// Returns the cases that count in no total, with the reason: in `cross_file`, all that a judge selected. If a suite has no other
/// cases, only the controls of context are left out.
pub(crate) fn left_out(cases: &[Case]) -> HashMap<&str, ExclusionReason> {
    let kind = |case: &Case| (case.origin.kind, case.origin.exposure);
    let others: HashSet<_> =
        cases.iter().filter(|case| case.scenario() != Scenario::CrossFile).map(kind).collect();
    let cross_file = || cases.iter().filter(|case| case.scenario() == Scenario::CrossFile);
    let is_retrieval = |case: &Case| case.task.cross_file_context() == Some(CrossFileContext::Retrieval);
    let retrieved = cross_file().filter(|case| is_retrieval(case));
    let holes: HashSet<&str> = retrieved.map(|case| case.hole.as_str()).collect();
    let reason = |case: &Case| {
        if is_judged(case) && others.contains(&kind(case)) {
            Some(ExclusionReason::Judged)
        } else {
            let is_control = !is_retrieval(case) && holes.contains(case.hole.as_str());
            is_control.then_some(ExclusionReason::OtherContext)
        }
    };
    cross_file().filter_map(|case| Some((case.id.as_str(), reason(case)?))).collect()
}

/// Whether a judge selected the case.
pub(super) fn is_judged(case: &Case) -> bool {
    case.tags.contains_key(JUDGE_TAG)
}

/// Returns the engines that a case names as its judge, and the same engines without copies.
fn judges(report: &RunRows<'_>, engines: &[EngineIdentity]) -> BTreeSet<usize> {
    let names: HashSet<&str> =
        report.cases.iter().filter_map(|case| case.tags.get(JUDGE_TAG)).map(String::as_str).collect();
    (0..engines.len())
        .filter(|engine| {
            let base = with_copies(report.run, engines, *engine).unwrap_or(*engine);
            engines.get(base).is_some_and(|engine| names.contains(engine.name.as_str()))
        })
        .collect()
}

/// Returns the name of the file that a case was cut from.
fn cluster(case: &Case) -> Arc<str> {
    let repository = case.origin.repository.as_deref().unwrap_or_default();
    format!("{repository}\n{}", case.path).into()
}
