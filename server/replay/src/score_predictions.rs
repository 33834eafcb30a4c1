//! Scores predictions. Those of a case are scored together, and cases of a file one after the other, so that everything that depends
//! on the truth or its file only is computed once.

use std::borrow::Borrow;
use std::collections::HashMap;

use benchmarks::FunctionScorer;
use cases::{Case, Prediction, Score};
use rayon::prelude::*;
use scoring::{CaseScorer, RightFiles, SCORER_VERSION, ScoringInput};

/// Scores the predictions for one case, in their order. `files` may be shared with other cases.
pub(crate) fn score_case<'a>(
    case: &Case,
    predictions: impl IntoIterator<Item = &'a Prediction>,
    files: &RightFiles,
) -> Vec<Score> {
    if !case.task.has_cursor() {
        return score_functions(case, predictions);
    }
    let scorer = CaseScorer::new(ScoringInput::from(case), files);
    predictions.into_iter().map(|prediction| scorer.score_prediction(prediction)).collect()
}

/// Scores the answers to a case without a cursor by its benchmark's rules.
fn score_functions<'a>(case: &Case, predictions: impl IntoIterator<Item = &'a Prediction>) -> Vec<Score> {
    let Some(scorer) = FunctionScorer::new(case) else { return Vec::new() };
    let score = |prediction: &Prediction| Score::new(prediction, SCORER_VERSION, scorer.metrics(prediction));
    predictions.into_iter().map(score).collect()
}

/// Scores every prediction whose case is in `cases`, in the order of the predictions.
pub fn score_all<P: Borrow<Prediction> + Sync>(cases: &[Case], predictions: &[P]) -> Vec<Score> {
    score_while(cases, predictions, &|| true)
}

/// Scores predictions until `goes_on`, which is called before each case, returns false; then the rest is left out.
pub(crate) fn score_while<P: Borrow<Prediction> + Sync>(
    cases: &[Case],
    predictions: &[P],
    goes_on: &(impl Fn() -> bool + Sync),
) -> Vec<Score> {
    let mut of_case: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, prediction) in predictions.iter().enumerate() {
        of_case.entry(&prediction.borrow().case).or_default().push(place);
    }
    let score_answered = |case: &Case, files: &RightFiles| -> Vec<(usize, Score)> {
        let places = &of_case[&*case.id];
        let answers = places.iter().map(|&place| predictions[place].borrow());
        places.iter().copied().zip(score_case(case, answers, files)).collect()
    };
    let mut answered: Vec<&Case> = cases.iter().filter(|case| of_case.contains_key(&*case.id)).collect();
    answered.sort_by_cached_key(|case| file_key(case));
    let of_file = |cases: &[&Case]| -> Vec<(usize, Score)> {
        let files = RightFiles::default();
        cases.iter().take_while(|_| goes_on()).flat_map(|case| score_answered(case, &files)).collect()
    };
    let cases_of_files = answered.par_chunk_by(|a, b| a.path == b.path);
    let mut scores: Vec<(usize, Score)> = cases_of_files.flat_map_iter(of_file).collect();
    scores.sort_unstable_by_key(|&(place, _)| place);
    scores.into_iter().map(|(_, score)| score).collect()
}

/// Returns a key by which cases with the same file, and the same length of it, are neighbours. Cases of a scenario may lack the end of
/// their file.
fn file_key(case: &Case) -> (&str, usize) {
    (&case.path, case.prefix.len() + case.truth.len() + case.suffix.len())
}

#[cfg(test)]
pub(crate) mod tests {
    use cases::{
        BodyCut, CompletionTask, EngineIdentity, Finish, Metric, MetricValue, Origin, OriginKind, Status,
        Tags, Task,
    };

    use super::*;

    pub(crate) fn case(truth: &str) -> Case {
        Case {
            schema: cases::SchemaVersion::CURRENT,
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
            function: None,
            tests: None,
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
        move |name| match metrics.get(&name.parse::<Metric>().expect("a metric"))? {
            MetricValue::Value(value) => Some(*value),
            MetricValue::Ratio { num, .. } => Some(*num),
        }
    }

    #[test]
    fn failed_answers_score_zero_even_for_an_empty_truth() {
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
    fn late_answers_score_zero_in_metrics_in_time() {
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
    fn raw_stopping_is_measured_on_the_raw_text() {
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
