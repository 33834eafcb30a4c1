//! How often the intervals of differences and of single engines contain the true value, over a grid of made-up cases.
//!
//! The model is that of `tests/verdict/mock_runs.rs`: an answer is right if a normal number is below the engine's threshold. Its parts
//! are the file's, the engine's in the file, the case's and the answer's. The true values are integrals over that number, computed
//! to 1e-6, so that they add no error. Every cell has seeds of its own: cells with the same seeds would be high or low together.

use text::SplitMix64;

use super::normal;
use super::paired_sample::{PairedCase, PairedSample};
use super::sample::Sample;
use crate::counts::Counts;
use crate::metric_table::{Interval, IntervalMethod, MIN_CASES, share_interval};

/// Runs of a cell; the standard error of a coverage of 95 % is 0.97 points.
const RUNS: usize = 500;
/// Coverage that is right.
const WANTED: std::ops::RangeInclusive<f64> = 0.93..=0.97;
/// Standard errors by which a cell may miss it.
const ERRORS: f64 = 2.0;
/// Shares of the variance that all engines have in common in a file, and in a case.
const FILE: f64 = 0.05;
const CASE: f64 = 0.4;
/// Identifiers of an answer are 1 to this many, all equally often.
const IDENTIFIERS: u32 = 6;

/// What is counted of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Right or wrong.
    Exact,
    /// A similarity.
    Similarity,
    /// Found identifiers of some.
    Identifiers,
}

const KINDS: [Kind; 3] = [Kind::Exact, Kind::Similarity, Kind::Identifiers];

/// Made-up cases: in each file 1 case, or 1 and an exponential number.
#[derive(Clone, Copy, Debug)]
struct Shape {
    files: usize,
    cases_per_file: f64,
    /// Share of the variance that an engine has for itself in a file.
    correlation: f64,
}

/// Normal numbers (Box and Muller 1958), which come in pairs.
struct Random {
    numbers: SplitMix64,
    next: Option<f64>,
}

impl Random {
    fn new(seed: u64) -> Random {
        Random { numbers: SplitMix64::new(seed), next: None }
    }

    fn uniform(&mut self) -> f64 {
        ((self.numbers.number() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self, variance: f64) -> f64 {
        let number = self.next.take().unwrap_or_else(|| {
            let size = (-2.0 * self.uniform().ln()).sqrt();
            let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
            self.next = Some(size * sine);
            size * cosine
        });
        number * variance.sqrt()
    }

    /// Returns the counts of an answer that is right if `ease` is positive.
    fn counts(&mut self, kind: Kind, ease: f64) -> Counts {
        let identifiers = 1.0 + (f64::from(IDENTIFIERS) * self.uniform()).floor();
        match kind {
            Kind::Exact => Counts { num: f64::from(u8::from(ease > 0.0)), den: 1.0 },
            Kind::Similarity => Counts { num: similarity(ease), den: 1.0 },
            Kind::Identifiers => Counts { num: (similarity(ease) * identifiers).round(), den: identifiers },
        }
    }

    /// Returns the cases of a file: the counts of each engine.
    fn file<const ENGINES: usize>(
        &mut self,
        kind: Kind,
        rates: [f64; ENGINES],
        shape: Shape,
    ) -> Vec<[Counts; ENGINES]> {
        let spread = -self.uniform().ln() * (shape.cases_per_file - 1.0);
        let of_file = self.normal(FILE);
        let thresholds = rates.map(|rate| -normal::quantile_above(rate) - self.normal(shape.correlation));
        let rest = 1.0 - FILE - shape.correlation - CASE;
        (0..(1.0 + spread).round() as usize)
            .map(|_| {
                let of_case = of_file + self.normal(CASE);
                thresholds.map(|threshold| {
                    let ease = threshold - of_case - self.normal(rest);
                    self.counts(kind, ease)
                })
            })
            .collect()
    }
}

fn similarity(ease: f64) -> f64 {
    1.0 / (1.0 + (-2.0 * ease).exp())
}

/// Returns the true value of an engine: the mean numerator over the mean denominator.
fn true_value(kind: Kind, rate: f64) -> f64 {
    const STEP: f64 = 1e-3;
    let threshold = -normal::quantile_above(rate);
    let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
        let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        (-8_000..8_000)
            .map(|step| (f64::from(step) + 0.5) * STEP)
            .map(|z| density(z) * of(threshold - z) * STEP)
            .sum()
    };
    match kind {
        Kind::Exact => rate,
        Kind::Similarity => mean(&similarity),
        Kind::Identifiers => {
            let found = |count: u32| mean(&|ease| (similarity(ease) * f64::from(count)).round());
            (1..=IDENTIFIERS).map(found).sum::<f64>() / f64::from((1..=IDENTIFIERS).sum::<u32>())
        }
    }
}

/// Counts of the intervals of a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Coverage {
    intervals: usize,
    covered: usize,
    width: f64,
}

impl Coverage {
    fn add(&mut self, interval: Interval, truth: f64) {
        self.intervals += 1;
        self.covered += usize::from(interval.low - 1e-12 <= truth && truth <= interval.high + 1e-12);
        self.width += interval.high - interval.low;
    }

    fn share(self) -> f64 {
        self.covered as f64 / self.intervals as f64
    }

    fn error(self) -> f64 {
        (0.05 * 0.95 / self.intervals as f64).sqrt()
    }
}

/// Returns the coverage of the interval of a difference.
fn of_difference(kind: Kind, rates: [f64; 2], shape: Shape, seed: u64) -> Coverage {
    let truth = true_value(kind, rates[1]) - true_value(kind, rates[0]);
    let mut random = Random::new(seed);
    let mut coverage = Coverage::default();
    for _ in 0..RUNS {
        let mut cases = Vec::new();
        for file in 0..shape.files {
            let of_file = random.file(kind, rates, shape);
            cases.extend(of_file.into_iter().map(|[baseline, engine]| PairedCase { file, baseline, engine }));
        }
        if let Some(estimate) = PairedSample::new(cases).estimate() {
            coverage.add(estimate.interval(0.05), truth);
        }
    }
    coverage
}

/// Cells of the grid: files, cases in a file, and the correlation of differences within files.
fn shapes() -> Vec<Shape> {
    let kinds: [(f64, f64, &[usize]); 3] =
        [(1.0, 0.0, &[12, 20, 60]), (4.0, 0.05, &[5, 8, 12, 20, 40]), (12.0, 0.2, &[5, 8, 12, 20])];
    let shape = |(cases_per_file, correlation, files): (f64, f64, &[usize])| {
        files.iter().map(|&files| Shape { files, cases_per_file, correlation }).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(shape).collect()
}

/// Checks that a cell covers 93 to 97 % within its standard error; more only if `is_cautious`.
#[track_caller]
fn check(coverage: Coverage, is_cautious: bool, what: &str) {
    let slack = ERRORS * coverage.error();
    let share = coverage.share();
    assert!(coverage.intervals > RUNS / 2, "{what}: {coverage:?}");
    assert!(share >= WANTED.start() - slack, "{what}: {share} {coverage:?}");
    assert!(is_cautious || share <= WANTED.end() + slack, "{what}: {share} {coverage:?}");
}

/// Where fewer than five of the cases of a run differ, any interval that covers the true difference in 95 % of the runs covers it in more:
/// most runs have one of two or three results.
#[test]
fn intervals_of_differences_contain_the_true_one() {
    for (number, rates) in [[0.3, 0.4], [0.05, 0.1]].into_iter().enumerate() {
        for (cell, shape) in shapes().into_iter().enumerate() {
            for (of, kind) in KINDS.into_iter().enumerate() {
                let seed = ((number * 100 + cell) * 10 + of) as u64 + 1;
                let coverage = of_difference(kind, rates, shape, seed << 32);
                let what = format!("{rates:?} {kind:?} {shape:?}");
                let discordant = shape.files as f64 * shape.cases_per_file * (rates[0] + rates[1]);
                check(coverage, kind == Kind::Exact && discordant < 5.0, &what);
            }
        }
    }
}

/// Returns the coverage of the interval of one engine, and how many intervals are the cautious ones of too few informative files.
fn of_engine(kind: Kind, rate: f64, shape: Shape, seed: u64) -> (Coverage, usize) {
    let truth = true_value(kind, rate);
    let mut random = Random::new(seed);
    let (mut coverage, mut cautious) = (Coverage::default(), 0);
    for _ in 0..RUNS {
        let mut cases = Vec::new();
        for file in 0..shape.files {
            cases.extend(random.file(kind, [rate], shape).into_iter().map(|[counts]| (file, counts)));
        }
        if cases.len() < MIN_CASES {
            continue;
        }
        let sample = Sample::new(shape.files, cases);
        let Some(value) = sample.total().ratio() else { continue };
        let interval = share_interval(&sample, value);
        cautious += usize::from(matches!(interval.method, IntervalMethod::ClopperPearson { .. }));
        coverage.add(interval, truth);
    }
    (coverage, cautious)
}

/// Intervals are too wide rather than too narrow with fewer than 20 files, where too few files are informative, and for few independent
/// cases that are right or wrong, of which one more or less decides about several percent of the runs.
#[test]
fn intervals_of_single_engines_contain_the_true_value() {
    for (number, rate) in [0.05, 0.3, 0.5].into_iter().enumerate() {
        for (cell, shape) in shapes().into_iter().enumerate() {
            for (of, kind) in KINDS.into_iter().enumerate() {
                let seed = ((number * 100 + cell) * 10 + of) as u64 + 5;
                let (coverage, cautious) = of_engine(kind, rate, shape, seed << 40);
                let what = format!("{rate} {kind:?} {shape:?}");
                let is_cautious = shape.files < 20
                    || cautious * 20 > coverage.intervals
                    || (kind == Kind::Exact && shape.cases_per_file == 1.0);
                check(coverage, is_cautious, &what);
            }
        }
    }
}
