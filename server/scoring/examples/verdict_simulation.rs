//! Measures how often verdicts on made-up engines are wrong and how often intervals contain the true difference.
//!
//! `cargo run --release -p scoring --example verdict_simulation -- [RUNS]` prints tables in Markdown; RUNS (1,000 if unset) is the
//! number of runs behind each row of claims about equal engines and of coverage.
#![expect(clippy::print_stdout, reason = "the tables are this program's output")]

#[path = "../tests/verdict/mock_runs.rs"]
mod mock_runs;
#[path = "../tests/verdict/simulation.rs"]
mod simulation;

use cases::Metric;

use mock_runs::{MockEngine, MockSuite};
use simulation::{count_claims, coverage, engine_coverage, quality, seven_engines, suite, verdict_of};

/// Number of runs of seven engines.
const ORDERED_RUNS: u64 = 100;
const METRICS: [Metric; 3] = [Metric::ExactMatch, Metric::EditSimilarity, Metric::IdentifierRecall];

/// Seeds of runs that no other cell of a table has: cells with the same seeds would be high or low together.
#[derive(Default)]
struct Seeds(u64);

impl Seeds {
    fn next(&mut self, runs: u64) -> std::ops::Range<u64> {
        self.0 += runs;
        self.0 - runs..self.0
    }
}

fn main() {
    let runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(1_000);
    seven();
    equal(runs);
    intervals(runs);
    engine_intervals(runs / 2);
}

fn seven() {
    println!(
        "| seven engines | cases | wrong order | wrong winner | winner | equal pair claimed | claimed pairs of 20 |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (files, cases_per_file) in [(300, 1.0), (60, 5.0), (20, 15.0), (400, 5.0)] {
        let suite = suite(files, cases_per_file, if cases_per_file > 1.0 { 0.05 } else { 0.0 });
        let counts = count_claims(&seven_engines(), &suite, Metric::ExactMatch, 0..ORDERED_RUNS);
        println!(
            "| {files} files | {} | {} | {} | {} | {} | {:.1} |",
            files as f64 * cases_per_file,
            counts.wrong,
            counts.wrong_winner,
            counts.winner,
            counts.equal_claimed,
            counts.claimed_pairs as f64 / counts.runs as f64,
        );
    }
}

fn equal(runs: u64) {
    println!(
        "\n| equal engines | files | cases per file | correlation | metric | runs with a claim, % | standard error |"
    );
    println!("|--:|--:|--:|--:|---|--:|--:|");
    let mut seeds = Seeds::default();
    for engines in [2, 7] {
        let equal = &["a", "b", "c", "d", "e", "f", "g"].map(|name| MockEngine::new(name, 0.5))[..engines];
        for (files, cases_per_file, correlation) in
            [(5, 8.0, 0.2), (8, 8.0, 0.2), (12, 8.0, 0.2), (20, 8.0, 0.2), (20, 1.0, 0.0), (40, 4.0, 0.4)]
        {
            for metric in [Metric::ExactMatch, Metric::EditSimilarity] {
                let runs = if engines == 2 { runs } else { runs / 2 };
                let suite = suite(files, cases_per_file, correlation);
                let counts = count_claims(equal, &suite, metric, seeds.next(runs));
                let share = counts.equal_claimed as f64 / counts.runs as f64;
                println!(
                    "| {engines} | {files} | {cases_per_file} | {correlation} | {metric} | {:.1} | {:.1} |",
                    100.0 * share,
                    100.0 * (share.max(0.01) * (1.0 - share) / counts.runs as f64).sqrt(),
                );
            }
        }
    }
}

fn intervals(runs: u64) {
    println!(
        "\n| rates | files | cases per file | correlation | metric | coverage, % | standard error | width | without |"
    );
    println!("|---|--:|--:|--:|---|--:|--:|--:|--:|");
    let mut seeds = Seeds::default();
    for (low, high) in [(0.3, 0.4), (0.5, 0.5), (0.05, 0.1)] {
        let engines = [MockEngine::new("a", low), MockEngine::new("b", high)];
        for (cases_per_file, correlation) in [(1.0, 0.0), (4.0, 0.05), (12.0, 0.2)] {
            for metric in METRICS {
                let truth = true_difference(&engines, &suite(1, cases_per_file, correlation), metric);
                for files in [5, 8, 12, 20, 60] {
                    let suite = suite(files, cases_per_file, correlation);
                    if files as f64 * cases_per_file < 12.0 {
                        continue;
                    }
                    let coverage = coverage(&engines, &suite, metric, truth, seeds.next(runs));
                    let share = coverage.share();
                    println!(
                        "| {low}, {high} | {files} | {cases_per_file} | {correlation} | {metric} | {:.1} | {:.1} | {:.3} | {} |",
                        100.0 * share,
                        100.0 * (share * (1.0 - share) / coverage.intervals as f64).sqrt(),
                        coverage.width / coverage.intervals as f64,
                        coverage.without,
                    );
                }
            }
        }
    }
}

fn engine_intervals(runs: u64) {
    println!(
        "\n| rate | files | cases per file | correlation | coverage, % | standard error | width | without |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut seeds = Seeds::default();
    for rate in [0.05, 0.3, 0.5, 0.8] {
        let engine = MockEngine::new("a", rate);
        for (files, cases_per_file, correlation) in
            [(20, 1.0, 0.0), (60, 1.0, 0.0), (8, 8.0, 0.1), (20, 5.0, 0.1), (60, 5.0, 0.1), (20, 12.0, 0.2)]
        {
            let suite = suite(files, cases_per_file, correlation);
            let coverage = engine_coverage(&engine, &suite, Metric::ExactMatch, rate, seeds.next(runs));
            let share = coverage.share();
            println!(
                "| {rate} | {files} | {cases_per_file} | {correlation} | {:.1} | {:.1} | {:.3} | {} |",
                100.0 * share,
                100.0 * (share * (1.0 - share) / coverage.intervals as f64).sqrt(),
                coverage.width / coverage.intervals as f64,
                coverage.without,
            );
        }
    }
}

/// Returns the true difference of the engines: known for exact match, of very many files for the others.
fn true_difference(engines: &[MockEngine; 2], suite: &MockSuite, metric: Metric) -> f64 {
    if metric == Metric::ExactMatch || engines[0].accuracy == engines[1].accuracy {
        return quality(&engines[1]) - quality(&engines[0]);
    }
    let files = (200_000.0 / suite.cases_per_file) as usize;
    let verdict = verdict_of(engines, &MockSuite { files, ..*suite }, metric, 1 << 40);
    let value = |engine: usize| {
        verdict
            .standings
            .iter()
            .find(|standing| standing.engine == engine)
            .and_then(|standing| standing.quality.value)
    };
    value(1).zip(value(0)).map_or(0.0, |(b, a)| b - a)
}
