//! Effect of context: the variants of `cross_file` compared with `in_file`, on the same holes.

use std::borrow::Cow;

use cases::{CrossFileContext, Metric};

use super::differences::METRICS;
use super::observations::{RunObservation, RunObservations};
use super::{ContextEffect, NameResolution, ReportSection, ScenarioGroup};
use crate::{Observation, PairedDifference, compare};

/// Returns all effects with at least one hole: by engine, resolved names before the others, `retrieval` before `oracle`.
pub(super) fn contexts(
    observed: &RunObservations<'_>,
    answers: &[&RunObservation<'_>],
    section: &ReportSection,
    seed: u64,
) -> Vec<ContextEffect> {
    let mut effects = Vec::new();
    for engine in section.overall.lines.iter().map(|line| line.engine) {
        for resolution in [NameResolution::Resolved, NameResolution::Unresolved] {
            let of =
                |context| HoleAnswers::new(answers, engine, ScenarioGroup::CrossFile(resolution, context));
            let in_file = of(CrossFileContext::InFile);
            for variant in [CrossFileContext::Retrieval, CrossFileContext::Oracle] {
                let with_context = of(variant);
                for metric in METRICS.into_iter().filter(|&metric| metric != Metric::Restraint) {
                    let compared = compare(&in_file.all, &with_context.all, metric, seed);
                    let other_tree =
                        compare(&in_file.other_tree, &with_context.other_tree, metric, seed).cases;
                    effects.push(ContextEffect {
                        engine,
                        variant,
                        is_resolved: resolution == NameResolution::Resolved,
                        is_selected_against: observed.judges.contains(&engine),
                        metric,
                        holes: compared.cases,
                        difference: PairedDifference::new(&compared, other_tree),
                    });
                }
            }
        }
    }
    effects.retain(|effect| effect.holes > 0);
    effects
}

/// The answers of one engine to the cases of one group, named by hole instead of case to match those of another group.
struct HoleAnswers<'a> {
    all: Vec<Observation<'a>>,
    /// Those to cases that were cut from another tree than the run's workspace.
    other_tree: Vec<Observation<'a>>,
}

impl<'a> HoleAnswers<'a> {
    fn new(answers: &[&RunObservation<'a>], engine: usize, group: ScenarioGroup) -> HoleAnswers<'a> {
        let own = || answers.iter().filter(|answer| answer.engine == engine && answer.group == group);
        let named = |answer: &&RunObservation<'a>| Observation {
            case: Cow::Borrowed(&answer.case.hole),
            ..answer.observation.clone()
        };
        HoleAnswers {
            all: own().map(named).collect(),
            other_tree: own().filter(|answer| answer.is_from_other_tree).map(named).collect(),
        }
    }
}
