//! Simulates watched engines: false alarms of constant ones, and delays for changed ones.
//!
//! `cargo run --release -p scoring --example change_points_simulation -- [YEARS]` prints the tables of docs/benchmarks.md; the seeds are fixed.
#![expect(clippy::print_stdout, reason = "the tables are this program's output")]

use scoring::change_points::{NightAnswer, NightAnswers, TESTED_NIGHTS, find_change};
use text::SplitMix64;

/// Nights in a year.
const YEAR: usize = 365;
/// Cases of the constant engines: noise and discreteness are worst with few.
const CASES: usize = 48;
/// Cases of the changed engines.
const CHANGED_CASES: usize = 400;
/// Nights before a change, and after it.
const BEFORE: usize = 14;
const AFTER: usize = 30;
/// Changed engines of each kind.
const ENGINES: u64 = 40;

/// An engine that answers each case rightly with the case's own probability, in one of several texts.
struct NoisyEngine {
    rates: Vec<f64>,
    /// Number of wrong texts of each case.
    texts: usize,
    /// Share of failed requests.
    failures: f64,
    rng: SplitMix64,
}

impl NoisyEngine {
    fn share(&mut self) -> f64 {
        self.rng.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    fn night(&mut self) -> NightAnswers {
        (0..self.rates.len()).map(|case| self.answer(case)).collect()
    }

    fn answer(&mut self, case: usize) -> Option<NightAnswer> {
        if self.share() < self.failures {
            return None;
        }
        let is_right = self.share() < self.rates[case];
        let text = if is_right { 0 } else { 1 + self.rng.below(self.texts) };
        let text = SplitMix64::new((case * 64 + text) as u64).number();
        Some(NightAnswer { score: f64::from(u8::from(is_right)), text })
    }
}

/// Watches an engine; returns the nights that reported a change, with the number of its first night.
fn watch(nights: usize, mut night: impl FnMut(usize) -> NightAnswers) -> Vec<(usize, usize)> {
    let (mut since, mut start, mut found) = (Vec::new(), 0, Vec::new());
    for number in 0..nights {
        since.push(night(number));
        if since.len() > TESTED_NIGHTS {
            since.remove(0);
            start += 1;
        }
        if let Some(change) = find_change(&since) {
            start += change.first;
            since.drain(..change.first);
            found.push((number, start));
        }
    }
    found
}

fn main() {
    let years = std::env::args().nth(1).and_then(|years| years.parse().ok()).unwrap_or(100);
    println!("| constant engine | years | false alarms |\n|---|--:|--:|");
    type Rate = fn(usize) -> f64;
    let engines: [(&str, Rate, f64); 4] = [
        ("the same answers every night", |case| f64::from(u8::from(case.is_multiple_of(2))), 0.0),
        ("one case in four varies", |case| [0.0, 1.0, 0.5, 1.0][case % 4], 0.0),
        ("all cases vary", |case| [0.1, 0.3, 0.5, 0.9][case % 4], 0.0),
        ("all cases vary, 5 % of the requests fail", |case| [0.1, 0.3, 0.5, 0.9][case % 4], 0.05),
    ];
    for (name, rate, failures) in engines {
        let alarms: usize = (0..years)
            .map(|seed| {
                let rates = (0..CASES).map(rate).collect();
                let mut engine = NoisyEngine { rates, texts: 3, failures, rng: SplitMix64::new(seed) };
                watch(YEAR, |_| engine.night()).len()
            })
            .sum();
        println!("| {name} | {years} | {alarms} |");
    }
    println!(
        "\n| change after {BEFORE} nights, {CHANGED_CASES} cases | found in {AFTER} nights | median delay, nights | first night right |"
    );
    println!("|---|--:|--:|--:|");
    for points in [1.0, 2.0, 5.0, 10.0] {
        for (name, noisy) in [("no case varied", 0.0), ("one case in four varied", 0.25)] {
            report(&format!("{points} % of the cases become wrong, {name}"), noisy, points / 100.0);
        }
    }
}

/// Prints how often and when a drop of the share of right answers by `drop` is reported.
fn report(name: &str, noisy: f64, drop: f64) {
    let mut delays = Vec::new();
    let mut right = 0;
    for seed in 0..ENGINES {
        let mut rng = SplitMix64::new(1000 + seed);
        let mut rate = |case: usize| {
            if rng.below(1000) < (noisy * 1000.0) as usize {
                0.5
            } else {
                f64::from(u8::from(case.is_multiple_of(2)))
            }
        };
        let rates: Vec<f64> = (0..CHANGED_CASES).map(&mut rate).collect();
        let mut engine = NoisyEngine { rates, texts: 1, failures: 0.0, rng: SplitMix64::new(seed) };
        let found = watch(BEFORE + AFTER, |night| {
            if night == BEFORE {
                // Right answers become wrong.
                let mut left = (drop * CHANGED_CASES as f64).round() as usize;
                for rate in engine.rates.iter_mut().filter(|rate| **rate == 1.0) {
                    if left > 0 {
                        (*rate, left) = (0.0, left - 1);
                    }
                }
            }
            engine.night()
        });
        if let Some((reported, first)) = found.iter().find(|(reported, _)| *reported >= BEFORE) {
            delays.push(reported - BEFORE);
            right += usize::from(*first == BEFORE);
        }
    }
    delays.sort_unstable();
    let median = delays.get(delays.len() / 2).map_or_else(|| "–".to_owned(), usize::to_string);
    println!("| {name} | {} of {ENGINES} | {median} | {right} |", delays.len());
}
