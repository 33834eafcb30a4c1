//! Scores a file of CrossCodeEval predictions and measures the time per case, for a comparison with the original.
//!
//! `cargo run --release -p scoring --example cceval -- ROWS [ROUNDS]` prints one line of JSON: cases, milliseconds per case
//! (each case's shortest of the rounds, on one thread) and the aggregate, by language. ROWS has one object per line with `lang`, `prompt`,
//! `prediction_raw` and `groundtruth`.
#![expect(clippy::print_stdout, reason = "the numbers are this program's output")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use scoring::cceval::{self, CcevalScore};
use scoring::similarity::Similarity;
use serde_json::{Value, json};
use syntax::Language;

/// Default number of rounds: enough for one without interruptions.
const ROUNDS: usize = 5;

struct PredictionRow {
    language: Language,
    prompt: String,
    prediction: String,
    truth: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: cceval ROWS [ROUNDS]")?;
    let rounds = arguments.next().map_or(Ok(ROUNDS), |rounds| rounds.parse())?.max(1);
    let mut by_language: BTreeMap<&str, Vec<PredictionRow>> = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let case = read(&serde_json::from_str(line)?)
            .ok_or("a row without language, prompt, prediction or truth")?;
        by_language.entry(case.language.name()).or_default().push(case);
    }
    let results: BTreeMap<_, _> =
        by_language.into_iter().map(|(language, cases)| (language, measure(&cases, rounds))).collect();
    println!("{}", json!(results));
    Ok(())
}

fn read(row: &Value) -> Option<PredictionRow> {
    let text = |key: &str| row[key].as_str().map(str::to_owned);
    Some(PredictionRow {
        language: Language::from_name(row["lang"].as_str()?)?,
        prompt: text("prompt")?,
        prediction: text("prediction_raw")?,
        truth: text("groundtruth")?,
    })
}

fn measure(cases: &[PredictionRow], rounds: usize) -> Value {
    let (times, scores): (Vec<Duration>, Vec<CcevalScore>) =
        cases.iter().map(|case| fastest(case, rounds)).unzip();
    let aggregate = cceval::aggregate(&scores, Similarity::Difflib);
    json!({
        "cases": cases.len(),
        "ms_per_case": times.iter().sum::<Duration>().as_secs_f64() * 1000.0 / cases.len() as f64,
        "em": aggregate.em,
        "es": aggregate.es,
        "id_em": aggregate.id_em,
        "id_f1": aggregate.id_f1,
    })
}

/// Returns the shortest of several attempts, so that other work on the machine has little effect.
fn fastest(case: &PredictionRow, rounds: usize) -> (Duration, CcevalScore) {
    let attempt = || {
        let start = Instant::now();
        let score = score(case);
        (start.elapsed(), score)
    };
    let first = attempt();
    (1..rounds).map(|_| attempt()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

fn score(case: &PredictionRow) -> CcevalScore {
    cceval::score(case.language, &case.prompt, &case.prediction, &case.truth)
}
