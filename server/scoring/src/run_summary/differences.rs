//! Engines compared with the first one of a section, on the same cases.

use cases::Metric;

use super::observations::{RunObservation, RunObservations};
use super::{EngineDifference, ReportSection};
use crate::{Observation, PairedDifference, compare};

/// The metrics of the scoreboard.
pub(super) const METRICS: [Metric; 4] =
    [Metric::ExactMatch, Metric::TokenExact, Metric::EditSimilarity, Metric::Restraint];

/// Returns all differences with at least one case, over the answers that count in totals. Engines without copies are left out: they
/// are compared with the same engines with all files only, by the verdict.
pub(super) fn differences(
    observed: &RunObservations<'_>,
    counted: &[&RunObservation<'_>],
    section: &ReportSection,
    seed: u64,
) -> Vec<EngineDifference> {
    let engines = section.overall.lines.iter().map(|line| line.engine);
    let mut engines = engines.filter(|engine| !observed.without_copies.contains(engine));
    let Some(baseline) = engines.next() else { return Vec::new() };
    let of_baseline = AnswersOfEngine::new(counted, baseline);
    let metrics = || METRICS.into_iter().chain(section.has_late_answers().then_some(Metric::ExactInTime));
    let mut differences = Vec::new();
    for engine in engines {
        let of_engine = AnswersOfEngine::new(counted, engine);
        for metric in metrics() {
            let compared =
                compare(of_baseline.all.iter().copied(), of_engine.all.iter().copied(), metric, seed);
            let other_tree = of_baseline.other_tree_cases(&of_engine, metric, seed);
            let difference = PairedDifference::new(&compared, other_tree);
            differences.push(EngineDifference {
                metric,
                baseline,
                engine,
                cases: compared.cases,
                difference,
            });
        }
    }
    differences.retain(|difference| difference.cases > 0);
    differences
}

/// The answers of one engine.
struct AnswersOfEngine<'a> {
    all: Vec<&'a Observation<'a>>,
    /// Those to cases that were cut from another tree than the run's workspace.
    other_tree: Vec<&'a Observation<'a>>,
}

impl<'a> AnswersOfEngine<'a> {
    fn new(answers: &[&'a RunObservation<'_>], engine: usize) -> AnswersOfEngine<'a> {
        let own = || answers.iter().filter(|answer| answer.engine == engine);
        let other_tree = own().filter(|answer| answer.is_from_other_tree);
        AnswersOfEngine {
            all: own().map(|answer| &answer.observation).collect(),
            other_tree: other_tree.map(|answer| &answer.observation).collect(),
        }
    }

    /// Counts the cases of both that were cut from another tree.
    fn other_tree_cases(&self, other: &AnswersOfEngine<'_>, metric: Metric, seed: u64) -> usize {
        compare(self.other_tree.iter().copied(), other.other_tree.iter().copied(), metric, seed).cases
    }
}
