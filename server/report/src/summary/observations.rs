//! Rows of a run as `scoring`'s observations.

use std::collections::{BTreeSet, HashMap, HashSet};

use cases::{Case, EngineName, JUDGE_TAG, Prediction, Recorded, Scenario, Score, Status, Variant};
use scoring::{MetricValue, Metrics, Observation};

use super::{FAILED, GATED, LATE, SILENT};
use crate::RunReport;
use crate::rows::{self, Scores};

/// The dimensions of the tables.
pub(super) const ORIGIN: &str = "origin";
pub(super) const EXPOSURE: &str = "exposure";
pub(super) const ENGINE: &str = "engine";
pub(super) const SCENARIO: &str = "scenario";
pub(super) const BLOCK_KIND: &str = "block_kind";
pub(super) const LANGUAGE: &str = "language";
/// Of `cross_file`: what is asked with which context, and whether the name was resolved.
pub(super) const HOLE: &str = "hole";
pub(super) const VARIANT: &str = "variant";
pub(super) const RESOLVED: &str = "resolved";

/// Observations, and what could not become one as it should.
pub(super) struct Observed {
    pub(super) observations: Vec<Observation>,
    /// Cases that stand beside another one of the same hole, which alone counts in totals.
    pub(super) controls: HashSet<String>,
    /// Engines that were the judge of a `cross_file` case.
    pub(super) judges: BTreeSet<usize>,
    /// Answers to cases that the suite lacks.
    pub(super) strangers: usize,
    /// Answers without a row of scores.
    pub(super) unscored: usize,
    /// Answers that come from a cassette, with the times of the recording and without any.
    pub(super) recorded: [usize; 2],
    /// Cases that ask to be weighted by the probability of their exposure.
    pub(super) weighted: usize,
}

/// One observation per answer.
pub(super) fn observe(report: &RunReport<'_>, engines: &[EngineName]) -> Observed {
    let cases: HashMap<&str, &Case> = report.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let scores = Scores::of(report);
    let weighted =
        report.cases.iter().filter(|case| case.origin.probability.is_some_and(|share| share < 1.0));
    let mut observed = Observed {
        observations: Vec::new(),
        controls: controls(report.cases),
        judges: judges(report.cases, engines),
        strangers: 0,
        unscored: 0,
        recorded: [Recorded::Timed, Recorded::Untimed].map(|kind| {
            report.predictions.iter().filter(|prediction| prediction.recorded == Some(kind)).count()
        }),
        weighted: weighted.count(),
    };
    for prediction in report.predictions {
        let engine = rows::position(engines, prediction);
        let Some((case, engine)) = cases.get(prediction.case.as_str()).zip(engine) else {
            observed.strangers += 1;
            continue;
        };
        let score = scores.get(prediction);
        observed.unscored += usize::from(score.is_none());
        observed.observations.push(observation(case, prediction, score, engine));
    }
    observed
}

/// The variants of `cross_file` that show what retrieval adds, and what it could add, where the suite holds `retrieval` too.
fn controls(cases: &[Case]) -> HashSet<String> {
    let of_variant = |case: &&Case, wanted: &[Variant]| {
        case.scenario == Scenario::CrossFile && case.variant.is_some_and(|variant| wanted.contains(&variant))
    };
    let asked = cases.iter().filter(|case| of_variant(case, &[Variant::Retrieval]));
    let holes: HashSet<&str> = asked.map(|case| case.hole.as_str()).collect();
    let controls = cases.iter().filter(|case| of_variant(case, &[Variant::InFile, Variant::Oracle]));
    controls.filter(|case| holes.contains(case.hole.as_str())).map(|case| case.id.clone()).collect()
}

/// The engines that a case names as its judge, and those that run the same model.
fn judges(cases: &[Case], engines: &[EngineName]) -> BTreeSet<usize> {
    let names: HashSet<&str> =
        cases.iter().filter_map(|case| case.tags.get(JUDGE_TAG)).map(String::as_str).collect();
    let models: HashSet<(&str, &str)> = engines
        .iter()
        .filter(|engine| names.contains(engine.name.as_str()))
        .map(|engine| (engine.kind.as_str(), engine.model.as_str()))
        .collect();
    let judged = |engine: &EngineName| models.contains(&(engine.kind.as_str(), engine.model.as_str()));
    engines.iter().enumerate().filter(|(_, engine)| judged(engine)).map(|(index, _)| index).collect()
}

fn observation(case: &Case, prediction: &Prediction, score: Option<&Score>, engine: usize) -> Observation {
    let labels = [
        (ORIGIN, case.origin.kind.to_string()),
        (EXPOSURE, case.origin.exposure.to_string()),
        (ENGINE, engine.to_string()),
        (SCENARIO, rows::situation(case)),
        (BLOCK_KIND, case.block_kind.map(|kind| kind.to_string()).unwrap_or_default()),
        (LANGUAGE, case.language.clone()),
    ];
    let of_cross_file = (case.scenario == Scenario::CrossFile).then(|| {
        [
            (HOLE, case.hole.clone()),
            (VARIANT, case.variant.map(|variant| variant.to_string()).unwrap_or_default()),
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
        latency: rows::latency(prediction),
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
    scored.map(|(name, &metric)| (name.clone(), rows::value(metric))).chain(shares).collect()
}
