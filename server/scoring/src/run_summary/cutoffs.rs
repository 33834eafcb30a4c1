//! Contamination: the cases from commits until and after the end of an engine's training data.

use std::collections::BTreeMap;

use cases::{Case, DATE_TAG, EngineIdentity, Run};

use super::CutoffSlice;
use super::observations::RunObservation;
use super::sections::single_group;

/// Returns a slice for each cut-off that an engine of the run has and whose cases are on both sides, the earliest first.
pub(super) fn cutoffs(
    run: &Run,
    engines: &[EngineIdentity],
    answers: &[&RunObservation<'_>],
    seed: u64,
) -> Vec<CutoffSlice> {
    let mut of_cutoffs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (engine, name) in engines.iter().enumerate() {
        let config = run.engines.iter().find(|config| config.engine.name == name.name);
        if let Some(cutoff) = config.and_then(|config| config.cutoff.as_deref()) {
            of_cutoffs.entry(cutoff).or_default().push(engine);
        }
    }
    let slice = |(cutoff, engines): (&str, Vec<usize>)| {
        let dated = answers.iter().filter_map(|answer| Some((is_after(answer.case, cutoff)?, *answer)));
        let (after, until): (Vec<_>, Vec<_>) = dated.partition(|(is_after, _)| *is_after);
        let group = |side: Vec<(bool, &RunObservation<'_>)>| {
            single_group(&side.into_iter().map(|(_, answer)| answer).collect::<Vec<_>>(), seed)
        };
        CutoffSlice { cutoff: cutoff.to_owned(), engines, until: group(until), after: group(after) }
    };
    let slices = of_cutoffs.into_iter().map(slice);
    slices.filter(|slice| !slice.until.lines.is_empty() && !slice.after.lines.is_empty()).collect()
}

/// Whether a case was written after a cut-off; `None` if it has no date. A month as a cut-off includes all of its days.
fn is_after(case: &Case, cutoff: &str) -> Option<bool> {
    let date = case.tags.get(DATE_TAG)?;
    Some(date.get(..cutoff.len())? > cutoff)
}
