//! The share of cases that an engine completed exactly within each time.

use std::collections::{BTreeMap, HashSet};

use cases::Metric;
use serde::Serialize;

use super::{DEADLINES_MS, Verdict};
use crate::Counts;
use crate::compared_runs::{ComparedRuns, SectionKey};
use crate::run_summary::outcome::{finished_within, latency};

/// Points of a curve per factor of ten.
const POINTS_PER_DECADE: f64 = 20.0;
/// First point of a curve: readers notice no difference below it.
const SHORTEST_MS: f64 = 1.0;

/// Right answers of one engine by time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RightOverTime {
    /// The engine.
    pub engine: usize,
    /// Milliseconds, and the share of the cases with an exact answer by then; from 1 ms to the slowest right answer of any engine.
    pub points: Vec<(f64, f64)>,
}

/// Returns a curve for each ranked engine with timed answers, on the cases of the standings: at a deadline of
/// [`Standing::exact_within`](super::Standing::exact_within) both are equal.
pub fn right_over_time(
    runs: &ComparedRuns<'_>,
    section: SectionKey,
    verdict: &Verdict,
) -> Vec<RightOverTime> {
    let ranking: Vec<usize> = verdict.standings.iter().map(|standing| standing.engine).collect();
    let table = runs.values(section, verdict.metric, verdict.deadline);
    let shared: Option<HashSet<usize>> =
        verdict.is_on_shared_cases.then(|| table.shared(&ranking).into_iter().collect());
    let engines: Vec<(usize, RightAnswers)> = ranking
        .iter()
        .map(|&engine| {
            (
                engine,
                right_answers(runs, section, engine, |case| {
                    shared.as_ref().is_none_or(|shared| shared.contains(&case))
                }),
            )
        })
        .collect();
    let longest =
        engines.iter().flat_map(|(_, right)| &right.times).map(|(ms, _)| *ms).fold(SHORTEST_MS, f64::max);
    let times = grid(longest);
    let timed = engines.into_iter().filter(|(_, right)| right.cases > 0);
    timed.map(|(engine, right)| RightOverTime { engine, points: right.at(&times) }).collect()
}

/// Returns the times of the points, the last one at least `longest`.
fn grid(longest: f64) -> Vec<f64> {
    let steps = (longest.log10() * POINTS_PER_DECADE).ceil().max(1.0) as i32;
    let mut times: Vec<f64> =
        (0..=steps).map(|step| 10_f64.powf(f64::from(step) / POINTS_PER_DECADE)).collect();
    times.extend(DEADLINES_MS.into_iter().filter(|deadline| *deadline < longest));
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Right answers of one engine.
struct RightAnswers {
    /// Number of cases with timed answers.
    cases: usize,
    /// Milliseconds and weight of each: repetitions of a case share a weight of 1. In the order of time.
    times: Vec<(f64, f64)>,
}

impl RightAnswers {
    fn at(&self, times: &[f64]) -> Vec<(f64, f64)> {
        let mut answers = self.times.iter().peekable();
        let mut right = 0.0;
        let mut point = |&ms: &f64| {
            while let Some((_, weight)) = answers.next_if(|(time, _)| *time <= ms) {
                right += weight;
            }
            (ms, right / self.cases as f64)
        };
        times.iter().map(&mut point).collect()
    }
}

fn right_answers(
    runs: &ComparedRuns<'_>,
    section: SectionKey,
    engine: usize,
    is_counted: impl Fn(usize) -> bool,
) -> RightAnswers {
    let mut by_case: BTreeMap<usize, Vec<Option<f64>>> = BTreeMap::new();
    for answer in runs.answers(section, engine).filter(|answer| is_counted(answer.case)) {
        let exact = runs.counts(answer, Metric::ExactMatch, None).and_then(Counts::ratio);
        // Answers from recordings without times have no place on the axis.
        let (Some(exact), Some(_)) = (exact, finished_within(answer.prediction, f64::MAX)) else { continue };
        // A request that a gate prevented took no time.
        let time = latency(answer.prediction).unwrap_or(0.0);
        let is_right = exact > 0.0 && time.is_finite() && !answer.prediction.has_failed();
        by_case.entry(answer.case).or_default().push(is_right.then_some(time));
    }
    let mut times: Vec<(f64, f64)> = by_case
        .values()
        .flat_map(|times| {
            let weight = 1.0 / times.len() as f64;
            times.iter().flatten().map(move |time| (*time, weight)).collect::<Vec<_>>()
        })
        .collect();
    times.sort_by(|left, right| left.0.total_cmp(&right.0));
    RightAnswers { cases: by_case.len(), times }
}
