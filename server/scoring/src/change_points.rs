//! Change points in the nightly answers of one engine to a fixed suite.
//!
//! While an engine stays the same, its answers to one case on different nights are exchangeable: any order of them is equally likely. So
//! for each case the answers of the last nights are a random part of all answers to it since the last change, and the sum over the cases of
//! their scores has a known distribution. Its tail is bounded by Chernoff's method; the bound for drawing without replacement is that for
//! drawing with replacement (W. Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58, 1963, section 6). No
//! normal approximation, no assumption on the cases, and no noise from cases that always get the same answer.
//!
//! Two signals are tested: the score of an answer, and whether its text differs from the usual one of its case, which reveals another model
//! that is as good. The last 1, 3 and 7 nights are compared with up to 28 nights before. Every test has the level
//! [`ALARMS_PER_YEAR`] / 365 / 6, so that by Bonferroni's inequality a constant engine causes at most that many false alarms in 365 nights,
//! however long it is watched.
//!
//! The method assumes that answers are independent given the engine. A server that answers all requests of one night worse, for
//! example with a smaller model under load, has changed.

use serde::Serialize;

/// Expected number of false alarms of a constant engine in 365 nights.
pub const ALARMS_PER_YEAR: f64 = 0.05;

/// Numbers of last nights that are compared with the nights before.
pub const WINDOWS: [usize; 3] = [1, 3, 7];

/// Number of nights before the last ones that are compared with them.
pub const REFERENCE_NIGHTS: usize = 28;

/// Number of nights that a test reads.
pub const TESTED_NIGHTS: usize = REFERENCE_NIGHTS + WINDOWS[2];

const SIGNALS: usize = 2;

/// Level of each test.
pub const TEST_LEVEL: f64 = ALARMS_PER_YEAR / 365.0 / (WINDOWS.len() * SIGNALS) as f64;

/// Standard deviations below which no sum reaches the level; its tail is not computed.
const FAR: f64 = 3.0;

/// An answer of one night to one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NightAnswer {
    /// Its score, from 0 to 1.
    pub score: f64,
    /// Hash of its text.
    pub text: u64,
}

/// The answers of one night, by case; `None` for cases without an answer, such as failed requests.
pub type NightAnswers = Vec<Option<NightAnswer>>;

/// A change of an engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Index of the first night with the changed engine.
    pub first: usize,
    /// The scores.
    pub score: SignalChange,
    /// The shares of answers whose text is not the usual one of its case.
    pub text: SignalChange,
}

/// A signal before and after a possible change, on the cases with answers on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SignalChange {
    /// Its mean before.
    pub before: f64,
    /// Its mean after.
    pub after: f64,
    /// Upper bound of the probability of such a difference if the engine has not changed.
    pub p: f64,
}

impl SignalChange {
    /// Whether it proves a change.
    pub fn is_proven(&self) -> bool {
        self.p <= TEST_LEVEL
    }
}

/// Tests whether the engine changed in the last nights. `nights` are those since its last change, the latest last, of which the last
/// [`TESTED_NIGHTS`] are read; all have the same cases.
pub fn find_change(nights: &[NightAnswers]) -> Option<ChangePoint> {
    let skipped = nights.len().saturating_sub(TESTED_NIGHTS);
    let nights = &nights[skipped..];
    let signals = [scores(nights), texts(nights)];
    let windows = WINDOWS.iter().filter(|&&window| window < nights.len());
    let is_proven = windows.flat_map(|&window| signals.iter().map(move |signal| shift(signal, window)));
    if !is_proven.into_iter().any(|shift| shift.is_proven()) {
        return None;
    }
    // The most unlikely split is where it changed.
    let splits = 1..nights.len().min(WINDOWS[2] + 1);
    let shifts = splits.map(|window| (window, signals.each_ref().map(|signal| shift(signal, window))));
    let lowest = |shifts: &[SignalChange; SIGNALS]| shifts[0].p.min(shifts[1].p);
    let (window, [score, text]) = shifts.min_by(|(_, a), (_, b)| lowest(a).total_cmp(&lowest(b)))?;
    Some(ChangePoint { first: skipped + nights.len() - window, score, text })
}

/// The values of one signal: by case, the nights with an answer and its value.
type Signal = Vec<Vec<(usize, f64)>>;

fn case_count(nights: &[NightAnswers]) -> usize {
    nights.iter().map(Vec::len).max().unwrap_or_default()
}

fn answers_to(nights: &[NightAnswers], case: usize) -> impl Iterator<Item = (usize, NightAnswer)> + '_ {
    nights.iter().enumerate().filter_map(move |(night, answers)| {
        let answer = (*answers.get(case)?)?;
        answer.score.is_finite().then_some((night, answer))
    })
}

fn scores(nights: &[NightAnswers]) -> Signal {
    let of_case =
        |case| answers_to(nights, case).map(|(night, it)| (night, it.score.clamp(0.0, 1.0))).collect();
    (0..case_count(nights)).map(of_case).collect()
}

/// Returns 1 for answers whose text is not the most frequent one of their case, else 0. The order of the nights does not decide which text
/// that is, also if there are several.
fn texts(nights: &[NightAnswers]) -> Signal {
    let of_case = |case| {
        let answers: Vec<(usize, u64)> =
            answers_to(nights, case).map(|(night, it)| (night, it.text)).collect();
        let count = |text: u64| answers.iter().filter(|(_, other)| *other == text).count();
        let usual = answers.iter().map(|&(_, text)| (count(text), text)).max().map(|(_, text)| text);
        answers.iter().map(|&(night, text)| (night, f64::from(u8::from(Some(text) != usual)))).collect()
    };
    (0..case_count(nights)).map(of_case).collect()
}

/// The values of a case that vary, centred, and how many of them are in the last nights.
struct VaryingCase {
    values: Vec<f64>,
    last: usize,
}

/// Compares the last `window` nights with the ones before.
fn shift(signal: &Signal, window: usize) -> SignalChange {
    let nights = signal.iter().flatten().map(|(night, _)| night + 1).max().unwrap_or_default();
    let first = nights.saturating_sub(window);
    let (mut sums, mut cases) = ([0.0; 2], 0_usize);
    let (mut varying, mut excess, mut variance) = (Vec::new(), 0.0, 0.0);
    for values in signal {
        let [(before, count_before), (after, last)] = [false, true].map(|is_last| {
            let side =
                values.iter().filter(move |(night, _)| (*night >= first) == is_last).map(|(_, value)| *value);
            (side.clone().sum::<f64>(), side.count())
        });
        if count_before == 0 || last == 0 {
            continue;
        }
        cases += 1;
        sums[0] += before / count_before as f64;
        sums[1] += after / last as f64;
        let count = (count_before + last) as f64;
        let mean = (before + after) / count;
        let centred: Vec<f64> = values.iter().map(|(_, value)| value - mean).collect();
        let spread = centred.iter().map(|value| value * value).sum::<f64>() / count;
        if spread > 0.0 {
            excess += after - last as f64 * mean;
            variance += last as f64 * spread * count_before as f64 / (count - 1.0);
            varying.push(VaryingCase { values: centred, last });
        }
    }
    let mean = |sum: f64| if cases == 0 { 0.0 } else { sum / cases as f64 };
    let is_far = variance > 0.0 && excess.abs() >= FAR * variance.sqrt();
    let p = if is_far { tail_bound(&varying, excess) } else { 1.0 };
    SignalChange { before: mean(sums[0]), after: mean(sums[1]), p }
}

/// Returns an upper bound of the probability that the sum of the last nights differs from its expectation by `excess` or more, in either
/// direction: the least value over `rate` of `exp(-rate * excess)` times the moment generating function.
fn tail_bound(cases: &[VaryingCase], excess: f64) -> f64 {
    let (sign, distance) = (excess.signum(), excess.abs());
    let log_bound = |rate: f64| {
        cases
            .iter()
            .map(|case| {
                let sum: f64 = case.values.iter().map(|value| (rate * sign * value).exp()).sum();
                case.last as f64 * (sum / case.values.len() as f64).ln()
            })
            .sum::<f64>()
            - rate * distance
    };
    (2.0 * least(log_bound).exp()).min(1.0)
}

/// Rate above which the bound of values in [0, 1] does not get lower.
const MAX_RATE: f64 = 64.0;

/// Steps of the search; each shortens the interval to two thirds.
const STEPS: usize = 40;

/// Returns the least value of a convex function between 0 and [`MAX_RATE`].
fn least(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, MAX_RATE);
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        let (left, right) = (low + third, high - third);
        if function(left) <= function(right) { high = right } else { low = left }
    }
    function((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use text::SplitMix64;

    use super::*;

    /// An engine that answers each case rightly with the case's own probability.
    struct NoisyEngine {
        rates: Vec<f64>,
        rng: SplitMix64,
    }

    impl NoisyEngine {
        fn new(cases: usize, seed: u64) -> NoisyEngine {
            // Most cases of a real engine always get the same answer.
            let rates = (0..cases).map(|case| [0.0, 1.0, 0.0, 1.0, 0.1, 0.5, 0.9, 0.3][case % 8]).collect();
            NoisyEngine { rates, rng: SplitMix64::new(seed) }
        }

        fn night(&mut self) -> NightAnswers {
            let rng = &mut self.rng;
            self.rates
                .iter()
                .map(|rate| {
                    let is_right = (rng.below(1000) as f64) < rate * 1000.0;
                    let text = if is_right { 1 } else { 2 + rng.below(3) as u64 * u64::from(*rate > 0.0) };
                    Some(NightAnswer { score: f64::from(u8::from(is_right)), text })
                })
                .collect()
        }
    }

    /// Watches an engine; returns the nights on which a change was reported, with its first night.
    fn watch(nights: usize, mut night: impl FnMut(usize) -> NightAnswers) -> Vec<(usize, usize)> {
        let (mut since, mut start, mut found) = (Vec::new(), 0, Vec::new());
        for number in 0..nights {
            since.push(night(number));
            if let Some(change) = find_change(&since) {
                found.push((number, start + change.first));
                start += change.first;
                since.drain(..change.first);
            }
        }
        found
    }

    #[test]
    fn constant_engines_cause_almost_no_alarm() {
        // At most 0.05 are expected in a year, so three years with more than one have a probability of 1 %. The seeds are fixed.
        let alarms: usize = (0..3)
            .map(|seed| {
                let mut engine = NoisyEngine::new(32, seed);
                watch(365, |_| engine.night()).len()
            })
            .sum();
        assert!(alarms <= 1, "{alarms} alarms in three years");
    }

    #[test]
    fn drop_in_quality_is_found_on_its_day() {
        for seed in 0..3 {
            let mut engine = NoisyEngine::new(200, seed);
            let found = watch(60, |night| {
                if night == 40 {
                    engine.rates.iter_mut().for_each(|rate| *rate *= 0.7);
                }
                engine.night()
            });
            let [(reported, first)] = found[..] else { panic!("{found:?}") };
            assert!(first.abs_diff(40) <= 1 && reported <= 42, "seed {seed}: {found:?}");
        }
    }

    /// A night of a deterministic engine that gives `changed` other texts of the same quality.
    fn rewritten(cases: usize, changed: usize) -> NightAnswers {
        let text = |case: usize| SplitMix64::new(2 * case as u64 + u64::from(case < changed)).number();
        (0..cases).map(|case| Some(NightAnswer { score: 0.5, text: text(case) })).collect()
    }

    #[test]
    fn other_texts_of_the_same_quality_are_a_change() {
        let found = watch(20, |night| rewritten(100, if night < 10 { 0 } else { 20 }));
        assert_eq!(found, [(10, 10)]);
        let found = watch(20, |_| rewritten(100, 0));
        assert_eq!(found, []);
    }

    #[test]
    fn single_night_has_nothing_to_compare() {
        assert_eq!(find_change(&[]), None);
        assert_eq!(find_change(&[rewritten(100, 0)]), None);
        // After two nights, nothing tells a changed engine from one that writes another text every night.
        assert_eq!(find_change(&[rewritten(100, 0), rewritten(100, 100)]), None);
        assert!(find_change(&[rewritten(100, 0), rewritten(100, 0), rewritten(100, 100)]).is_some());
    }

    #[test]
    fn missing_answers_and_invalid_scores_are_no_change() {
        let invalid = vec![Some(NightAnswer { score: f64::NAN, text: 3 }); 100];
        let found = watch(20, |night| match night {
            5 => vec![None; 100],
            6 => Vec::new(),
            7 => invalid.clone(),
            _ => rewritten(100, 0),
        });
        assert_eq!(found, []);
    }

    #[test]
    fn bound_is_not_below_the_exact_probability() {
        // All `flips` cases have one unusual answer in `nights`, on the last night: exactly nights^-flips in this direction.
        for (nights, flips) in [(5, 8), (10, 6), (29, 4)] {
            let usual = rewritten(flips, 0);
            let mut all = vec![usual; nights - 1];
            all.push(rewritten(flips, flips));
            let shift = shift(&texts(&all), 1);
            let exact = (nights as f64).powi(-(flips as i32));
            assert!(shift.p >= exact, "{nights} nights: {} < {exact}", shift.p);
            assert!(shift.p <= 2.1 * exact, "{nights} nights: {} for {exact}", shift.p);
        }
    }
}
