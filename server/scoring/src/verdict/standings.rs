//! Quality, latency and cost of each engine, and the Pareto front.

use cases::Metric;

use super::{DEADLINES_MS, FrontProperties, Quality, Standing, VerdictSettings};
use crate::Counts;
use crate::compared_runs::{CaseSums, ComparedRuns, SectionKey, ValueTable};
use crate::metric_table::{MIN_CASES, latency_of};
use crate::run_summary::outcome;
use crate::summarize_costs;

/// The standings and the cases that all engines share.
pub(super) struct Standings {
    pub(super) standings: Vec<Standing>,
    pub(super) cases: usize,
    pub(super) files: usize,
    pub(super) without_code: usize,
    pub(super) is_on_shared_cases: bool,
    pub(super) front: FrontProperties,
}

/// Returns a standing for each engine, in the order of the ranking.
pub(super) fn standings(
    runs: &ComparedRuns<'_>,
    section: SectionKey,
    table: &ValueTable<'_>,
    ranking: &[usize],
    settings: &VerdictSettings,
) -> Standings {
    let shared = table.shared(ranking);
    let is_on_shared_cases = shared.len() >= MIN_CASES;
    let mut deadlines: Vec<Option<f64>> =
        DEADLINES_MS.into_iter().chain(settings.deadline).map(Some).collect();
    deadlines.sort_by(|left, right| left.unwrap_or(0.0).total_cmp(&right.unwrap_or(0.0)));
    deadlines.dedup();
    deadlines.push(None);
    let exact: Vec<(Option<f64>, ValueTable<'_>)> = deadlines
        .into_iter()
        .map(|deadline| (deadline, runs.values(section, Metric::ExactMatch, deadline)))
        .collect();
    let quality = |table: &ValueTable<'_>, engine: usize, deadline: Option<f64>| {
        let sums = if is_on_shared_cases {
            table.sums(engine, shared.iter().copied())
        } else {
            table.sums(engine, 0..table.len())
        };
        quality(sums, deadline)
    };
    let standing = |&engine: &usize| {
        let answers = || runs.answers(section, engine).map(|answer| answer.prediction);
        let costs = answers().map(|row| row.cost.map(|cost| (cost.amount, cost.is_estimated)));
        Standing {
            engine,
            quality: quality(table, engine, settings.deadline),
            exact_within: exact.iter().map(|(deadline, table)| quality(table, engine, *deadline)).collect(),
            latency: latency_of(answers().filter_map(outcome::latency).collect()),
            cost_per_thousand: summarize_costs(costs).per_thousand,
            answers: answers().count(),
            failed: answers().filter(|row| row.has_failed()).count(),
            time_limit: runs.contestants()[engine].time_limit,
            is_on_front: false,
        }
    };
    let mut standings: Vec<Standing> = ranking.iter().map(standing).collect();
    let front = mark_front(&mut standings, table.lower_is_better());
    let (cases, files, without_code) = (shared.len(), table.files(&shared), table.without_code(&shared));
    Standings { standings, cases, files, without_code, is_on_shared_cases, front }
}

fn quality(CaseSums { cases, counts }: CaseSums, deadline: Option<f64>) -> Quality {
    let value = counts.ratio().filter(|_| cases >= MIN_CASES);
    Quality { deadline, cases, num: counts.num, den: counts.den, value }
}

/// Marks the engines that no other one dominates, and returns the properties that all engines have besides quality.
fn mark_front(standings: &mut [Standing], lower_is_better: bool) -> FrontProperties {
    let front = FrontProperties {
        latency: standings.iter().all(|standing| standing.latency.is_some()),
        cost: standings.iter().all(|standing| standing.cost_per_thousand.is_some()),
    };
    // Lower is better in each; a property that is not weighed is equal for all.
    let properties = |standing: &Standing| {
        let quality = Counts { num: standing.quality.num, den: standing.quality.den }.ratio().unwrap_or(0.0);
        [
            if lower_is_better { quality } else { -quality },
            standing.latency.filter(|_| front.latency).map_or(0.0, |latency| latency.p50),
            standing.cost_per_thousand.filter(|_| front.cost).unwrap_or(0.0),
        ]
    };
    let all: Vec<[f64; 3]> = standings.iter().map(properties).collect();
    let dominates = |one: &[f64; 3], other: &[f64; 3]| {
        one.iter().zip(other).all(|(one, other)| one <= other) && one != other
    };
    for (standing, own) in standings.iter_mut().zip(&all) {
        standing.is_on_front = !all.iter().any(|other| dominates(other, own));
    }
    front
}
