//! From predictions to scores.

use std::collections::HashMap;

use cases::{Case, Metric, Prediction, Schema, Score};
use rayon::prelude::*;
use scoring::{MetricValue, Question, Response};
use syntax::Language;

/// Scores every prediction whose case is in the suite, in the order of the predictions.
pub fn score_all(cases: &[Case], predictions: &[Prediction]) -> Vec<Score> {
    let by_id: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let score = |prediction: &Prediction| Some(score_one(by_id.get(prediction.case.as_str())?, prediction));
    predictions.par_iter().filter_map(score).collect()
}

fn score_one(case: &Case, prediction: &Prediction) -> Score {
    let question = Question {
        language: Language::from_name(&case.language)
            .expect("suites with other languages are refused on reading"),
        prefix: &case.prefix,
        suffix: &case.suffix,
        truth: &case.truth,
    };
    let response = match prediction {
        failed if failed.has_failed() => Response::Failed,
        Prediction { late: true, text, .. } => Response::Late(text),
        Prediction { text, .. } => Response::InTime(text),
    };
    let metrics = scoring::score_response(&question, response);
    Score {
        schema: Schema::CURRENT,
        case: case.id.clone(),
        engine: prediction.engine.name.clone(),
        fingerprint: prediction.engine.fingerprint.clone(),
        repetition: prediction.repetition,
        metrics: metrics.into_iter().map(|(name, value)| (name, metric(value))).collect(),
    }
}

fn metric(value: MetricValue) -> Metric {
    match value {
        MetricValue::Value(value) => Metric::Value(value),
        MetricValue::Ratio { num, den } => Metric::Ratio { num, den },
    }
}
