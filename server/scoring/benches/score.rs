//! How long it takes to score one prediction. CrossCodeEval's own script takes some 20 ms for a Python case.

use scoring::{Question, cceval};
use syntax::Language;

/// A cursor after some 60 lines of Python, as a CrossCodeEval prompt of average length has them.
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
/// Several line ends at which the text does not parse come before the one at which it does.
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
    let question = Question { language: Language::Python, prefix: &prefix, suffix: SUFFIX, truth: TRUTH };
    bencher.bench(|| scoring::score(&question, PREDICTION));
}

#[divan::bench]
fn similarity_of_long_texts(bencher: divan::Bencher<'_, '_>) {
    let (a, b) = (FUNCTION.repeat(8), FUNCTION.repeat(7) + PREDICTION);
    bencher.bench(|| scoring::similarity::Similarity::ALL.map(|similarity| similarity.ratio(&a, &b)));
}
