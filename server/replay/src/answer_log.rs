//! The answers of a running replay: in memory, and row by row in the run's folder.
//!
//! Knows which answers repeat a failed request, and which requests were not made because their answer is that of another engine.

use std::collections::{HashMap, HashSet};

use cases::{CaseId, EngineIdentity, Prediction};

use crate::ReplayError;
use crate::execute::PlannedAttempts;
use crate::plan::Attempt;
use crate::run_folder::RunFolder;
use crate::runner::{RunInputs, engine_identity};

/// Case, engine name and repetition of an answer.
type AnswerKey = (CaseId, String, u32);

fn key_of(row: &Prediction) -> AnswerKey {
    (row.case.clone(), row.engine.name.clone(), row.repetition)
}

/// A request that was not made.
struct ReusedAnswer {
    /// Index of the case.
    case: usize,
    /// The engine that gets the answer.
    engine: EngineIdentity,
}

/// The answers of a run so far.
pub(crate) struct AnswerLog<'a> {
    rows: &'a mut RunFolder,
    /// All answers; an answer to a repeated request is at the place of the failed one.
    pub(crate) predictions: Vec<Prediction>,
    /// Number of planned answers that are missing.
    pub(crate) missing: usize,
    /// Places of failed answers whose request is repeated.
    pub(crate) repeated: HashMap<AnswerKey, usize>,
    /// By the key of the answer that they wait for.
    reused: HashMap<AnswerKey, Vec<ReusedAnswer>>,
    /// Answers that are yet to be requested.
    awaited: HashSet<AnswerKey>,
}

impl<'a> AnswerLog<'a> {
    /// Starts with the answers in `done`. Scores of answers whose request is repeated are removed from the folder first: they would be
    /// taken for those of the new answers.
    pub(crate) fn new(
        rows: &'a mut RunFolder,
        done: Vec<Prediction>,
        inputs: &RunInputs,
        attempts: &PlannedAttempts,
    ) -> Result<AnswerLog<'a>, ReplayError> {
        let key = |attempt: &Attempt, name: &str| {
            (inputs.cases[attempt.case].id.clone(), name.to_owned(), attempt.repetition)
        };
        let own_key = |attempt: &Attempt| key(attempt, inputs.engines[attempt.engine].name());
        let planned: HashSet<AnswerKey> =
            attempts.requests.iter().chain(&attempts.reused).map(own_key).collect();
        let places = done.iter().enumerate().map(|(place, row)| (key_of(row), place));
        let repeated: HashMap<AnswerKey, usize> = places.filter(|(key, _)| planned.contains(key)).collect();
        let mut reused: HashMap<AnswerKey, Vec<ReusedAnswer>> = HashMap::new();
        for attempt in &attempts.reused {
            let (engine, case) = (&inputs.engines[attempt.engine], &inputs.cases[attempt.case]);
            let Some(base) = inputs.copies.engine_with_same_request(engine, case) else { continue };
            let answer = ReusedAnswer { case: attempt.case, engine: engine_identity(engine) };
            reused.entry(key(attempt, base)).or_default().push(answer);
        }
        if !repeated.is_empty() {
            rows.remove_scores(|case, engine, repetition| {
                repeated.contains_key(&(case.to_owned(), engine.to_owned(), repetition))
            })?;
        }
        Ok(AnswerLog {
            rows,
            predictions: done,
            missing: attempts.requests.len() + attempts.reused.len(),
            repeated,
            reused,
            awaited: attempts.requests.iter().map(own_key).collect(),
        })
    }

    /// Adds the answers that are reused from answers of an earlier process; passes each with the index of its case to `added`.
    pub(crate) fn reuse_known_answers(
        &mut self,
        mut added: impl FnMut(usize, Prediction),
    ) -> Result<(), ReplayError> {
        let known: Vec<Prediction> = self
            .predictions
            .iter()
            .filter(|row| {
                let key = key_of(row);
                self.reused.contains_key(&key) && !self.awaited.contains(&key)
            })
            .cloned()
            .collect();
        known.iter().try_for_each(|row| self.reuse(row, &mut added))
    }

    /// Adds an answer, and those that are reused from it; passes each with the index of its case to `added`.
    pub(crate) fn record(
        &mut self,
        case: usize,
        prediction: Prediction,
        mut added: impl FnMut(usize, Prediction),
    ) -> Result<(), ReplayError> {
        let prediction = self.add(prediction)?;
        added(case, prediction.clone());
        self.reuse(&prediction, &mut added)
    }

    fn reuse(
        &mut self,
        base: &Prediction,
        added: &mut impl FnMut(usize, Prediction),
    ) -> Result<(), ReplayError> {
        for ReusedAnswer { case, engine } in self.reused.remove(&key_of(base)).unwrap_or_default() {
            // It costs nothing.
            let row = Prediction { engine, reused: true, cost: None, attempt: 1, ..base.clone() };
            added(case, self.add(row)?);
        }
        Ok(())
    }

    /// Appends a row with the number of its attempt, and returns it.
    fn add(&mut self, mut row: Prediction) -> Result<Prediction, ReplayError> {
        let place = self.repeated.get(&key_of(&row)).copied();
        if let Some(place) = place {
            row.attempt = self.predictions[place].attempt.saturating_add(1);
        }
        self.rows.append(&row)?;
        match place {
            Some(place) => self.predictions[place] = row.clone(),
            None => self.predictions.push(row.clone()),
        }
        self.missing -= 1;
        Ok(row)
    }
}
