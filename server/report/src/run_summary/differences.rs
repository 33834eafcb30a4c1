//! Engines compared with the first one of a section, on the same cases.

use scoring::Observation;
use scoring::metric::{EDIT_SIMILARITY, EXACT_IN_TIME, EXACT_MATCH, RESTRAINT, TOKEN_EXACT};

use super::observations::{ENGINE, EXPOSURE, ORIGIN, is_from_other_tree};
use super::{EngineDifference, IntervalView, ReportSection};

/// The metrics of the scoreboard.
pub(super) const METRICS: [&str; 4] = [EXACT_MATCH, TOKEN_EXACT, EDIT_SIMILARITY, RESTRAINT];

/// Returns all differences with at least one case.
pub(super) fn differences(
    observations: &[Observation],
    section: &ReportSection,
    seed: u64,
) -> Vec<EngineDifference> {
    let mut engines = section.overall.lines.iter().map(|line| line.engine);
    let Some(baseline) = engines.next() else { return Vec::new() };
    let of_baseline = of_engine(observations, section, baseline);
    let mut differences = Vec::new();
    for engine in engines {
        let of_engine = of_engine(observations, section, engine);
        let of_other_tree = [&of_baseline, &of_engine].map(|answers| from_other_tree(answers));
        for metric in METRICS.into_iter().chain(section.has_late_answers().then_some(EXACT_IN_TIME)) {
            let compared = scoring::compare(&of_baseline, &of_engine, metric, seed);
            differences.push(EngineDifference {
                metric,
                baseline,
                engine,
                cases: compared.cases,
                better: compared.wins,
                worse: compared.losses,
                other_tree: scoring::compare(&of_other_tree[0], &of_other_tree[1], metric, seed).cases,
                value: compared.difference,
                interval: compared.interval.map(IntervalView::from),
            });
        }
    }
    differences.retain(|difference| difference.cases > 0);
    differences
}

/// Returns the answers to cases that were cut from another tree than the run's workspace.
pub(super) fn from_other_tree(answers: &[Observation]) -> Vec<Observation> {
    answers.iter().filter(|answer| is_from_other_tree(answer)).cloned().collect()
}

/// Returns the observations of one engine in a section.
pub(super) fn of_engine(
    observations: &[Observation],
    section: &ReportSection,
    engine: usize,
) -> Vec<Observation> {
    let engine = engine.to_string();
    let wanted =
        [(ORIGIN, section.origin.name()), (EXPOSURE, section.exposure.name()), (ENGINE, engine.as_str())];
    let is_wanted = |observation: &&Observation| {
        wanted.iter().all(|&(name, value)| observation.labels.get(name).is_some_and(|label| label == value))
    };
    observations.iter().filter(is_wanted).cloned().collect()
}
