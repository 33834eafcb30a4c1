//! Measures how often a growing trial names a winner that is none, how fast it finds a known difference, and how long a scoreboard
//! takes.
//!
//! `cargo run --release -p scoring --example trial_simulation -- [TRIALS]` prints tables in Markdown; TRIALS is 500 if unset; with
//! 0, only the scoreboard is timed.
#![expect(clippy::print_stdout, reason = "the tables are this program's output")]

#[path = "../tests/trial/simulated_trial.rs"]
mod simulated_trial;

use scoring::{TrialLog, TrialSettings};
use simulated_trial::{PEEK, SimulatedArm, SimulatedTrial, first_claim, scoreboard};

fn main() {
    let trials = std::env::args().nth(1).and_then(|trials| trials.parse().ok()).unwrap_or(500);
    if trials > 0 {
        equal(trials);
        different(trials);
    }
    large();
}

fn equal(trials: u64) {
    println!(
        "| same engine twice: files | effect of files | holdout | opportunities | trials with a claim, % |"
    );
    println!("|--:|--:|--:|--:|--:|");
    let arms = [SimulatedArm::new("a", 0.4), SimulatedArm::new("b", 0.4)];
    for (files, file_effect, holdout) in
        [(1_000, 0.0, 1.0), (100, 0.1, 1.0), (20, 0.2, 1.0), (8, 0.2, 1.0), (6, 0.3, 1.0), (40, 0.2, 0.3)]
    {
        let trial = SimulatedTrial { files, file_effect, holdout, opportunities: 1_000 };
        let claims = (0..trials).filter(|&seed| first_claim(&trial, &arms, seed).is_some()).count();
        let share = 100.0 * claims as f64 / trials as f64;
        println!("| {files} | {file_effect} | {holdout} | {} | {share:.1} |", trial.opportunities);
    }
}

fn different(trials: u64) {
    println!(
        "\n| difference | files | effect of files | promised N | found by, in 80 % of the trials | found / promised |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    for (difference, files, file_effect) in
        [(0.1, 1_000, 0.0), (0.15, 300, 0.1), (0.2, 100, 0.1), (0.2, 1_000, 0.2)]
    {
        let arms = [SimulatedArm::new("a", 0.4), SimulatedArm::new("b", 0.4 + difference)];
        let trial = SimulatedTrial { files, file_effect, holdout: 1.0, opportunities: 4_000 };
        let half = SimulatedTrial { opportunities: 500, ..trial };
        let mut promised: Vec<usize> = (0..trials / 5)
            .filter_map(|seed| scoreboard(half.rows(&arms, 1_000_000 + seed)).pairs[0].sample_size?.needed)
            .collect();
        let mut found: Vec<usize> =
            (0..trials / 5).map(|seed| first_claim(&trial, &arms, seed).unwrap_or(usize::MAX)).collect();
        promised.sort_unstable();
        found.sort_unstable();
        let (promised, found) = (promised[promised.len() / 2], found[found.len() * 4 / 5]);
        let ratio = found as f64 / promised as f64;
        println!("| {difference} | {files} | {file_effect} | {promised} | {found} | {ratio:.2} |");
    }
    println!(
        "\nLooked at after every {PEEK} opportunities; the promise is the median of the power lines after 500."
    );
}

fn large() {
    let arms = [SimulatedArm::new("a", 0.4), SimulatedArm::new("b", 0.45), SimulatedArm::new("c", 0.4)];
    let trial = SimulatedTrial { files: 2_000, file_effect: 0.1, holdout: 0.3, opportunities: 100_000 };
    let rows: Vec<_> = trial.rows(&arms, 1).collect();
    let start = std::time::Instant::now();
    let mut log = TrialLog::new();
    rows.iter().for_each(|row| log.add(row));
    let read = start.elapsed();
    let board = log.scoreboard(&TrialSettings::default());
    println!(
        "\n{} opportunities of {} arms: {} ms to compare the texts, {} ms for the scoreboard.",
        board.opportunities,
        board.arms.len(),
        read.as_millis(),
        (start.elapsed() - read).as_millis()
    );
}
