//! Scores the answers of a run while its engines answer other cases.
//!
//! The unit of work is one case with the answers of all engines, so that everything that depends on its truth only is computed once.
//! One thread scores while requests run, which leaves the other processors to them; the rest is scored by all threads after the last
//! request.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use cases::{Case, Prediction, Score};
use rayon::prelude::*;

use crate::plan::Attempt;
use crate::score_predictions::{score_all, score_case};

/// Collects answers by case and passes complete cases to a thread.
pub(crate) struct BackgroundScorer {
    cases: Arc<[Case]>,
    /// By case: the number of missing answers, and the answers so far.
    pending: Vec<(usize, Vec<Prediction>)>,
    sender: Sender<CaseAnswers>,
    is_closing: Arc<AtomicBool>,
    worker: JoinHandle<Vec<Score>>,
}

/// The answers to one case.
struct CaseAnswers {
    /// Index of the case.
    case: usize,
    predictions: Vec<Prediction>,
}

impl BackgroundScorer {
    /// Starts the thread for the answers to these attempts.
    pub(crate) fn start(cases: &Arc<[Case]>, attempts: &[Attempt]) -> BackgroundScorer {
        let mut pending = vec![(0, Vec::new()); cases.len()];
        for attempt in attempts {
            pending[attempt.case].0 += 1;
        }
        let (sender, receiver) = mpsc::channel();
        let is_closing = Arc::new(AtomicBool::new(false));
        let (own, closing) = (Arc::clone(cases), Arc::clone(&is_closing));
        let worker = thread::spawn(move || score_cases(&own, receiver, &closing));
        BackgroundScorer { cases: Arc::clone(cases), pending, sender, is_closing, worker }
    }

    /// Takes the answer to a case, by its index.
    pub(crate) fn add(&mut self, case: usize, prediction: Prediction) {
        let (missing, predictions) = &mut self.pending[case];
        predictions.push(prediction);
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            let predictions = std::mem::take(predictions);
            // The thread ends early only by a panic, which `finish` continues.
            let _ = self.sender.send(CaseAnswers { case, predictions });
        }
    }

    /// Returns the scores of all answers, in any order. Waits for the thread, so it must not run on a thread of the runtime.
    pub(crate) fn finish(self) -> Vec<Score> {
        let BackgroundScorer { cases, pending, sender, is_closing, worker } = self;
        is_closing.store(true, Ordering::Relaxed);
        drop(sender);
        let mut scores = worker.join().unwrap_or_else(|reason| panic::resume_unwind(reason));
        let incomplete: Vec<Prediction> =
            pending.into_iter().flat_map(|(_, predictions)| predictions).collect();
        scores.extend(score_all(&cases, &incomplete));
        scores
    }
}

/// Scores cases one after the other while requests run, and those that wait at their end on all processors.
fn score_cases(cases: &[Case], receiver: Receiver<CaseAnswers>, is_closing: &AtomicBool) -> Vec<Score> {
    let score = |answers: &CaseAnswers| score_case(&cases[answers.case], &answers.predictions);
    let (mut scores, mut waiting) = (Vec::new(), Vec::new());
    for answers in receiver {
        if is_closing.load(Ordering::Relaxed) {
            waiting.push(answers);
        } else {
            scores.extend(score(&answers));
        }
    }
    scores.par_extend(waiting.par_iter().flat_map_iter(score));
    scores
}

#[cfg(test)]
mod tests {
    use cases::{EngineIdentity, Status};

    use super::*;
    use crate::score_predictions::tests::case;

    fn answer(case: &Case, engine: &str, text: &str) -> Prediction {
        let name = || engine.to_owned();
        let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
        Prediction { text: text.to_owned(), ..Prediction::empty(case.id.clone(), engine, Status::Ok) }
    }

    #[test]
    fn complete_and_incomplete_cases_get_the_scores_of_a_later_run() {
        let cases: Arc<[Case]> = ["f(a)", "g(b)", "h(c)"].map(case).into();
        let attempts: Vec<Attempt> = (0..3)
            .flat_map(|case| (0..2).map(move |engine| Attempt { case, engine, repetition: 0 }))
            .collect();
        let answers = [(2, "a", "h(c)"), (0, "a", "f(a)"), (2, "b", "h("), (0, "b", ""), (1, "b", "g(b)")];
        let mut scorer = BackgroundScorer::start(&cases, &attempts);
        let mut predictions = Vec::new();
        for (index, engine, text) in answers {
            let prediction = answer(&cases[index], engine, text);
            scorer.add(index, prediction.clone());
            predictions.push(prediction);
        }
        let key = |score: &Score| (score.case.clone(), score.engine.clone());
        let mut scores = scorer.finish();
        scores.sort_by_key(key);
        let mut expected = score_all(&cases, &predictions);
        expected.sort_by_key(key);
        assert_eq!(scores, expected);
    }
}
