//! Measures the verdict on eight engines over 10,000 cases, all pairs.

#[path = "../tests/verdict/mock_runs.rs"]
mod mock_runs;

use cases::Metric;
use mock_runs::{MockEngine, MockSuite, mock_run};
use scoring::ComparedRuns;
use scoring::verdict::{VerdictSettings, verdict};

fn main() {
    divan::main();
}

/// From rows to the verdict, in exact match and in a similarity, whose test draws random flips for every pair.
#[divan::bench(args = [Metric::ExactMatch, Metric::EditSimilarity], sample_count = 10)]
fn verdict_on_eight_engines(bencher: divan::Bencher<'_, '_>, metric: Metric) {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let accuracies = [0.3, 0.32, 0.34, 0.5, 0.5, 0.52, 0.6, 0.7];
    let engines: Vec<MockEngine> =
        names.into_iter().zip(accuracies).map(|(name, accuracy)| MockEngine::new(name, accuracy)).collect();
    let suite = MockSuite {
        files: 2_500,
        cases_per_file: 4.0,
        is_even: true,
        file: 0.05,
        engine_in_file: 0.05,
        case: 0.4,
    };
    let run = mock_run(&engines, &suite, 1);
    bencher.bench(|| {
        let runs = ComparedRuns::new(&[run.rows()]);
        let (section, _) = runs.sections()[0];
        verdict(&runs, section, &VerdictSettings { metric, ..VerdictSettings::new(1) })
    });
}
