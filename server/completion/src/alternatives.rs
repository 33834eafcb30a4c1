//! Alternative completions: further answers of the engine, cleaned and gated like the first one.

use text::Snippet;

use crate::clean::{CleaningContext, clean};
use crate::explain::explain;
use crate::gate;
use crate::settings::CompletionSettings;
use crate::trace::CleanedAlternative;
use crate::workspace_index::DocumentSnapshot;

/// Maximum number of alternatives.
const MAX_ALTERNATIVES: usize = 4;

/// Returns the distinct alternatives to `text` that remain after cleaning and gating. Empty unless the completion was invoked
/// explicitly, and if `text` is empty.
pub(crate) fn alternatives(
    offered: Vec<engines::Alternative>,
    settings: &CompletionSettings,
    snapshot: &DocumentSnapshot,
    offset: usize,
    context: &[Snippet],
    text: &str,
) -> Vec<CleanedAlternative> {
    if !settings.invoked || text.is_empty() || offered.is_empty() {
        return Vec::new();
    }
    let (prefix, suffix) = snapshot.text().split_at(offset);
    let around = CleaningContext::new(snapshot.syntax(), snapshot.document().language, prefix, suffix);
    let mut choice: Vec<CleanedAlternative> = Vec::new();
    for other in offered {
        let (cleaned, cuts) = clean(&other.text, &around);
        let is_known = cleaned == text || choice.iter().any(|known| known.text == cleaned);
        if cleaned.is_empty() || is_known || gate::gate_after(settings, other.confidence).is_some() {
            continue;
        }
        let explanation =
            other.explanation.map(|tokens| explain(tokens, snapshot, offset, context, &cuts, &cleaned));
        choice.push(CleanedAlternative { text: cleaned, explanation });
    }
    choice.truncate(MAX_ALTERNATIVES);
    choice
}
