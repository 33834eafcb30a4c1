//! Remarks on a run besides its numbers: missing requests, and the code that engines could read.

use std::collections::HashSet;

use cases::{Case, EngineConfig, Prediction, Run};

use crate::run_rows;

/// Returns remarks on the completeness of a run, and on the code that engines could read in it.
pub fn notes(run: &Run, cases: &[Case], predictions: &[Prediction]) -> Vec<String> {
    let asked: usize = run.engines.iter().map(|engine| requests(run, engine, cases, predictions)).sum();
    let answered = predictions.len();
    let unfinished =
        (answered < asked).then(|| format!("The run is unfinished: {answered} of {asked} requests."));
    let other_tree = cases.iter().any(|case| run_rows::is_from_other_tree(run, case)).then(|| {
        "The workspace differs from the one the cases were cut from (other tree hash): engines may have seen newer code.".to_owned()
    });
    let without = run
        .workspace
        .is_none()
        .then(|| "Replayed without a workspace: engines had only the code in the cases.".to_owned());
    [unfinished, other_tree, without].into_iter().flatten().collect()
}

/// Returns the number of requests that the run makes to an engine. An engine without copies gets only the cases with copies,
/// unless its answers show that it gets all cases (`--no-copies all`, and runs before schema 1.3).
fn requests(run: &Run, engine: &EngineConfig, cases: &[Case], predictions: &[Prediction]) -> usize {
    let affected: HashSet<&str> = run.copies.iter().map(|copies| copies.case.as_str()).collect();
    let hides = engine.settings.get("hide_near_duplicates").is_some_and(|hides| hides == "true");
    let is_unaffected =
        |row: &Prediction| row.engine.name == engine.engine.name && !affected.contains(row.case.as_str());
    let asks_all = !hides || affected.is_empty() || predictions.iter().any(is_unaffected);
    run.repeat as usize * if asks_all { cases.len() } else { affected.len() }
}
