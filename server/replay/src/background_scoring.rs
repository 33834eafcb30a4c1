//! Scores the answers of a run while its engines answer other cases.
//!
//! The unit of work is one case with the answers of all engines, so that everything that depends on its truth only is computed once.
//! Requests have priority: where the system supports it, the threads that score have a lower priority; elsewhere there is one of them.
//! The rest is scored by all threads after the last request. If the run is dropped before, its cases are not scored.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use cases::{Case, Prediction, Score};
use completion::lower_thread_priority;
use scoring::RightFiles;

use crate::machine::cores;
use crate::plan::Attempt;
use crate::score_predictions::{score_case, score_while};

/// Collects answers by case and passes complete cases to threads.
pub(crate) struct BackgroundScorer {
    cases: Arc<[Case]>,
    /// By case: the number of missing answers, and the answers so far.
    pending: Vec<(usize, Vec<Prediction>)>,
    /// `None` once no more cases follow.
    sender: Option<Sender<CaseAnswers>>,
    queue: Arc<Queue>,
    workers: Vec<JoinHandle<Vec<Score>>>,
}

/// The answers to one case.
struct CaseAnswers {
    /// Index of the case.
    case: usize,
    predictions: Vec<Prediction>,
}

/// The complete cases that wait for a thread.
struct Queue {
    receiver: Mutex<Receiver<CaseAnswers>>,
    /// Set when the threads must not take further cases.
    is_closed: AtomicBool,
    files: RightFiles,
}

impl Queue {
    fn receiver(&self) -> MutexGuard<'_, Receiver<CaseAnswers>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next case, for which it may wait; `None` if there is none or the queue is closed.
    fn next(&self) -> Option<CaseAnswers> {
        let receiver = self.receiver();
        if self.is_closed.load(Ordering::Relaxed) { None } else { receiver.recv().ok() }
    }
}

impl BackgroundScorer {
    /// Starts the threads for the answers to these attempts, in two lists.
    pub(crate) fn start(cases: &Arc<[Case]>, attempts: [&[Attempt]; 2]) -> BackgroundScorer {
        let mut pending = vec![(0, Vec::new()); cases.len()];
        for attempt in attempts.into_iter().flatten() {
            pending[attempt.case].0 += 1;
        }
        let (sender, receiver) = mpsc::channel();
        let queue = Arc::new(Queue {
            receiver: Mutex::new(receiver),
            is_closed: AtomicBool::new(false),
            files: RightFiles::default(),
        });
        let workers = (0..cores())
            .map(|number| {
                let (cases, queue) = (Arc::clone(cases), Arc::clone(&queue));
                let is_needed = move || lower_thread_priority() || number == 0;
                thread::spawn(move || if is_needed() { score_cases(&cases, &queue) } else { Vec::new() })
            })
            .collect();
        BackgroundScorer { cases: Arc::clone(cases), pending, sender: Some(sender), queue, workers }
    }

    /// Takes the answer to a case, by its index.
    pub(crate) fn add(&mut self, case: usize, prediction: Prediction) {
        let (missing, predictions) = &mut self.pending[case];
        predictions.push(prediction);
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            let predictions = std::mem::take(predictions);
            // The queue lives as long as `self`.
            let _ = self.sender.as_ref().map(|sender| sender.send(CaseAnswers { case, predictions }));
        }
    }

    /// Returns the scores of all answers, in any order; they are incomplete once `goes_on` returns false. Waits for the threads, so it
    /// must not run on a thread of the runtime.
    pub(crate) fn finish(mut self, goes_on: &(impl Fn() -> bool + Sync)) -> Vec<Score> {
        self.close();
        let waiting =
            self.queue.receiver().try_iter().flat_map(|answers| answers.predictions).collect::<Vec<_>>();
        let incomplete =
            std::mem::take(&mut self.pending).into_iter().flat_map(|(_, predictions)| predictions);
        let rest: Vec<Prediction> = waiting.into_iter().chain(incomplete).collect();
        let mut scores = score_while(&self.cases, &rest, goes_on);
        for worker in std::mem::take(&mut self.workers) {
            scores.extend(worker.join().unwrap_or_else(|reason| panic::resume_unwind(reason)));
        }
        scores
    }

    /// Ends the threads after their current cases.
    fn close(&mut self) {
        self.queue.is_closed.store(true, Ordering::Relaxed);
        self.sender = None;
    }
}

impl Drop for BackgroundScorer {
    /// The scores of a dropped run have no reader.
    fn drop(&mut self) {
        self.close();
    }
}

fn score_cases(cases: &[Case], queue: &Queue) -> Vec<Score> {
    let mut scores = Vec::new();
    while let Some(CaseAnswers { case, predictions }) = queue.next() {
        scores.extend(score_case(&cases[case], &predictions, &queue.files));
    }
    scores
}

#[cfg(test)]
mod tests {
    use cases::{EngineIdentity, Status};

    use super::*;
    use crate::score_predictions::score_all;
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
        let mut scorer = BackgroundScorer::start(&cases, [&attempts, &[]]);
        let mut predictions = Vec::new();
        for (index, engine, text) in answers {
            let prediction = answer(&cases[index], engine, text);
            scorer.add(index, prediction.clone());
            predictions.push(prediction);
        }
        let key = |score: &Score| (score.case.clone(), score.engine.clone());
        let mut scores = scorer.finish(&|| true);
        scores.sort_by_key(key);
        let mut expected = score_all(&cases, &predictions);
        expected.sort_by_key(key);
        assert_eq!(scores, expected);
    }

    #[test]
    fn dropped_scorer_leaves_waiting_cases_unscored() {
        let cases: Arc<[Case]> = ["f(a)"].map(case).into();
        let mut scorer =
            BackgroundScorer::start(&cases, [&[Attempt { case: 0, engine: 0, repetition: 0 }], &[]]);
        let (queue, workers) = (Arc::clone(&scorer.queue), std::mem::take(&mut scorer.workers));
        let sender = scorer.sender.clone().unwrap();
        drop(scorer);
        for _ in 0..100 {
            let predictions = vec![answer(&cases[0], "a", "g(b)")];
            sender.send(CaseAnswers { case: 0, predictions }).unwrap();
        }
        drop(sender);
        let scored = workers.into_iter().flat_map(|worker| worker.join().unwrap()).count();
        assert!(scored <= 1, "one thread may have waited for a case already: {scored}");
        assert_eq!(queue.receiver().try_iter().count(), 100 - scored);
    }

    #[test]
    fn stopped_scorer_skips_the_rest() {
        let cases: Arc<[Case]> = ["f(a)", "g(b)"].map(case).into();
        let attempts: Vec<Attempt> =
            (0..4).map(|number| Attempt { case: number / 2, engine: number % 2, repetition: 0 }).collect();
        let mut scorer = BackgroundScorer::start(&cases, [&attempts, &[]]);
        scorer.add(0, answer(&cases[0], "a", "f(a)"));
        assert_eq!(scorer.finish(&|| false), []);
    }
}
