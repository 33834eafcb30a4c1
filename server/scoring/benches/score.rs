//! Measures the time to score one prediction and to summarize a run. CrossCodeEval's own script takes tens of milliseconds for a
//! Python case.

use scoring::{Observation, ScoringInput, cceval};
use syntax::Language;

/// A cursor after some 60 lines of Python, the average length of a CrossCodeEval prompt.
const FUNCTION: &str = "def total(orders, rates):
    \"\"\"Sums what the orders cost.\"\"\"
    result = 0
    for order in orders:
        if order.currency not in rates:
            raise KeyError(order.currency)
        result += order.amount * rates[order.currency]
    return result


";
const CURSOR: &str = "def report(orders, rates, out=None):
    lines = []
    for order in sorted(orders, key=lambda order: order.date):
        lines.append(";
const TRUTH: &str = "format_line(order, rates))";
/// The text fails to parse at several line ends before the one at which it parses.
const PREDICTION: &str = "format_line(
            order,
            rates,
        ))
    if out is not None:
        out.write(lines)
";
const SUFFIX: &str = "\n    return lines\n";

fn main() {
    divan::main();
}

fn prompt() -> String {
    FUNCTION.repeat(6) + CURSOR
}

#[divan::bench]
fn cceval_python(bencher: divan::Bencher<'_, '_>) {
    let prompt = prompt();
    bencher.bench(|| cceval::score(Language::Python, &prompt, PREDICTION, TRUTH));
}

#[divan::bench]
fn cceval_java(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| cceval::score(Language::Java, "", PREDICTION, TRUTH));
}

#[divan::bench]
fn all_metrics(bencher: divan::Bencher<'_, '_>) {
    let prefix = prompt();
    let question = ScoringInput { language: Language::Python, prefix: &prefix, suffix: SUFFIX, truth: TRUTH };
    bencher.bench(|| scoring::score(&question, PREDICTION));
}

#[divan::bench]
fn similarity_of_long_texts(bencher: divan::Bencher<'_, '_>) {
    let (a, b) = (FUNCTION.repeat(8), FUNCTION.repeat(7) + PREDICTION);
    bencher.bench(|| scoring::similarity::Similarity::ALL.map(|similarity| similarity.ratio(&a, &b)));
}

/// Three engines over 1,000 cases from 250 files.
#[divan::bench(sample_count = 10)]
fn summary_of_a_run(bencher: divan::Bencher<'_, '_>) {
    let question = ScoringInput { language: Language::Java, prefix: "", suffix: "", truth: TRUTH };
    let metrics = [PREDICTION, TRUTH, ""].map(|answer| scoring::score(&question, answer));
    let observations: Vec<Observation<'_>> = (0..3_000)
        .map(|number| {
            let metrics = metrics[number as usize % 11 % 3].clone();
            let latency = Some(f64::from(number));
            Observation::new((number / 3).to_string(), (number / 12).to_string(), metrics, latency)
        })
        .collect();
    let keys = |(number, observation)| {
        let (engine, scenario, kind) = (number % 3, number % 5, number % 7);
        let margins =
            [(None, None), (Some(scenario), None), (None, Some(kind)), (Some(scenario), Some(kind))];
        margins.map(|(scenario, kind)| ((engine, scenario, kind), observation))
    };
    bencher.bench(|| scoring::summarize(observations.iter().enumerate().flat_map(keys), 1));
}
