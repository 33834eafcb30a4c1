//! Scores the answers of a run while its engines answer other cases.
//!
//! The unit of work is one case with the answers of all engines, so that everything that depends on its truth only is computed once.
//! Requests come first: where the system supports it, the threads that score use only idle time of the cores; elsewhere there is one of
//! them. The rest is scored by all threads after the last request, which waits for none of these: a busy machine may leave them no time.
//! If the run is dropped before, its cases are not scored.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cases::{Case, Prediction, Score};
use completion::use_idle_time;
use scoring::RightFiles;

use crate::machine::cores;
use crate::plan::Attempt;
use crate::score_predictions::{score_case, score_while};

/// Collects answers by case and passes complete cases to threads.
pub(crate) struct BackgroundScorer {
    cases: Arc<[Case]>,
    /// By case: the number of missing answers, and the answers so far.
    pending: Vec<(usize, Vec<Prediction>)>,
    queue: Arc<ScoringQueue>,
}

/// The answers to one case.
struct CaseAnswers {
    /// Index of the case.
    case: usize,
    predictions: Vec<Prediction>,
}

/// The complete cases, shared by the scorer and its threads.
#[derive(Default)]
struct ScoringQueue {
    work: Mutex<ScoringWork>,
    /// Notified when a case waits, and when the queue is closed.
    has_changed: Condvar,
    files: RightFiles,
}

#[derive(Default)]
struct ScoringWork {
    /// Cases that wait for a thread.
    waiting: VecDeque<Arc<CaseAnswers>>,
    /// Cases that threads are scoring.
    running: Vec<Arc<CaseAnswers>>,
    scores: Vec<Score>,
    /// Set when the threads must not take further cases.
    is_closed: bool,
}

impl ScoringQueue {
    fn work(&self) -> MutexGuard<'_, ScoringWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, answers: CaseAnswers) {
        self.work().waiting.push_back(Arc::new(answers));
        self.has_changed.notify_one();
    }

    /// Returns the next case, for which it waits; `None` when the queue is closed.
    fn next(&self) -> Option<Arc<CaseAnswers>> {
        let mut work = self.work();
        while !work.is_closed {
            if let Some(answers) = work.waiting.pop_front() {
                work.running.push(Arc::clone(&answers));
                return Some(answers);
            }
            work = self.has_changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Takes the scores of a case, unless another thread has taken over the case.
    fn complete(&self, answers: &Arc<CaseAnswers>, scores: Vec<Score>) {
        let mut work = self.work();
        if let Some(place) = work.running.iter().position(|running| Arc::ptr_eq(running, answers)) {
            work.running.swap_remove(place);
            work.scores.extend(scores);
        }
    }

    /// Ends the threads after their current cases, and takes over all cases.
    fn close(&self) -> ScoringWork {
        let work =
            std::mem::replace(&mut *self.work(), ScoringWork { is_closed: true, ..ScoringWork::default() });
        self.has_changed.notify_all();
        work
    }
}

impl BackgroundScorer {
    /// Starts the threads for the answers to these attempts, in two lists.
    pub(crate) fn start(cases: &Arc<[Case]>, attempts: [&[Attempt]; 2]) -> BackgroundScorer {
        let scorer = BackgroundScorer::without_threads(cases, attempts);
        for number in 0..cores() {
            let (cases, queue) = (Arc::clone(cases), Arc::clone(&scorer.queue));
            thread::spawn(move || {
                if use_idle_time() || number == 0 {
                    score_cases(&cases, &queue);
                }
            });
        }
        scorer
    }

    fn without_threads(cases: &Arc<[Case]>, attempts: [&[Attempt]; 2]) -> BackgroundScorer {
        let mut pending = vec![(0, Vec::new()); cases.len()];
        for attempt in attempts.into_iter().flatten() {
            pending[attempt.case].0 += 1;
        }
        BackgroundScorer { cases: Arc::clone(cases), pending, queue: Arc::default() }
    }

    /// Takes the answer to a case, by its index.
    pub(crate) fn add(&mut self, case: usize, prediction: Prediction) {
        let (missing, predictions) = &mut self.pending[case];
        predictions.push(prediction);
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            self.queue.add(CaseAnswers { case, predictions: std::mem::take(predictions) });
        }
    }

    /// Returns the scores of all answers, in any order; they are incomplete once `goes_on` returns false. Computes for seconds, so it must
    /// not run on a thread of the runtime.
    pub(crate) fn finish(mut self, goes_on: &(impl Fn() -> bool + Sync)) -> Vec<Score> {
        let ScoringWork { waiting, running, mut scores, .. } = self.queue.close();
        let complete = waiting.iter().chain(&running).flat_map(|answers| &answers.predictions);
        let incomplete = std::mem::take(&mut self.pending);
        let incomplete = incomplete.iter().flat_map(|(_, predictions)| predictions);
        let rest: Vec<&Prediction> = complete.chain(incomplete).collect();
        scores.extend(score_while(&self.cases, &rest, goes_on));
        scores
    }
}

impl Drop for BackgroundScorer {
    /// The scores of a dropped run have no reader.
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn score_cases(cases: &[Case], queue: &ScoringQueue) {
    while let Some(answers) = queue.next() {
        let scores = score_case(&cases[answers.case], &answers.predictions, &queue.files);
        queue.complete(&answers, scores);
    }
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
        let attempts = [Attempt { case: 0, engine: 0, repetition: 0 }];
        let mut scorer = BackgroundScorer::without_threads(&cases, [&attempts, &[]]);
        scorer.add(0, answer(&cases[0], "a", "g(b)"));
        let queue = Arc::clone(&scorer.queue);
        drop(scorer);
        score_cases(&cases, &queue);
        assert_eq!(queue.close().scores, []);
    }

    #[test]
    fn case_of_a_thread_without_processor_time_is_scored_once() {
        let cases: Arc<[Case]> = ["f(a)"].map(case).into();
        let attempts = [Attempt { case: 0, engine: 0, repetition: 0 }];
        let mut scorer = BackgroundScorer::without_threads(&cases, [&attempts, &[]]);
        let prediction = answer(&cases[0], "a", "g(b)");
        scorer.add(0, prediction.clone());
        let queue = Arc::clone(&scorer.queue);
        let slow = queue.next().unwrap();
        let expected = score_all(&cases, &[prediction]);
        assert_eq!(scorer.finish(&|| true), expected);
        queue.complete(&slow, expected);
        assert_eq!(queue.close().scores, [], "the thread comes too late");
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
