//! Which arm is better where: slices by language and block kind, each compared with the first arm.
//!
//! Slice number j, in the order of the first opportunity, is tested at the level of the pair divided by j (j + 1): these levels sum to
//! that of the pair, and do not change when slices are added later. All sequences hold together, so that the gain of a choice made by
//! looking at them is covered, too. Values are shrunk towards their common mean by the share of their variance that is error (random
//! effects of DerSimonian and Laird 1986): a slice of few opportunities says little about itself.

use std::collections::BTreeMap;

use cases::BlockKind;
use serde::Serialize;

use super::ALPHA;
use super::log::{LogView, Record};
use super::pairs::{ArmPair, TrialClaim, claim};
use crate::metric_table::{Interval, IntervalMethod, MIN_CASES};
use crate::statistics::difference_sums::{DifferenceEstimate, DifferenceSums};

/// One arm compared with the first one on the opportunities of a language and block kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialSlice {
    /// Name of the language.
    pub language: String,
    /// The block kind; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<BlockKind>,
    /// The arm.
    pub arm: usize,
    /// The arm whose value is subtracted.
    pub baseline: usize,
    /// Opportunities that count.
    pub cases: usize,
    /// Files they come from; developers if there are several.
    pub files: usize,
    /// Their weighted share of all opportunities that count, from 0 to 1.
    pub share: f64,
    /// The difference; absent with fewer than [`MIN_CASES`] opportunities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The difference, shrunk towards the common mean of the slices; absent without an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<f64>,
    /// Interval of the difference that holds at all times and for all slices together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Interval>,
    /// The claim.
    pub claim: TrialClaim,
}

/// Which arm to use where.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// The arm to use in all other slices: the winner, or the first arm.
    pub elsewhere: usize,
    /// The slices in which another arm is proven to be better, as indices into
    /// [`TrialScoreboard::slices`](super::TrialScoreboard::slices), and that arm.
    pub exceptions: Vec<(usize, usize)>,
    /// Expected gain over using [`Recommendation::elsewhere`] everywhere, per opportunity, from shrunk differences.
    pub gain: f64,
    /// Interval of the gain that holds at all times together, for shares of the slices as observed.
    pub sequence: Interval,
}

/// A slice before it is shrunk.
struct SliceSums {
    /// Number in the order of the first opportunity, from 1.
    number: usize,
    sums: DifferenceSums,
    weight: f64,
}

/// Compares every other arm with the first one, by slice; the largest slices first.
pub(super) fn slices(view: &LogView<'_>) -> Vec<TrialSlice> {
    let others = view.arms.len().saturating_sub(1);
    let pairs = (view.arms.len() * others / 2) as f64;
    let mut slices: Vec<TrialSlice> = (1..=others).flat_map(|arm| of_arm(view, arm, ALPHA / pairs)).collect();
    slices.sort_by(|left, right| right.cases.cmp(&left.cases).then(left.arm.cmp(&right.arm)));
    slices
}

fn of_arm(view: &LogView<'_>, arm: usize, alpha: f64) -> Vec<TrialSlice> {
    let pair = ArmPair::new(view, view.arms[arm], view.arms[0]);
    let mut groups: BTreeMap<(u32, Option<BlockKind>), SliceSums> = BTreeMap::new();
    for (place, record) in view.records.iter().enumerate() {
        let Some((baseline, engine)) = pair.counts(place) else { continue };
        let number = groups.len() + 1;
        let group = groups.entry((record.language, record.block_kind)).or_insert_with(|| SliceSums {
            number,
            sums: DifferenceSums::default(),
            weight: 0.0,
        });
        group.sums.add(view.cluster(place), baseline, engine);
        group.weight += weight(view, record);
    }
    let estimates: Vec<DifferenceEstimate> =
        groups.values().filter_map(|group| group.sums.estimate()).collect();
    let shrinkage = Shrinkage::new(&estimates);
    let total: f64 = groups.values().map(|group| group.weight).sum();
    let slice = |((language, block_kind), group): (&(u32, Option<BlockKind>), &SliceSums)| {
        let sums = &group.sums;
        let alpha = alpha / (group.number * (group.number + 1)) as f64;
        let value = sums.difference().filter(|_| sums.cases() >= MIN_CASES);
        let sequence = value.and_then(|_| sums.sequence(alpha));
        TrialSlice {
            language: view.log.language_name(*language).to_owned(),
            block_kind: *block_kind,
            arm,
            baseline: 0,
            cases: sums.cases(),
            files: sums.files(),
            share: group.weight / total,
            value,
            shrunk: value.and_then(|_| Some(shrinkage?.shrunk(sums.estimate()?))),
            sequence,
            claim: claim(view, view.settings.metric, sums, sequence, alpha),
        }
    };
    groups.iter().map(slice).collect()
}

fn weight(view: &LogView<'_>, record: &Record) -> f64 {
    view.weight(record, view.settings.metric).unwrap_or(0.0)
}

/// The common mean of slices and the variance between them.
#[derive(Clone, Copy, Debug)]
struct Shrinkage {
    mean: f64,
    between: f64,
}

impl Shrinkage {
    /// Returns `None` without slices.
    fn new(estimates: &[DifferenceEstimate]) -> Option<Shrinkage> {
        let weights: Vec<f64> = estimates.iter().map(|it| it.error.powi(-2)).collect();
        let sum: f64 = weights.iter().sum();
        if estimates.is_empty() || !sum.is_finite() {
            return None;
        }
        let mean_with = |weights: &[f64]| {
            let sum: f64 = weights.iter().sum();
            estimates.iter().zip(weights).map(|(it, weight)| it.difference * weight).sum::<f64>() / sum
        };
        let fixed = mean_with(&weights);
        let of_slice = |(it, weight): (&DifferenceEstimate, &f64)| weight * (it.difference - fixed).powi(2);
        let excess = estimates.iter().zip(&weights).map(of_slice).sum::<f64>() - (estimates.len() - 1) as f64;
        let scale = sum - weights.iter().map(|weight| weight * weight).sum::<f64>() / sum;
        let between = if scale > 0.0 { (excess / scale).max(0.0) } else { 0.0 };
        let with_between: Vec<f64> =
            estimates.iter().map(|it| (it.error.powi(2) + between).recip()).collect();
        Some(Shrinkage { mean: mean_with(&with_between), between })
    }

    fn shrunk(self, estimate: DifferenceEstimate) -> f64 {
        let error = estimate.error.powi(2);
        (self.between * estimate.difference + error * self.mean) / (self.between + error)
    }
}

/// Returns the slices in which another arm than `elsewhere` is proven to be better; `None` if there are none.
pub(super) fn recommendation(slices: &[TrialSlice], elsewhere: usize) -> Option<Recommendation> {
    let mut best: BTreeMap<(&str, Option<BlockKind>), Gain> = BTreeMap::new();
    for (index, slice) in slices.iter().enumerate() {
        let Some(gain) = gain(index, slice, elsewhere) else { continue };
        let known = best.entry((&slice.language, slice.block_kind)).or_insert(gain);
        if gain.value > known.value {
            *known = gain;
        }
    }
    let sum = |of: fn(&Gain) -> f64| best.values().map(of).sum::<f64>();
    let effective_cases = slices.iter().map(|slice| slice.cases).sum::<usize>() as f64;
    (!best.is_empty()).then(|| Recommendation {
        elsewhere,
        exceptions: best.values().map(|gain| (gain.slice, gain.arm)).collect(),
        gain: sum(|gain| gain.value),
        sequence: Interval {
            low: sum(|gain| gain.low),
            high: sum(|gain| gain.high),
            method: IntervalMethod::NormalMixture { effective_cases },
        },
    })
}

/// The gain of another arm in a slice, weighted by the slice's share.
#[derive(Clone, Copy, Debug)]
struct Gain {
    slice: usize,
    arm: usize,
    value: f64,
    low: f64,
    high: f64,
}

/// Slices compare with the first arm only: if that is not the arm used elsewhere, only the first arm is known to be better.
fn gain(index: usize, slice: &TrialSlice, elsewhere: usize) -> Option<Gain> {
    let sequence = slice.sequence?;
    let (arm, sign) = match slice.claim {
        TrialClaim::Better if slice.baseline == elsewhere => (slice.arm, 1.0),
        TrialClaim::Worse if slice.arm == elsewhere => (slice.baseline, -1.0),
        _ => return None,
    };
    let ends = [sign * sequence.low * slice.share, sign * sequence.high * slice.share];
    let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let value = sign * slice.shrunk.or(slice.value)? * slice.share;
    Some(Gain { slice: index, arm, value: value.clamp(low, high), low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(difference: f64, error: f64) -> DifferenceEstimate {
        DifferenceEstimate { difference, error, degrees: 20.0, effective_cases: 100.0 }
    }

    /// The worked example is checked by hand: weights 100, 25, 25; Q = 6, so that the variance between slices is
    /// (6 - 2) / (150 - (10000 + 625 + 625) / 150) = 4 / 75.
    #[test]
    fn uncertain_slices_are_shrunk_most() {
        let estimates = [estimate(0.0, 0.1), estimate(0.4, 0.2), estimate(0.2, 0.2)];
        let shrinkage = Shrinkage::new(&estimates).expect("slices");
        let fixed = (25.0 * 0.4 + 25.0 * 0.2) / 150.0;
        let excess: f64 =
            100.0 * f64::powi(fixed, 2) + 25.0 * f64::powi(0.4 - fixed, 2) + 25.0 * f64::powi(0.2 - fixed, 2)
                - 2.0;
        let between = (excess / (150.0 - 11_250.0 / 150.0)).max(0.0);
        assert!((shrinkage.between - between).abs() < 1e-12);
        let moved = |it: DifferenceEstimate| (shrinkage.shrunk(it) - it.difference).abs();
        assert!(moved(estimates[1]) > moved(estimates[0]));
        assert!(Shrinkage::new(&[]).is_none());
    }

    #[test]
    fn gains_are_those_of_proven_exceptions() {
        let interval = |low, high| Interval {
            low,
            high,
            method: IntervalMethod::NormalMixture { effective_cases: 9.0 },
        };
        let slice = |language: &str, claim, shrunk, sequence| TrialSlice {
            language: language.to_owned(),
            block_kind: None,
            arm: 1,
            baseline: 0,
            cases: 100,
            files: 20,
            share: 0.5,
            value: Some(shrunk),
            shrunk: Some(shrunk),
            sequence: Some(sequence),
            claim,
        };
        let slices = [
            slice("rust", TrialClaim::Better, 0.2, interval(0.1, 0.3)),
            slice("go", TrialClaim::NotYetKnown, 0.2, interval(-0.1, 0.3)),
        ];
        let found = recommendation(&slices, 0).expect("a recommendation");
        assert_eq!(found.exceptions, [(0, 1)]);
        assert_eq!((found.gain, found.sequence.low, found.sequence.high), (0.1, 0.05, 0.15));
        assert_eq!(recommendation(&slices, 1), None);
        assert_eq!(recommendation(&slices[1..], 0), None);
    }
}
