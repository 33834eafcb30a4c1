//! Scores predictions.

use std::collections::HashMap;

use cases::{Case, Finish, Prediction, SchemaVersion, Score, StoredMetric};
use rayon::prelude::*;
use scoring::{AnswerOutcome, AnswerText, MetricValue, ScoringInput};
use syntax::Language;

/// Scores every prediction whose case is in `cases`, in the order of the predictions.
pub fn score_all(cases: &[Case], predictions: &[Prediction]) -> Vec<Score> {
    let by_id: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let score = |prediction: &Prediction| Some(score_one(by_id.get(prediction.case.as_str())?, prediction));
    predictions.par_iter().filter_map(score).collect()
}

fn score_one(case: &Case, prediction: &Prediction) -> Score {
    let question = ScoringInput {
        language: Language::from_name(&case.language)
            .expect("suites with other languages are rejected on reading"),
        prefix: &case.prefix,
        suffix: &case.suffix,
        truth: &case.truth,
    };
    let response = match prediction {
        failed if failed.has_failed() => AnswerOutcome::Failed,
        Prediction { late: true, text, .. } => AnswerOutcome::Late(text),
        Prediction { text, raw, finish, .. } => {
            AnswerOutcome::InTime(AnswerText { text, raw, has_ended: *finish == Finish::Stop })
        }
    };
    let metrics = scoring::score_response(&question, response);
    Score {
        schema: SchemaVersion::CURRENT,
        case: case.id.clone(),
        engine: prediction.engine.name.clone(),
        fingerprint: prediction.engine.fingerprint.clone(),
        repetition: prediction.repetition,
        metrics: metrics.into_iter().map(|(name, value)| (name, metric(value))).collect(),
    }
}

fn metric(value: MetricValue) -> StoredMetric {
    match value {
        MetricValue::Value(value) => StoredMetric::Value(value),
        MetricValue::Ratio { num, den } => StoredMetric::Ratio { num, den },
    }
}

#[cfg(test)]
mod tests {
    use cases::{BodyCut, CompletionTask, EngineIdentity, Origin, OriginKind, Status, Tags, Task};

    use super::*;

    fn case(truth: &str) -> Case {
        Case {
            schema: SchemaVersion::CURRENT,
            id: truth.to_owned(),
            hole: String::new(),
            task: Task::Complete(CompletionTask::InnerBlock(BodyCut::RestOfBlock)),
            language: "go".to_owned(),
            block_kind: None,
            path: "a.go".to_owned(),
            byte_range: 0..0,
            line: 0,
            character: 0,
            prefix: "x := ".to_owned(),
            suffix: String::new(),
            truth: truth.to_owned(),
            context: Vec::new(),
            origin: Origin::new(OriginKind::Mined, "t"),
            tags: Tags::new(),
        }
    }

    fn prediction(case: &Case, status: Status) -> Prediction {
        let name = || "e".to_owned();
        let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
        Prediction::empty(case.id.clone(), engine, status)
    }

    fn score(case: &Case, prediction: &Prediction) -> impl Fn(&str) -> Option<f64> + use<> {
        let scores = score_all(std::slice::from_ref(case), std::slice::from_ref(prediction));
        let metrics = scores.into_iter().next().expect("a score").metrics;
        move |name| match metrics.get(name)? {
            StoredMetric::Value(value) => Some(*value),
            StoredMetric::Ratio { num, .. } => Some(*num),
        }
    }

    #[test]
    fn failures_earn_nothing_whatever_the_truth_is() {
        for truth in ["f(a)", ""] {
            let case = case(truth);
            for status in [Status::Error, Status::Timeout, Status::Cancelled] {
                // Failed, regardless of its text.
                let failed =
                    Prediction { text: truth.to_owned(), raw: truth.to_owned(), ..prediction(&case, status) };
                let of = score(&case, &failed);
                for name in ["exact_match", "exact_in_time", "token_exact", "edit_similarity", "in_time"] {
                    assert_eq!(of(name), Some(0.0), "{name} of {status} for {truth:?}");
                }
                assert_eq!(of("restraint"), truth.is_empty().then_some(0.0), "{status}");
                assert_eq!((of("stopping"), of("raw_stopping")), (None, None));
            }
        }
        let empty = case("");
        assert_eq!(score(&empty, &prediction(&empty, Status::Silent))("restraint"), Some(1.0));
    }

    #[test]
    fn late_answers_count_as_none_in_time() {
        let case = case("f(a)");
        let text = || "f(a)".to_owned();
        let late = Prediction { text: text(), raw: text(), late: true, ..prediction(&case, Status::Ok) };
        let of = score(&case, &late);
        assert_eq!(
            (of("exact_match"), of("exact_in_time"), of("in_time")),
            (Some(1.0), Some(0.0), Some(0.0))
        );
        assert_eq!((of("stopping"), of("raw_stopping")), (None, None));
    }

    #[test]
    fn the_engines_own_stopping_is_read_from_its_own_text() {
        let case = case("f(a)");
        let answer = |raw: &str, finish| Prediction {
            text: "f(a)".to_owned(),
            raw: raw.to_owned(),
            finish,
            ..prediction(&case, Status::Ok)
        };
        let of = score(&case, &answer("f(a)\ny := 1\n", Finish::Stop));
        assert_eq!(
            (of("stopping"), of("raw_stopping"), of("raw_goes_on")),
            (Some(1.0), Some(0.0), Some(1.0))
        );
        let of = score(&case, &answer("f(a)", Finish::Stop));
        assert_eq!((of("raw_stopping"), of("raw_cut")), (Some(1.0), Some(0.0)));
        for finish in [Finish::Complete, Finish::Length] {
            let of = score(&case, &answer("f(a)", finish));
            assert_eq!((of("raw_stopping"), of("raw_cut")), (Some(0.0), Some(1.0)), "{finish}");
        }
    }
}
