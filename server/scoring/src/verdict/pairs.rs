//! Tests of pairs of engines.

use std::cmp::Ordering;

use super::sample_size::sample_size;
use super::{ALPHA, Claim, MarginVerdict, PairTest, PairVerdict, TestMethod, VerdictSettings};
use crate::PairedDifference;
use crate::compared_runs::ValueTable;
use crate::comparison::OUTSIDE;
use crate::metric_table::MIN_CASES;
use crate::statistics::holm::{self, CorrectedPValue};
use crate::statistics::mcnemar::mcnemar;
use crate::statistics::paired_sample::{Estimate, MIN_FILES, PairedSample};
use crate::statistics::sign_flip::{files_needed, sign_flip};

/// Fewest random flips of a test.
const RESAMPLES: usize = 10_000;
/// Random flips per tested pair: the smallest p-value of a test is then a hundredth after the correction for all pairs.
const RESAMPLES_PER_PAIR: usize = 100;
/// Most random flips of a test, for runs of several dozens of engines.
const MOST_RESAMPLES: usize = 100_000;

/// Returns the pairs of ranked engines to compare, each as engine and baseline: all of them, the better ranked engine first, or each
/// engine with the baseline.
pub(super) fn of_ranking(ranking: &[usize], baseline: Option<usize>) -> Vec<(usize, usize)> {
    match baseline {
        Some(baseline) => {
            ranking.iter().filter(|&&engine| engine != baseline).map(|&engine| (engine, baseline)).collect()
        }
        None => ranking
            .iter()
            .enumerate()
            .flat_map(|(rank, &engine)| {
                ranking[rank + 1..].iter().map(|&other| (engine, other)).collect::<Vec<_>>()
            })
            .collect(),
    }
}

/// A pair before the correction for the others.
struct ComparedPair {
    engine: usize,
    baseline: usize,
    sample: PairedSample,
    /// `None` with too few cases.
    difference: Option<f64>,
    /// `None` without a difference or a method; oriented like the difference.
    estimate: Option<Estimate>,
    /// `None` without a difference.
    test: Option<UncorrectedTest>,
    informative_files: usize,
}

struct UncorrectedTest {
    method: TestMethod,
    p: f64,
    mid_p: Option<f64>,
}

/// Compares pairs of engine and baseline; all are corrected together.
pub(super) fn pairs(
    table: &ValueTable<'_>,
    pairs: &[(usize, usize)],
    settings: &VerdictSettings,
) -> Vec<PairVerdict> {
    let resamples = (RESAMPLES_PER_PAIR * pairs.len()).clamp(RESAMPLES, MOST_RESAMPLES);
    let compared: Vec<ComparedPair> = pairs
        .iter()
        .map(|&(engine, baseline)| compared_pair(table, engine, baseline, resamples, settings.seed))
        .collect();
    let tests = corrected(&compared, |pair| pair.test.as_ref().map(|test| test.p));
    let margins = margins(table, &compared, settings.margin);
    compared
        .iter()
        .zip(tests)
        .zip(margins)
        .map(|((pair, test), margin)| pair_verdict(table, pair, test, compared.len(), margin))
        .collect()
}

fn compared_pair(
    table: &ValueTable<'_>,
    engine: usize,
    baseline: usize,
    resamples: usize,
    seed: u64,
) -> ComparedPair {
    let sample = table.sample(engine, baseline);
    let difference = sample.difference().filter(|_| sample.len() >= MIN_CASES);
    let file_differences = sample.file_differences();
    let informative_files = file_differences.iter().filter(|&&difference| difference != 0.0).count();
    ComparedPair {
        engine,
        baseline,
        difference,
        estimate: difference.and_then(|_| sample.estimate()),
        test: difference.map(|_| test(&sample, &file_differences, resamples, seed)),
        informative_files,
        sample,
    }
}

fn test(sample: &PairedSample, file_differences: &[f64], resamples: usize, seed: u64) -> UncorrectedTest {
    if sample.has_single_cases() && sample.is_binary() {
        let result = mcnemar(sample.count(Ordering::Greater), sample.count(Ordering::Less));
        return UncorrectedTest { method: TestMethod::McNemar, p: result.p, mid_p: Some(result.mid_p) };
    }
    let result = sign_flip(file_differences, resamples, seed);
    UncorrectedTest { method: TestMethod::SignFlip { resamples: result.resamples }, p: result.p, mid_p: None }
}

/// Corrects the p-values of the pairs that have one.
fn corrected(
    pairs: &[ComparedPair],
    p: impl Fn(&ComparedPair) -> Option<f64>,
) -> Vec<Option<CorrectedPValue>> {
    let all: Vec<Option<f64>> = pairs.iter().map(p).collect();
    let tested: Vec<f64> = all.iter().copied().flatten().collect();
    let mut corrected = holm::corrected(&tested).into_iter();
    all.into_iter().map(|p| p.and_then(|_| corrected.next())).collect()
}

fn margins(
    table: &ValueTable<'_>,
    pairs: &[ComparedPair],
    margin: Option<f64>,
) -> Vec<Option<MarginVerdict>> {
    let Some(margin) = margin else { return vec![None; pairs.len()] };
    let oriented = |pair: &ComparedPair| {
        let estimate = pair.estimate?;
        Some(if table.lower_is_better() { estimate.negated() } else { estimate })
    };
    let not_inferior = corrected(pairs, |pair| Some(oriented(pair)?.p_above(-margin)));
    let equivalent = corrected(pairs, |pair| {
        let estimate = oriented(pair)?;
        Some(estimate.p_above(-margin).max(estimate.p_below(margin)))
    });
    let verdict = |(not_inferior, equivalent): (Option<CorrectedPValue>, Option<CorrectedPValue>)| {
        let (p_not_inferior, p_equivalent) = (not_inferior?.p, equivalent?.p);
        Some(MarginVerdict {
            margin,
            is_not_inferior: p_not_inferior <= ALPHA,
            p_not_inferior,
            is_equivalent: p_equivalent <= ALPHA,
            p_equivalent,
        })
    };
    not_inferior.into_iter().zip(equivalent).map(verdict).collect()
}

fn pair_verdict(
    table: &ValueTable<'_>,
    pair: &ComparedPair,
    corrected: Option<CorrectedPValue>,
    pairs: usize,
    margin: Option<MarginVerdict>,
) -> PairVerdict {
    let ComparedPair { engine, baseline, sample, informative_files, .. } = pair;
    let (higher, lower) = (sample.count(Ordering::Greater), sample.count(Ordering::Less));
    let (better, worse) = if table.lower_is_better() { (lower, higher) } else { (higher, lower) };
    let difference = PairedDifference {
        better,
        worse,
        other_tree: table.other_tree(*engine, *baseline),
        value: pair.difference,
        interval: pair.estimate.map(|estimate| estimate.interval(OUTSIDE)),
    };
    let alpha = ALPHA / corrected.map_or(pairs, |corrected| corrected.factor) as f64;
    let files_needed = files_needed(alpha).max(MIN_FILES);
    let size = |(estimate, value)| {
        sample_size(estimate, value, sample.len(), (*informative_files, files_needed), alpha)
    };
    PairVerdict {
        engine: *engine,
        baseline: *baseline,
        cases: sample.len(),
        files: sample.files(),
        ties: sample.count(Ordering::Equal),
        claim: claim(table, pair, &difference, corrected, files_needed),
        test: pair.test.as_ref().zip(corrected).map(|(test, corrected)| PairTest {
            method: test.method,
            p: test.p,
            mid_p: test.mid_p,
            corrected_p: corrected.p,
            pairs,
        }),
        sample_size: pair.estimate.zip(pair.difference).and_then(size),
        difference,
        files_needed,
        margin,
    }
}

/// Returns what the test and the interval together prove.
fn claim(
    table: &ValueTable<'_>,
    pair: &ComparedPair,
    difference: &PairedDifference,
    corrected: Option<CorrectedPValue>,
    files_needed: usize,
) -> Claim {
    let Some((corrected, value)) = corrected.zip(difference.value) else { return Claim::TooFewCases };
    let excludes_zero = difference.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0);
    if corrected.p <= ALPHA && excludes_zero {
        let is_better = (value > 0.0) != table.lower_is_better();
        return if is_better { Claim::Better } else { Claim::Worse };
    }
    if pair.sample.files() < files_needed { Claim::TooFewFiles } else { Claim::Undecided }
}
