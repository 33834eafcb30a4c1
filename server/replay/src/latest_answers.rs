//! What the engines made of a suite's cases when they were last asked.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use cases::{Case, CaseId, Prediction, Run, Score, suite_hash_of_ids};

use crate::ReplayError;
use crate::data_folder::DataFolder;
use crate::run_folder::{RunContents, read_answers, read_scores};
use crate::score_predictions::score_all;

/// The newest answers to the cases of a suite.
#[derive(Debug, Default)]
pub struct LatestAnswers {
    /// For each case the newest answer of every engine that was asked it, with its score; in the order of the suite, engines in the
    /// order of their names. An engine is its name here: each name has one answer to a case, in the newest run the last one,
    /// whatever the settings and version that it was given with (its fingerprint).
    pub answers: Vec<(Prediction, Score)>,
    /// The newest run in which all engines answered the whole suite, as long as it was then.
    pub suite_run: Option<SuiteRun>,
    /// Runs that could not be read.
    pub problems: Vec<ReplayError>,
}

/// A finished run over a whole suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteRun {
    /// Its folder.
    pub folder: PathBuf,
    /// How many cases the suite held then.
    pub cases: usize,
}

/// Looks at the last 50 runs of the suite called `name`, which holds cases with these `ids` now. Scores are in the runs; only answers
/// without one are scored, such as those of a run that was killed, and only the cases of these are loaded. Before each run it is asked
/// whether to go on; what is found by then is not complete.
pub fn latest_answers(
    data: &DataFolder,
    name: &str,
    ids: &[CaseId],
    load: impl Fn(&str) -> Option<Case>,
    goes_on: impl Fn() -> bool,
) -> LatestAnswers {
    let folders = match data.last_runs(name) {
        Ok(folders) => folders,
        Err(problem) => return LatestAnswers { problems: vec![problem], ..LatestAnswers::default() },
    };
    let mut latest = LatestAnswers::default();
    let mut answered = AnsweredCases::new(ids);
    for folder in folders.into_iter().take_while(|_| goes_on()) {
        match read_answers(&folder) {
            Ok((run, predictions)) => {
                latest.take_if_longer(&folder, &run, &predictions, ids);
                let newest = predictions.into_iter().rev().filter(|prediction| answered.insert(prediction));
                let score = |unscored: &mut Vec<Prediction>| {
                    let cases: HashMap<CaseId, Case> = unscored
                        .iter()
                        .filter_map(|prediction| Some((prediction.case.clone(), load(&prediction.case)?)))
                        .collect();
                    unscored.retain(|prediction| cases.contains_key(&prediction.case));
                    score_all(&cases.into_values().collect::<Vec<_>>(), unscored)
                };
                latest.answers.extend(with_scores(&folder, newest.collect(), score));
            }
            // Somebody has taken the number and not begun yet, or never did.
            Err(ReplayError::NoRun { .. }) => {}
            Err(problem) => latest.problems.push(problem),
        }
    }
    latest.answers.sort_by_cached_key(|(prediction, _)| answered.place(prediction));
    latest
}

/// Which cases have an answer of which engine already, while answers are looked at from the newest to the oldest.
struct AnsweredCases<'a> {
    places: HashMap<&'a str, usize>,
    seen: HashSet<(usize, String)>,
}

impl<'a> AnsweredCases<'a> {
    fn new(ids: &'a [CaseId]) -> AnsweredCases<'a> {
        let places = ids.iter().enumerate().map(|(place, id)| (&**id, place)).collect();
        AnsweredCases { places, seen: HashSet::new() }
    }

    /// False for all answers but the first of an engine to a case, and for those to cases that the suite does not hold. What an
    /// engine of the same name answered with other settings, or before an upgrade, is no answer of today's.
    fn insert(&mut self, prediction: &Prediction) -> bool {
        self.place(prediction).is_some_and(|place| self.seen.insert(place))
    }

    /// Where an answer stands among those to the suite.
    fn place(&self, prediction: &Prediction) -> Option<(usize, String)> {
        let case = *self.places.get(&*prediction.case)?;
        Some((case, prediction.engine.name.clone()))
    }
}

/// The scores of a run's answers. They stand in its folder; only what has none there is scored.
pub fn scores_of(folder: &Path, contents: &RunContents) -> Vec<Score> {
    let score = |unscored: &mut Vec<Prediction>| score_all(&contents.cases, unscored);
    let scored = with_scores(folder, contents.predictions.clone(), score);
    scored.into_iter().map(|(_, score)| score).collect()
}

/// Puts to predictions of the run in `folder` the scores that are there, and to the others those that `score_predictions` computes.
fn with_scores(
    folder: &Path,
    predictions: Vec<Prediction>,
    score: impl FnOnce(&mut Vec<Prediction>) -> Vec<Score>,
) -> Vec<(Prediction, Score)> {
    if predictions.is_empty() {
        return Vec::new();
    }
    let rows = read_scores(folder).into_iter();
    // Scores of older runs name no engine and are computed anew.
    let mut stored: HashMap<_, _> =
        rows.map(|score| ((score.case.clone(), score.engine.clone(), score.repetition), score)).collect();
    let (mut scored, mut unscored) = (Vec::new(), Vec::new());
    for prediction in predictions {
        let key = (prediction.case.clone(), prediction.engine.name.clone(), prediction.repetition);
        match stored.remove(&key) {
            Some(score) => scored.push((prediction, score)),
            None => unscored.push(prediction),
        }
    }
    let scores = if unscored.is_empty() { Vec::new() } else { score(&mut unscored) };
    scored.extend(unscored.into_iter().zip(scores));
    scored
}

impl LatestAnswers {
    /// Takes the run over a longer beginning of the suite; of two equally long ones the first, which is newer.
    fn take_if_longer(&mut self, folder: &Path, run: &Run, predictions: &[Prediction], ids: &[CaseId]) {
        let known = self.suite_run.as_ref().map_or(0, |whole| whole.cases);
        let cases = complete_case_count(run, predictions, ids);
        if cases > known {
            self.suite_run = Some(SuiteRun { folder: folder.to_owned(), cases });
        }
    }
}

/// The number of cases if the run is a finished one over the suite as it once was, else 0. Suites only grow, so that any former
/// one is the beginning of today's.
fn complete_case_count(run: &Run, predictions: &[Prediction], ids: &[CaseId]) -> usize {
    let answered: HashSet<(&str, &str)> =
        predictions.iter().map(|prediction| (&*prediction.case, &*prediction.engine.name)).collect();
    let by_all = |id: &&CaseId| {
        run.engines.iter().all(|config| answered.contains(&(id.as_str(), &*config.engine.name)))
    };
    let count = ids.iter().take_while(by_all).count();
    if run.suite == suite_hash_of_ids(ids[..count].iter().map(String::as_str)) { count } else { 0 }
}
