//! The verdict on the engines of one or more runs: which are better, which cannot be told apart, and how many cases would decide.
//!
//! ```text
//! runs --ComparedRuns::new--> answers by engine and case --verdict--> Verdict: standings, groups, pairs
//! ```
//!
//! Plain data for every output; knows no layout. The numbers that describe one engine are in [`metric_table`](crate::metric_table).
//!
//! # Pairs
//!
//! Engines are compared on the cases that both answered, whichever run asked them. The first test of a pair asks whether the engines
//! could have swapped their answers: to all cases of any file ([`TestMethod::SignFlip`]), or, if every case is from a file of its own
//! and is right or wrong, to any case ([`TestMethod::McNemar`]). Holm's correction covers all tested pairs. A difference is claimed
//! if the corrected p-value is at most [`ALPHA`] *and* the 95 % interval of the difference excludes 0. The test holds for any
//! correlation within files; the interval also holds for engines that are unequal in different files.
//!
//! An engine without copies ([`Contestant::with_copies`](crate::compared_runs::Contestant::with_copies)) got other context than all
//! others. It is compared with the same engine with all files only, in [`Verdict::copies`], which has a correction of its own.
//!
//! # Groups
//!
//! Engines are ordered by their mean difference from the others. Two neighbours are in different groups if *every* engine down to the
//! first is better than *every* engine from the second on, each by a claimed difference. So `a > b = c > d` claims that `a` is better
//! than `b`, `c` and `d`, and `d` worse than all: claims cannot contradict each other or form a circle. Within a group, engines that are
//! far apart may still differ (`a = b` and `b = c`, but not `a = c`): see [`Verdict::pairs`]. Equality is never claimed; see
//! [`MarginVerdict::is_equivalent`].
//!
//! # Failures and deadlines
//!
//! A failed request is a wrong answer in every metric. With a deadline, so is an answer that was ready later. Answers from recordings
//! without times do not count then.

mod groups;
mod pairs;
mod right_over_time;
mod sample_size;
mod standings;

use cases::{Direction, Metric, MetricSource};
use serde::{Serialize, Serializer};

use crate::PairedDifference;
use crate::compared_runs::{ComparedRuns, SectionKey};
use crate::metric_table::Latency;

pub use right_over_time::{RightOverTime, right_over_time};

/// Largest corrected p-value of a claim, and of each one-sided claim about a margin.
pub const ALPHA: f64 = 0.05;
/// Chance of a claim at which the number of cases is called enough.
pub const POWER: f64 = 0.8;
/// Deadlines in every standing, milliseconds: the pause of a typing developer, and the limit of patience.
pub const DEADLINES_MS: [f64; 2] = [300.0, 1_000.0];

/// The question of a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictSettings {
    /// The metric that decides.
    pub metric: Metric,
    /// Time within which an answer counts, milliseconds; `None` counts it however late.
    pub deadline: Option<f64>,
    /// Difference that does not matter, as a share (0.01 is one point); `None` asks no such question.
    pub margin: Option<f64>,
    /// Engine that every other one is compared with, an index into [`ComparedRuns::contestants`]; `None` compares all pairs.
    pub baseline: Option<usize>,
    /// Drives random flips.
    pub seed: u64,
}

impl VerdictSettings {
    /// Returns the settings of a report: exact match, however late, all pairs.
    pub fn new(seed: u64) -> VerdictSettings {
        VerdictSettings { metric: Metric::ExactMatch, deadline: None, margin: None, baseline: None, seed }
    }

    /// Returns an error if a metric cannot rank engines.
    pub fn check_metric(metric: Metric) -> Result<(), VerdictError> {
        let spec = metric.spec();
        if spec.source == MetricSource::Context {
            return Err(VerdictError::NotOfEngines(metric));
        }
        if spec.direction == Direction::Neither {
            return Err(VerdictError::NoDirection(metric));
        }
        Ok(())
    }
}

/// Why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerdictError {
    /// Neither higher nor lower values are better.
    #[error("{0} describes answers and has no better values; choose another metric")]
    NoDirection(Metric),
    /// The metric measures context without an engine.
    #[error("{0} measures retrieved context, not engines; choose another metric")]
    NotOfEngines(Metric),
    /// The baseline is no engine of the runs, or one without copies.
    #[error("there is no engine {0} to compare the others with")]
    NoBaseline(usize),
    /// The cases were kept because the baseline does not solve them from the file alone: any engine would look better.
    #[error("the cases were selected against engine {0}; choose another one to compare the others with")]
    SelectedAgainst(usize),
}

/// Returns the verdict on the engines of the runs, over the cases of a section that count in totals.
pub fn verdict(
    runs: &ComparedRuns<'_>,
    section: SectionKey,
    settings: &VerdictSettings,
) -> Result<Verdict, VerdictError> {
    check(runs, section, settings)?;
    let table = runs.values(section, settings.metric, settings.deadline);
    let contestants = || runs.contestants().iter().enumerate();
    let with_all_files = contestants().filter(|(_, it)| it.with_copies.is_none()).map(|(engine, _)| engine);
    let answering = with_all_files.filter(|&engine| table.has_values(engine));
    let (unranked, ranked): (Vec<usize>, Vec<usize>) =
        answering.partition(|&engine| runs.is_selected_against(section, engine));
    let ranking = groups::ranking(&ranked, |one, other| table.better_by(one, other));
    let pairs = pairs::pairs(&table, &pairs::of_ranking(&ranking, settings.baseline), settings);
    let copies: Vec<(usize, usize)> =
        contestants().filter_map(|(engine, contestant)| Some((contestant.with_copies?, engine))).collect();
    let standings = standings::standings(runs, section, &table, &ranking, settings);
    Ok(Verdict {
        metric: settings.metric,
        deadline: settings.deadline,
        baseline: settings.baseline,
        cases: standings.cases,
        files: standings.files,
        without_code: standings.without_code,
        is_on_shared_cases: standings.is_on_shared_cases,
        front: standings.front,
        standings: standings.standings,
        groups: groups::groups(&ranking, &pairs),
        unranked,
        pairs,
        copies: pairs::pairs(&table, &copies, settings),
    })
}

/// Compares pairs of engine and baseline, corrected together; the baseline of the settings is ignored.
pub fn compare_pairs(
    runs: &ComparedRuns<'_>,
    section: SectionKey,
    pairs: &[(usize, usize)],
    settings: &VerdictSettings,
) -> Result<Vec<PairVerdict>, VerdictError> {
    check(runs, section, &VerdictSettings { baseline: None, ..*settings })?;
    let table = runs.values(section, settings.metric, settings.deadline);
    Ok(pairs::pairs(&table, pairs, settings))
}

fn check(
    runs: &ComparedRuns<'_>,
    section: SectionKey,
    settings: &VerdictSettings,
) -> Result<(), VerdictError> {
    VerdictSettings::check_metric(settings.metric)?;
    let has_all_files =
        |engine: usize| runs.contestants().get(engine).is_some_and(|it| it.with_copies.is_none());
    match settings.baseline {
        Some(engine) if !has_all_files(engine) => Err(VerdictError::NoBaseline(engine)),
        Some(engine) if runs.is_selected_against(section, engine) => {
            Err(VerdictError::SelectedAgainst(engine))
        }
        _ => Ok(()),
    }
}

/// Which engines are better in one metric. Engines are indices into [`ComparedRuns::contestants`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The metric.
    pub metric: Metric,
    /// Time within which an answer counted, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// The engine that every other one is compared with; absent if all pairs are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<usize>,
    /// Number of cases that all ranked engines answered.
    pub cases: usize,
    /// Number of files they come from.
    pub files: usize,
    /// Number of them in which the right answer is nothing: silent engines are right there.
    pub without_code: usize,
    /// Whether the standings are those on these cases; with fewer than [`MIN_CASES`](crate::metric_table::MIN_CASES) of them, they are
    /// those on all cases of each engine, which need not have the order of the ranks.
    pub is_on_shared_cases: bool,
    /// The engines, the best first.
    pub standings: Vec<Standing>,
    /// The same engines in groups, the best first: each group is proven to be better than the next.
    pub groups: Vec<Vec<usize>>,
    /// Engines with answers that no rank applies to: cases were selected because the engine does not solve them from the file alone.
    pub unranked: Vec<usize>,
    /// The compared pairs, the better ranked engine minus the other one; with a baseline, each engine minus the baseline.
    pub pairs: Vec<PairVerdict>,
    /// Engines with all files minus the same engines without near-copies, on the cases that both answered.
    pub copies: Vec<PairVerdict>,
    /// Properties that the Pareto front of the standings weighs.
    pub front: FrontProperties,
}

impl Verdict {
    /// Returns the comparison of two engines in either order.
    pub fn pair(&self, one: usize, other: usize) -> Option<&PairVerdict> {
        let is_of =
            |pair: &&PairVerdict| [(one, other), (other, one)].contains(&(pair.engine, pair.baseline));
        self.pairs.iter().find(is_of)
    }

    /// Returns the comparisons of neighbours in the ranking.
    pub fn neighbours(&self) -> impl Iterator<Item = &PairVerdict> {
        self.standings.windows(2).filter_map(|pair| self.pair(pair[0].engine, pair[1].engine))
    }

    /// Returns the comparisons that a reader needs first: of neighbours in the ranking, or with the baseline.
    pub fn main_pairs(&self) -> Vec<&PairVerdict> {
        if self.baseline.is_some() { self.pairs.iter().collect() } else { self.neighbours().collect() }
    }

    /// Returns the rank of each standing, from 1: engines of a group share the first rank of the group.
    pub fn ranks(&self) -> Vec<usize> {
        let ranks = self.groups.iter().scan(1, |next, group| {
            let rank = *next;
            *next += group.len();
            Some(std::iter::repeat_n(rank, group.len()))
        });
        ranks.flatten().collect()
    }

    /// Returns the only engine of the best group, if there are others: the proven winner.
    pub fn winner(&self) -> Option<usize> {
        match self.groups.as_slice() {
            [first, _, ..] if first.len() == 1 => first.first().copied(),
            _ => None,
        }
    }
}

/// Which of latency and cost are known of all ranked engines, so that the front can weigh them besides quality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrontProperties {
    /// Median latency.
    pub latency: bool,
    /// Cost.
    pub cost: bool,
}

/// One engine's quality, latency and cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The engine.
    pub engine: usize,
    /// The metric of the verdict.
    #[serde(flatten)]
    pub quality: Quality,
    /// Exact match within [`DEADLINES_MS`], within the settings' deadline if it is another one, and at any time.
    pub exact_within: Vec<Quality>,
    /// Latencies of all its answers in the section; absent without requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Cost of a thousand of these answers, in the currency of the prices; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_thousand: Option<f64>,
    /// Number of its answers in the section, repetitions included.
    pub answers: usize,
    /// Those that failed.
    pub failed: usize,
    /// Time after which the run gave up its requests, milliseconds; absent if unknown. It need not be the editor's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Whether no other engine is at least as good in each of [`Verdict::front`]'s properties and better in one. It compares the
    /// observed numbers and claims nothing.
    pub is_on_front: bool,
}

/// Quality of an engine's answers within a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// The time, milliseconds; absent for any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// Number of cases.
    pub cases: usize,
    /// Sum of the numerators, after averaging repetitions.
    pub num: f64,
    /// Sum of the denominators.
    pub den: f64,
    /// Ratio of the sums; absent with fewer than [`MIN_CASES`](crate::metric_table::MIN_CASES) cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// One engine compared with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairVerdict {
    /// The engine.
    pub engine: usize,
    /// The engine whose value is subtracted.
    pub baseline: usize,
    /// Cases of both.
    pub cases: usize,
    /// Files they come from.
    pub files: usize,
    /// Cases in which neither is better.
    pub ties: usize,
    /// `engine` minus `baseline`.
    #[serde(flatten)]
    pub difference: PairedDifference,
    /// The claim.
    pub claim: Claim,
    /// The test; absent with too few cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PairTest>,
    /// How many cases would decide; absent without an interval, or if every case shows the same difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_size: Option<SampleSize>,
    /// Fewest files in which the engines differ from which on the test can claim anything.
    pub files_needed: usize,
    /// Comparison with the margin; absent without one, or without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<MarginVerdict>,
}

/// A claim about an engine and its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The engine is better.
    Better,
    /// The engine is worse.
    Worse,
    /// Nothing: more cases may decide.
    Undecided,
    /// Nothing: fewer than [`MIN_CASES`](crate::metric_table::MIN_CASES) cases.
    TooFewCases,
    /// Nothing: with so few files, no result would be a proof.
    TooFewFiles,
}

/// A significance test of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairTest {
    /// Its method.
    pub method: TestMethod,
    /// Chance of a result at least as far from equality between equal engines, both directions together.
    pub p: f64,
    /// McNemar's mid-p; stated only, nothing is decided by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mid_p: Option<f64>,
    /// `p`, corrected for all tested pairs (Holm).
    pub corrected_p: f64,
    /// Number of pairs that the correction covers.
    pub pairs: usize,
}

/// Method of a significance test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMethod {
    /// McNemar's exact test over cases.
    McNemar,
    /// Permutation test that swaps the engines in whole files.
    SignFlip {
        /// Number of random swaps; `None` if all were counted.
        resamples: Option<usize>,
    },
}

impl TestMethod {
    /// Returns the method's name in files.
    pub fn name(self) -> &'static str {
        match self {
            TestMethod::McNemar => "mcnemar_exact",
            TestMethod::SignFlip { resamples: None } => "sign_flip_exact",
            TestMethod::SignFlip { resamples: Some(_) } => "sign_flip_random",
        }
    }
}

impl Serialize for TestMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How well the number of cases resolves a pair, at the level at which Holm's correction tests it. More cases are supposed to come in
/// files like these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SampleSize {
    /// Smallest true difference that as many cases show in [`POWER`] of the repeats.
    pub detectable: f64,
    /// Chance that a repeat with as many cases claims a difference, if the true one is as observed.
    pub power: f64,
    /// Cases that show the observed difference in [`POWER`] of the repeats (N*); absent if it is 0 or needs over 10 million.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<usize>,
    /// Cases so far over `needed` (N/N*): 1 and above is resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Cases still missing: 0 if resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_cases: Option<usize>,
}

/// Claims about a margin, each one-sided at [`ALPHA`] after Holm's correction: for one pair, they agree with a 90 % interval of the
/// difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MarginVerdict {
    /// The margin, as a share.
    pub margin: f64,
    /// Whether the engine is proven not to be worse than the baseline by the margin or more.
    pub is_not_inferior: bool,
    /// The corrected p-value of this claim.
    pub p_not_inferior: f64,
    /// Whether the engines are proven to differ by less than the margin (two one-sided tests).
    pub is_equivalent: bool,
    /// The corrected p-value of this claim.
    pub p_equivalent: f64,
}
