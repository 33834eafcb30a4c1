//! Matches the rows of a run with each other.

use std::collections::HashMap;

use cases::{Case, EngineIdentity, Prediction, Run, Score};

use super::RunRows;

/// The scores of a run by their prediction.
pub struct ScoreIndex<'a>(HashMap<(&'a str, &'a str, u32), &'a Score>);

impl<'a> ScoreIndex<'a> {
    /// Indexes the scores of a run.
    pub fn new(rows: &RunRows<'a>) -> ScoreIndex<'a> {
        ScoreIndex(rows.scores.iter().map(|score| (score.key(), score)).collect())
    }

    /// Returns the score of a prediction.
    pub fn get(&self, prediction: &Prediction) -> Option<&'a Score> {
        self.0.get(&prediction.key()).copied()
    }
}

/// Returns the run's engines, and any other engines that answers name.
pub(crate) fn engines(rows: &RunRows<'_>) -> Vec<EngineIdentity> {
    let mut engines: Vec<EngineIdentity> =
        rows.run.engines.iter().map(|config| config.engine.clone()).collect();
    for prediction in rows.predictions {
        if engine_index(&engines, prediction).is_none() {
            engines.push(prediction.engine.clone());
        }
    }
    engines
}

/// Returns the index of the prediction's engine in the list.
pub(crate) fn engine_index(engines: &[EngineIdentity], prediction: &Prediction) -> Option<usize> {
    engines.iter().position(|engine| engine.name == prediction.engine.name)
}

/// Whether the case was cut from another tree than the workspace that engines could read in the run. For cases from history they
/// could read none.
pub(crate) fn is_from_other_tree(run: &Run, case: &Case) -> bool {
    let is_other = |tree_hash: &str| tree_hash != case.origin.tree_hash && !case.is_from_history();
    run.workspace.as_ref().is_some_and(|workspace| is_other(&workspace.tree_hash))
}
