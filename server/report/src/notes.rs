//! What a reader must know besides the numbers: what was not asked, and of which code.

use cases::{Case, Prediction, Run};

/// Remarks on how complete a run is, and on the code that engines could read in it.
pub fn notes(run: &Run, cases: &[Case], predictions: &[Prediction]) -> Vec<String> {
    let asked = cases.len() * run.engines.len() * run.repeat as usize;
    let answered = predictions.len();
    let unfinished =
        (answered < asked).then(|| format!("The run is unfinished: {answered} of {asked} requests."));
    let replayed = run.workspace.as_ref().map(|workspace| workspace.tree_hash.as_str());
    let differs = |case: &Case| replayed.is_some_and(|replayed| case.origin.tree_hash != replayed);
    let other_tree = cases.iter().any(differs).then(|| {
        "The workspace differs from the one the cases were cut from (other tree hash): engines may have seen newer code.".to_owned()
    });
    let without = replayed
        .is_none()
        .then(|| "Replayed without a workspace: engines knew only what stands in the cases.".to_owned());
    [unfinished, other_tree, without].into_iter().flatten().collect()
}
