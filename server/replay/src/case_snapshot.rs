//! The part of a workspace that the request for a case may see.

use cases::{Case, Scenario};
use completion::{DocumentSnapshot, DocumentText, Snippet, WorkspaceIndex};
use syntax::Language;

use crate::leaked_copies::leaked_copies;
use crate::truth_copies::TruthCopies;

/// Returns the code that a request may see: the case's file without its truth, and the workspace without copies of it.
pub(crate) fn case_snapshot(case: &Case, world: &WorkspaceIndex, copies: &TruthCopies) -> DocumentSnapshot {
    let document = DocumentText {
        path: case.path.as_str().into(),
        language: Language::from_name(&case.language)
            .expect("suites with other languages are rejected on reading"),
        text: [case.prefix.as_str(), case.suffix.as_str()].concat().into(),
    };
    // Even engines that read the workspace get an empty one for the other cases.
    let world = if case.allows_workspace() { world.clone() } else { WorkspaceIndex::empty() };
    let snapshot = world
        .snapshot(document)
        .without_files(leaked_copies(case, &world))
        .with_copies(copies.files_with_copies(case));
    match has_own_context(case) {
        true => snapshot.with_context(case.context.iter().map(snippet).collect()),
        false => snapshot,
    }
}

/// Whether the case contains its context. Otherwise context is retrieved by the settings, as in an editor.
pub(crate) fn has_own_context(case: &Case) -> bool {
    let is_frozen = matches!(case.scenario(), Scenario::Rag | Scenario::CrossFile) || case.is_from_history();
    is_frozen || !case.context.is_empty()
}

/// Converts a stored item of context to the form of a request.
pub(crate) fn snippet(item: &cases::ContextItem) -> Snippet {
    Snippet::of_lines(&*item.path, item.start_line..item.end_line, item.text.clone())
}
