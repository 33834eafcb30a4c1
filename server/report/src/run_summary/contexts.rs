//! Effect of context: the variants of `cross_file` compared with `in_file`, on the same holes.

use cases::CrossFileContext;
use scoring::Observation;
use scoring::metric::RESTRAINT;

use super::differences::{METRICS, from_other_tree, of_engine};
use super::observations::{HOLE, RESOLVED, RunObservations, VARIANT};
use super::{ContextEffect, IntervalView, ReportSection};

/// Returns all effects with at least one hole: by engine, resolved names before the others, `retrieval` before `oracle`.
pub(super) fn contexts(observed: &RunObservations, section: &ReportSection, seed: u64) -> Vec<ContextEffect> {
    let mut effects = Vec::new();
    for engine in section.overall.lines.iter().map(|line| line.engine) {
        let answers = of_engine(&observed.observations, section, engine);
        for is_resolved in [true, false] {
            let in_file = by_hole(&answers, CrossFileContext::InFile, is_resolved);
            for variant in [CrossFileContext::Retrieval, CrossFileContext::Oracle] {
                let with_context = by_hole(&answers, variant, is_resolved);
                let of_other_tree = [&in_file, &with_context].map(|answers| from_other_tree(answers));
                for metric in METRICS.into_iter().filter(|&metric| metric != RESTRAINT) {
                    let compared = scoring::compare(&in_file, &with_context, metric, seed);
                    effects.push(ContextEffect {
                        engine,
                        variant,
                        is_resolved,
                        is_selected_against: observed.judges.contains(&engine),
                        metric,
                        holes: compared.cases,
                        better: compared.wins,
                        worse: compared.losses,
                        other_tree: scoring::compare(&of_other_tree[0], &of_other_tree[1], metric, seed)
                            .cases,
                        value: compared.difference,
                        interval: compared.interval.map(IntervalView::from),
                    });
                }
            }
        }
    }
    effects.retain(|effect| effect.holes > 0);
    effects
}

/// Returns the observations of one variant, named by hole instead of case to match those of another variant.
fn by_hole(answers: &[Observation], variant: CrossFileContext, is_resolved: bool) -> Vec<Observation> {
    let resolved = is_resolved.to_string();
    let label = |answer: &Observation, name: &str| answer.labels.get(name).cloned().unwrap_or_default();
    let is_wanted = |answer: &&Observation| {
        label(answer, VARIANT) == variant.name() && label(answer, RESOLVED) == resolved
    };
    let named = |answer: &Observation| Observation { case: label(answer, HOLE), ..answer.clone() };
    answers.iter().filter(is_wanted).map(named).collect()
}
