//! What an editor's test reads from the store of a live trial.

use cases::{AcceptedPart, Opportunity};
use tests::{Project, wait_until};

use crate::lsp::trial::rows;

/// Waits until a row of the store is as wanted, and returns it.
#[track_caller]
pub(crate) fn wait_for_row(
    project: &Project,
    what: &str,
    is_wanted: impl Fn(&Opportunity) -> bool,
) -> Opportunity {
    let mut found = None;
    wait_until(what, || {
        found = rows(project).into_iter().find(|row| is_wanted(row));
        found.is_some()
    });
    found.expect("it was waited for")
}

/// Returns the accepted parts, in order. On a slow machine the rest of a suggestion is an opportunity of its own.
pub(crate) fn parts(project: &Project) -> Vec<AcceptedPart> {
    rows(project).into_iter().flat_map(|row| row.outcome.parts).collect()
}

/// Returns the parts of the last truth that are not blank, with their provenance.
pub(crate) fn spans(row: &Opportunity) -> Vec<(&str, &str)> {
    let truth = row.truth().expect("there is a truth");
    let spans = truth.provenance.iter();
    let spans = spans.map(|span| (truth.text[span.range.clone()].trim(), span.provenance.name()));
    spans.filter(|(text, _)| !text.is_empty()).collect()
}
