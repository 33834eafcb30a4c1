//! Comparisons of pairs of arms, at the end and over time.

use serde::Serialize;

use super::log::{LogView, Record};
use super::{ALPHA, POWER, TrialMetric};
use crate::comparison::OUTSIDE;
use crate::counts::Counts;
use crate::metric_table::{Interval, MIN_CASES};
use crate::statistics::confidence_sequence::NormalMixture;
use crate::statistics::difference_sums::DifferenceSums;
use crate::statistics::paired_sample::MIN_FILES;
use crate::statistics::sign_flip::files_needed;

/// Opportunities between two points of a comparison over time, at least.
const CHECKPOINT: usize = 50;
/// Most points of a comparison over time.
const MOST_CHECKPOINTS: usize = 40;
/// More opportunities than any trial has: the arms are then as good as equal.
const MOST_NEEDED: f64 = 1e7;

/// One arm compared with another. All differences are `arm` minus `baseline`; higher is better in all metrics of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialPair {
    /// The arm.
    pub arm: usize,
    /// The arm whose value is subtracted.
    pub baseline: usize,
    /// Whether both arms answered the same opportunities; otherwise each opportunity had one of them.
    pub is_paired: bool,
    /// Opportunities that count.
    pub cases: usize,
    /// Files they come from; developers if there are several.
    pub files: usize,
    /// Opportunities in which the arm is better; 0 unless paired.
    pub better: usize,
    /// Opportunities in which it is worse.
    pub worse: usize,
    /// Opportunities in which neither is better.
    pub ties: usize,
    /// The difference, each value a ratio of weighted sums; absent with fewer than [`MIN_CASES`] opportunities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Interval that holds at all times together, corrected for all pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Interval>,
    /// 95 % interval of one look at a number of opportunities that was fixed in advance, for comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Interval>,
    /// The claim.
    pub claim: TrialClaim,
    /// How many opportunities would decide; absent without an error of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_size: Option<TrialSampleSize>,
    /// The difference as the trial grew.
    pub over_time: Vec<Checkpoint>,
}

/// A claim about an arm and its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialClaim {
    /// The arm is better.
    Better,
    /// The arm is worse.
    Worse,
    /// The arms differ by less than the margin.
    Equivalent,
    /// Nothing: more opportunities may decide.
    NotYetKnown,
    /// Nothing: fewer than [`MIN_CASES`] opportunities.
    TooFewCases,
    /// Nothing: so few files prove nothing.
    TooFewFiles,
    /// Nothing: some opportunities had no chance to stay unexposed, and the others are not like them.
    NotRepresentative,
}

/// How many opportunities would decide, if files, answers and typing stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialSampleSize {
    /// Opportunities until which the observed difference is found in [`POWER`] of the repeats (N*); absent above 10 million.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<usize>,
    /// Opportunities so far over `needed` (N/N*).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Opportunities still missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<usize>,
}

/// A difference at one moment of the trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checkpoint {
    /// Opportunities that counted until then.
    pub cases: usize,
    /// Start of the last of them, RFC 3339.
    pub at: String,
    /// The difference.
    pub value: f64,
    /// The interval that holds at all times together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Interval>,
}

/// Counts of two arms at the opportunities of a view.
pub(super) struct ArmPair<'v> {
    view: &'v LogView<'v>,
    /// Values by opportunity.
    arm: &'v [Option<Counts>],
    baseline: &'v [Option<Counts>],
    pub(super) is_paired: bool,
}

impl<'v> ArmPair<'v> {
    /// Returns the pair; it is paired if enough opportunities have values of both.
    pub(super) fn new(view: &'v LogView<'v>, arm: u32, baseline: u32) -> ArmPair<'v> {
        let (arm, baseline) = (view.values(arm), view.values(baseline));
        let has_both =
            |(arm, baseline): &(&Option<Counts>, &Option<Counts>)| arm.is_some() && baseline.is_some();
        let both = arm.iter().zip(baseline).filter(has_both).take(MIN_CASES).count();
        ArmPair { view, arm, baseline, is_paired: both == MIN_CASES }
    }

    /// Returns the weighted counts of baseline and arm at the opportunity of this place; `None` if it does not count.
    pub(super) fn counts(&self, place: usize) -> Option<(Counts, Counts)> {
        let weight = self.view.weight(self.view.records[place], self.view.settings.metric)?;
        let counts = |values: &[Option<Counts>]| {
            let counts = values[place]?;
            Some(Counts { num: counts.num * weight, den: counts.den * weight })
        };
        match (counts(self.baseline), counts(self.arm)) {
            (Some(baseline), Some(arm)) => Some((baseline, arm)),
            (None, None) => None,
            _ if self.is_paired => None,
            (baseline, arm) => Some((baseline.unwrap_or_default(), arm.unwrap_or_default())),
        }
    }
}

/// Compares all pairs of arms: each with those that are offered more often.
pub(super) fn pairs(view: &LogView<'_>) -> Vec<TrialPair> {
    let arms = view.arms.len();
    let count = arms * arms.saturating_sub(1) / 2;
    let of_arms = (0..arms).flat_map(|baseline| (baseline + 1..arms).map(move |arm| (arm, baseline)));
    of_arms.map(|(arm, baseline)| pair(view, arm, baseline, ALPHA / count as f64)).collect()
}

fn pair(view: &LogView<'_>, arm: usize, baseline: usize, alpha: f64) -> TrialPair {
    let of_pair = ArmPair::new(view, view.arms[arm], view.arms[baseline]);
    let counted: Vec<(usize, (Counts, Counts))> =
        (0..view.records.len()).filter_map(|place| Some((place, of_pair.counts(place)?))).collect();
    let step = CHECKPOINT.max(counted.len().div_ceil(MOST_CHECKPOINTS));
    let mut sums = DifferenceSums::default();
    let mut over_time = Vec::new();
    for (number, &(place, (of_baseline, of_arm))) in (1..).zip(&counted) {
        sums.add(view.cluster(place), of_baseline, of_arm);
        if number % step == 0 || number == counted.len() {
            over_time.extend(checkpoint(&sums, view.records[place], alpha));
        }
    }
    let value = sums.difference().filter(|_| sums.cases() >= MIN_CASES);
    let sequence = value.and_then(|_| sums.sequence(alpha));
    let (better, worse) = sums.better_and_worse();
    TrialPair {
        arm,
        baseline,
        is_paired: of_pair.is_paired,
        cases: sums.cases(),
        files: sums.files(),
        better,
        worse,
        ties: if of_pair.is_paired { sums.cases() - better - worse } else { 0 },
        value,
        sequence,
        fixed: value.and_then(|_| sums.fixed_interval(OUTSIDE)),
        claim: claim(view, view.settings.metric, &sums, sequence, alpha),
        sample_size: sample_size(&sums, alpha),
        over_time,
    }
}

fn checkpoint(sums: &DifferenceSums, record: &Record, alpha: f64) -> Option<Checkpoint> {
    let value = sums.difference().filter(|_| sums.cases() >= MIN_CASES)?;
    let at = record.opened_at.to_string();
    Some(Checkpoint { cases: sums.cases(), at, value, sequence: sums.sequence(alpha) })
}

/// Returns what a sequence proves.
pub(super) fn claim(
    view: &LogView<'_>,
    metric: TrialMetric,
    sums: &DifferenceSums,
    sequence: Option<Interval>,
    alpha: f64,
) -> TrialClaim {
    let needed = files_needed(alpha).max(MIN_FILES);
    match sequence {
        _ if sums.cases() < MIN_CASES => TrialClaim::TooFewCases,
        _ if metric.is_of_truths() && view.uncovered > 0 => TrialClaim::NotRepresentative,
        _ if sums.files() < needed => TrialClaim::TooFewFiles,
        Some(Interval { low, high, .. }) => {
            let is_informed = sums.informative_files() >= needed;
            let margin = view.settings.margin;
            match () {
                () if low > 0.0 && is_informed => TrialClaim::Better,
                () if high < 0.0 && is_informed => TrialClaim::Worse,
                () if -margin < low && high < margin => TrialClaim::Equivalent,
                () => TrialClaim::NotYetKnown,
            }
        }
        None => TrialClaim::NotYetKnown,
    }
}

fn sample_size(sums: &DifferenceSums, alpha: f64) -> Option<TrialSampleSize> {
    let estimate = sums.estimate()?;
    let effective = NormalMixture::of_trials().cases_to_find(estimate.drift(), POWER, alpha);
    let needed = effective
        .map(|cases| cases * sums.cases() as f64 / estimate.effective_cases)
        .filter(|needed| *needed <= MOST_NEEDED)
        .map(|needed| needed.ceil().max(1.0) as usize);
    Some(TrialSampleSize {
        needed,
        resolution: needed.map(|needed| sums.cases() as f64 / needed as f64),
        more: needed.map(|needed| needed.saturating_sub(sums.cases())),
    })
}

/// Returns the arm that is better than all others.
pub(super) fn winner(pairs: &[TrialPair], arms: usize) -> Option<usize> {
    let is_better = |one: usize, other: usize| {
        pairs.iter().any(|pair| match pair.claim {
            TrialClaim::Better => (pair.arm, pair.baseline) == (one, other),
            TrialClaim::Worse => (pair.baseline, pair.arm) == (one, other),
            _ => false,
        })
    };
    let beats_all = |&arm: &usize| (0..arms).all(|other| other == arm || is_better(arm, other));
    (0..arms).find(beats_all).filter(|_| arms > 1)
}
