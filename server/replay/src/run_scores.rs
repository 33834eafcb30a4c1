//! The scores of a run's answers: those stored in its folder by the current scorer; missing ones are computed and stored.

use std::collections::HashMap;
use std::path::Path;

use cases::{Case, CaseId, Prediction, Score};
use scoring::SCORER_VERSION;

use crate::judged_answers::add_verdicts;
use crate::run_folder::{RunContents, ScoresFile};
use crate::score_predictions::score_while;

/// The scores of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunScores {
    /// The scores of the answers, in their order.
    pub scores: Vec<Score>,
    /// Number of the scores that were not stored yet.
    pub computed: usize,
}

/// Returns the scores of a run's answers, and stores those that its folder lacked, so that they are computed once.
pub fn scores_of(folder: &Path, contents: &RunContents) -> RunScores {
    let stored = ScoresFile::of(folder);
    let known = ScoresByKey::read(&stored);
    let mut scores = complete_scores(known, &contents.cases, &contents.predictions, &|| true);
    if scores.computed > 0 {
        stored.replace_unless_changed(&scores.scores);
    }
    add_verdicts(folder, &mut scores.scores);
    scores
}

/// Returns the scores of the answers, in their order: the known ones, and new ones for the rest. They are incomplete once `goes_on`
/// returns false.
pub(crate) fn complete_scores(
    mut known: ScoresByKey,
    cases: &[Case],
    predictions: &[Prediction],
    goes_on: &(impl Fn() -> bool + Sync),
) -> RunScores {
    let known: Vec<Option<Score>> = predictions.iter().map(|prediction| known.take(prediction)).collect();
    let unscored = predictions.iter().zip(&known).filter(|(_, score)| score.is_none());
    let unscored: Vec<&Prediction> = unscored.map(|(prediction, _)| prediction).collect();
    let mut rest = ScoresByKey::new(score_while(cases, &unscored, goes_on));
    let computed = rest.0.len();
    let of_prediction =
        |(prediction, score): (&Prediction, Option<Score>)| score.or_else(|| rest.take(prediction));
    let scores = predictions.iter().zip(known).filter_map(of_prediction).collect();
    RunScores { scores, computed }
}

/// Scores by their prediction.
pub(crate) struct ScoresByKey(HashMap<(CaseId, String, u32), Score>);

impl ScoresByKey {
    /// Reads the scores that the current scorer made. Those of runs before schema 1.3 have no engine name, and those before 1.5 no version
    /// of the scorer.
    pub(crate) fn read(stored: &ScoresFile) -> ScoresByKey {
        let current = stored.read().into_iter().filter(|score| score.scorer == Some(SCORER_VERSION));
        ScoresByKey::new(current)
    }

    pub(crate) fn new(scores: impl IntoIterator<Item = Score>) -> ScoresByKey {
        let key = |score: &Score| (score.case.clone(), score.engine.clone(), score.repetition);
        ScoresByKey(scores.into_iter().map(|score| (key(&score), score)).collect())
    }

    /// Adds scores, in place of known ones of the same predictions.
    pub(crate) fn extend(&mut self, scores: Vec<Score>) {
        self.0.extend(ScoresByKey::new(scores).0);
    }

    pub(crate) fn take(&mut self, prediction: &Prediction) -> Option<Score> {
        let key = (prediction.case.clone(), prediction.engine.name.clone(), prediction.repetition);
        self.0.remove(&key)
    }
}
