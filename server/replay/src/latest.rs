//! What the engines made of a suite's cases when they were last asked.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use cases::{Case, Prediction, Run, Score, suite_hash};

use crate::Error;
use crate::data_folder::DataFolder;
use crate::run_folder::read_answers;
use crate::score::score_all;

/// The newest answers to the cases of a suite.
#[derive(Debug, Default)]
pub struct Latest {
    /// The newest answer of every engine that was ever asked the case, with its score; in the order of the suite, engines in the
    /// order of their names.
    pub answers: Vec<(Prediction, Score)>,
    /// The newest run in which all engines answered the whole suite, as long as it was then.
    pub whole: Option<WholeRun>,
    /// Runs that could not be read.
    pub problems: Vec<Error>,
}

/// A finished run over a whole suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRun {
    /// Its folder.
    pub folder: PathBuf,
    /// How many cases the suite held then.
    pub cases: usize,
}

/// Looks at the last 50 runs of the suite called `name`, which holds `cases` now.
pub fn latest(data: &DataFolder, name: &str, cases: &[Case]) -> Latest {
    let folders = match data.last_runs(name) {
        Ok(folders) => folders,
        Err(problem) => return Latest { problems: vec![problem], ..Latest::default() },
    };
    let mut latest = Latest::default();
    let mut newest: HashMap<(String, String), Prediction> = HashMap::new();
    for folder in folders {
        match read_answers(&folder) {
            Ok((run, predictions)) => {
                latest.take_if_longer(folder, &run, &predictions, cases);
                for prediction in predictions.into_iter().rev() {
                    let key = (prediction.case.clone(), prediction.engine.fingerprint.clone());
                    newest.entry(key).or_insert(prediction);
                }
            }
            // Somebody has taken the number and not begun yet, or never did.
            Err(Error::NotARun { .. }) => {}
            Err(problem) => latest.problems.push(problem),
        }
    }
    latest.answers = scored(cases, newest.into_values());
    latest
}

impl Latest {
    /// Takes the run over a longer beginning of the suite; of two equally long ones the first, which is newer.
    fn take_if_longer(&mut self, folder: PathBuf, run: &Run, predictions: &[Prediction], cases: &[Case]) {
        let known = self.whole.as_ref().map_or(0, |whole| whole.cases);
        let cases = whole_cases(run, predictions, cases);
        if cases > known {
            self.whole = Some(WholeRun { folder, cases });
        }
    }
}

/// The number of cases if the run is a finished one over the suite as it once was, else 0. Suites only grow, so that any former
/// one is the beginning of today's.
fn whole_cases(run: &Run, predictions: &[Prediction], cases: &[Case]) -> usize {
    let answered: HashSet<(&str, &str)> =
        predictions.iter().map(|prediction| (&*prediction.case, &*prediction.engine.fingerprint)).collect();
    let by_all = |case: &&Case| {
        run.engines.iter().all(|config| answered.contains(&(&*case.id, &*config.engine.fingerprint)))
    };
    let count = cases.iter().take_while(by_all).count();
    if run.suite == suite_hash(&cases[..count]) { count } else { 0 }
}

fn scored(cases: &[Case], predictions: impl Iterator<Item = Prediction>) -> Vec<(Prediction, Score)> {
    let places: HashMap<&str, usize> =
        cases.iter().enumerate().map(|(place, case)| (&*case.id, place)).collect();
    let mut predictions: Vec<Prediction> =
        predictions.filter(|prediction| places.contains_key(&*prediction.case)).collect();
    predictions.sort_by_cached_key(|prediction| {
        (places[&*prediction.case], prediction.engine.name.clone(), prediction.engine.fingerprint.clone())
    });
    let scores = score_all(cases, &predictions);
    predictions.into_iter().zip(scores).collect()
}
