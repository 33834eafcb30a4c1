//! The latest answers of engines to the cases of a suite.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use cases::{Case, CaseId, Prediction, Run, Score, suite_hash_of_ids};

use crate::ReplayError;
use crate::data_folder::DataFolder;
use crate::judged_answers::add_verdicts;
use crate::run_folder::{ScoresFile, read_answers};
use crate::run_scores::ScoresByKey;
use crate::score_predictions::score_all;

/// The latest answers to the cases of a suite.
#[derive(Debug, Default)]
pub struct LatestAnswers {
    /// For each case the latest answer of every engine that ran on it, with its score; ordered by case as in the suite, then
    /// by engine name. Engines are identified by name: each has one answer per case, the last one in the newest run,
    /// regardless of its settings and version (its fingerprint).
    pub answers: Vec<(Prediction, Score)>,
    /// The newest run in which all engines answered the whole suite, as it was at that time.
    pub suite_run: Option<SuiteRun>,
    /// Runs that could not be read.
    pub problems: Vec<ReplayError>,
}

/// A finished run over a whole suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteRun {
    /// Its folder.
    pub folder: PathBuf,
    /// Number of cases in the suite at that time.
    pub cases: usize,
}

/// Reads the last 50 runs of the suite called `name`, whose cases currently have these `ids`. Scores are read from the runs;
/// only answers without one, such as those of a killed run, are scored, and only their cases are loaded. `goes_on` is called
/// before each run; if it returns false, the result is incomplete.
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
                latest.answers.extend(with_scores(&folder, newest.collect(), &load));
            }
            // Another process created the folder and has not written the run yet, or was killed.
            Err(ReplayError::NoRun { .. }) => {}
            Err(problem) => latest.problems.push(problem),
        }
    }
    latest.answers.sort_by_cached_key(|(prediction, _)| answered.place(prediction));
    latest
}

/// The pairs of case and engine that have an answer, while answers are read from the newest to the oldest.
struct AnsweredCases<'a> {
    places: HashMap<&'a str, usize>,
    seen: HashSet<(usize, String)>,
}

impl<'a> AnsweredCases<'a> {
    fn new(ids: &'a [CaseId]) -> AnsweredCases<'a> {
        let places = ids.iter().enumerate().map(|(place, id)| (&**id, place)).collect();
        AnsweredCases { places, seen: HashSet::new() }
    }

    /// Returns true for the first answer of an engine to a case of the suite. Older answers of an engine with the same name,
    /// perhaps with other settings or before an upgrade, are ignored.
    fn insert(&mut self, prediction: &Prediction) -> bool {
        self.place(prediction).is_some_and(|place| self.seen.insert(place))
    }

    /// Returns the sort key of an answer; `None` if its case is not in the suite.
    fn place(&self, prediction: &Prediction) -> Option<(usize, String)> {
        let case = *self.places.get(&*prediction.case)?;
        Some((case, prediction.engine.name.clone()))
    }
}

/// Pairs the predictions of the run in `folder` with their stored scores, or with new ones; `load` returns their cases.
fn with_scores(
    folder: &Path,
    predictions: Vec<Prediction>,
    load: impl Fn(&str) -> Option<Case>,
) -> Vec<(Prediction, Score)> {
    if predictions.is_empty() {
        return Vec::new();
    }
    let mut stored = ScoresByKey::read(&ScoresFile::of(folder));
    let (mut scored, mut unscored) = (Vec::new(), Vec::new());
    for prediction in predictions {
        match stored.take(&prediction) {
            Some(score) => scored.push((prediction, score)),
            None => unscored.push(prediction),
        }
    }
    let ids: HashSet<&str> = unscored.iter().map(|prediction| &*prediction.case).collect();
    let cases: Vec<Case> = ids.into_iter().filter_map(load).collect();
    let ids: HashSet<&str> = cases.iter().map(|case| &*case.id).collect();
    unscored.retain(|prediction| ids.contains(&*prediction.case));
    let scores = score_all(&cases, &unscored);
    scored.extend(unscored.into_iter().zip(scores));
    add_verdicts(folder, scored.iter_mut().map(|(_, score)| score));
    scored
}

impl LatestAnswers {
    /// Keeps the run if it covers more cases than the known one; of equal runs the first, which is newer.
    fn take_if_longer(&mut self, folder: &Path, run: &Run, predictions: &[Prediction], ids: &[CaseId]) {
        let known = self.suite_run.as_ref().map_or(0, |whole| whole.cases);
        let cases = complete_case_count(run, predictions, ids);
        if cases > known {
            self.suite_run = Some(SuiteRun { folder: folder.to_owned(), cases });
        }
    }
}

/// Returns the number of cases if the run is a finished one over the suite or an earlier version of it, else 0. Suites only
/// grow, so an earlier version is a prefix of the current one.
fn complete_case_count(run: &Run, predictions: &[Prediction], ids: &[CaseId]) -> usize {
    let answered: HashSet<(&str, &str)> =
        predictions.iter().map(|prediction| (&*prediction.case, &*prediction.engine.name)).collect();
    let count = ids
        .iter()
        .take_while(|id| {
            run.engines.iter().all(|config| answered.contains(&(id.as_str(), &*config.engine.name)))
        })
        .count();
    if run.suite == suite_hash_of_ids(ids[..count].iter().map(String::as_str)) { count } else { 0 }
}
