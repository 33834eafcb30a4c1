//! Groups the observations of a run into sections of rows.

use std::collections::{BTreeMap, BTreeSet};

use cases::{BlockKind, CrossFileContext, EngineIdentity, Exposure, OriginKind, Run, Scenario};

use super::observations::{RunObservation, RunObservations, is_judged};
use super::{
    CaseGroup, EngineLine, ExcludedCases, ExclusionReason, ReportSection, ScenarioGroup, SelectedCases,
    Selection, contexts, cutoffs, differences,
};
use crate::compared_runs::SectionKey;
use crate::verdict::{Verdict, VerdictError};
use crate::{TableRow, summarize};

/// The cases of a group: those with all of these properties.
type GroupKey = (Option<ScenarioGroup>, Option<BlockKind>, Option<String>);

/// Returns one section per origin and exposure with observations in totals, the largest first, each with its verdict.
pub(super) fn sections(
    run: &Run,
    engines: &[EngineIdentity],
    observed: &RunObservations<'_>,
    verdict: impl Fn(SectionKey) -> Result<Verdict, VerdictError>,
) -> Result<Vec<ReportSection>, VerdictError> {
    let mut sections = Vec::new();
    for &origin in OriginKind::ALL {
        for &exposure in Exposure::ALL {
            let answers: Vec<&RunObservation<'_>> =
                observed.observations.iter().filter(|answer| answer.origin() == (origin, exposure)).collect();
            let is_counted =
                |answer: &&RunObservation<'_>| !observed.left_out.contains_key(answer.case.id.as_str());
            let counted: Vec<&RunObservation<'_>> = answers.iter().copied().filter(is_counted).collect();
            if !counted.is_empty() {
                let key = SectionKey { origin, exposure };
                let mut section = section(observed, key, verdict(key)?, &answers, &counted, run.seed);
                section.cutoffs = cutoffs::cutoffs(run, engines, &counted, run.seed);
                sections.push(section);
            }
        }
    }
    sections.sort_by_key(|section| std::cmp::Reverse(section.size()));
    Ok(sections)
}

fn section(
    observed: &RunObservations<'_>,
    SectionKey { origin, exposure }: SectionKey,
    verdict: Verdict,
    answers: &[&RunObservation<'_>],
    counted: &[&RunObservation<'_>],
    seed: u64,
) -> ReportSection {
    let overall = single_group(counted, seed);
    let (selection, other_tree) = selection(observed, answers);
    let mut section = ReportSection {
        origin,
        exposure,
        verdict,
        overall,
        controls: selection.left_out.iter().map(|part| part.cases).sum(),
        selection,
        other_tree,
        scenarios: groups(answers, scenario_keys, seed),
        block_kinds: groups(counted, kind_keys, seed),
        languages: groups(counted, |answer| vec![(None, None, Some(answer.case.language.clone()))], seed),
        differences: Vec::new(),
        contexts: Vec::new(),
        cutoffs: Vec::new(),
    };
    section.differences = differences::differences(observed, counted, &section, seed);
    section.contexts = contexts::contexts(observed, answers, &section, seed);
    mark_judges(&mut section.scenarios, &observed.judges);
    section
}

/// Returns the rows of a case by scenario, and by scenario and block kind. A case without a block kind counts in its scenario's
/// total; a separate row would repeat it.
fn scenario_keys(answer: &RunObservation<'_>) -> Vec<GroupKey> {
    let total = (Some(answer.group), None, None);
    let of_kind = answer.block_kind().map(|kind| (Some(answer.group), Some(kind), None));
    [total].into_iter().chain(of_kind).collect()
}

fn kind_keys(answer: &RunObservation<'_>) -> Vec<GroupKey> {
    answer.block_kind().map(|kind| (None, Some(kind), None)).into_iter().collect()
}

/// Returns one group of all answers.
pub(super) fn single_group(answers: &[&RunObservation<'_>], seed: u64) -> CaseGroup {
    groups(answers, |_| vec![GroupKey::default()], seed).pop().unwrap_or_default()
}

/// Returns the groups in the order of their keys, a total before its parts, each with a line per engine.
fn groups(
    answers: &[&RunObservation<'_>],
    keys: impl Fn(&RunObservation<'_>) -> Vec<GroupKey>,
    seed: u64,
) -> Vec<CaseGroup> {
    let keyed = answers
        .iter()
        .flat_map(|answer| keys(answer).into_iter().map(|key| ((key, answer.engine), &answer.observation)));
    let mut groups: BTreeMap<GroupKey, Vec<EngineLine>> = BTreeMap::new();
    for ((key, engine), row) in summarize(keyed, seed) {
        groups.entry(key).or_default().push(line(engine, row));
    }
    let group =
        |((scenario, block_kind, language), lines)| CaseGroup { scenario, block_kind, language, lines };
    groups.into_iter().map(group).collect()
}

fn line(engine: usize, row: TableRow) -> EngineLine {
    let TableRow { cases, clusters: files, cells: metrics, latency } = row;
    EngineLine { engine, cases, files, is_selected_against: false, metrics, latency }
}

/// Returns the answered cases that totals count and leave out, and the number of all that were cut from another tree than the
/// run's workspace.
fn selection(observed: &RunObservations<'_>, answers: &[&RunObservation<'_>]) -> (Selection, usize) {
    let mut cases: BTreeMap<(Option<ExclusionReason>, Scenario), BTreeMap<&str, bool>> = BTreeMap::new();
    let mut other_tree: BTreeSet<&str> = BTreeSet::new();
    for answer in answers {
        let id = answer.case.id.as_str();
        other_tree.extend(answer.is_from_other_tree.then_some(id));
        let key = (observed.left_out.get(id).copied(), answer.group.scenario());
        cases.entry(key).or_default().insert(id, is_judged(answer.case));
    }
    let mut selection = Selection::default();
    for ((reason, scenario), found) in cases {
        let judged = found.values().filter(|is_judged| **is_judged).count();
        let cases = found.len();
        match reason {
            Some(reason) => selection.left_out.push(ExcludedCases { scenario, cases, reason }),
            None => {
                selection.cases += cases;
                selection.scenarios.push(SelectedCases { scenario, cases, judged });
            }
        }
    }
    (selection, other_tree.len())
}

/// Marks the rows of judges: cases that a judge solves from the file alone were left out, so that its own numbers are no rank.
fn mark_judges(scenarios: &mut [CaseGroup], judges: &BTreeSet<usize>) {
    for line in scenarios
        .iter_mut()
        .filter(|group| matches!(group.scenario, Some(ScenarioGroup::CrossFile(_, CrossFileContext::InFile))))
        .flat_map(|group| &mut group.lines)
    {
        line.is_selected_against = judges.contains(&line.engine);
    }
}
