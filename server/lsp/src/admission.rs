//! Which documents take part at all: what is secret, ignored or too large is neither sent to an engine nor recorded.

use std::sync::Arc;

use workspace::SkipReason;

use crate::beside::beside;
use crate::documents::OpenDocument;
use crate::folders::Home;
use crate::locks::lock;

/// Why nothing of a document may be sent or recorded, if so. What the disk says is asked once for each folder that holds it.
pub(crate) async fn refusal(document: &OpenDocument, home: &Home) -> Option<String> {
    if let Some(reason) = by_itself(document) {
        return Some(reason);
    }
    let folder = home.folder.clone().filter(|_| home.is_inside)?;
    let known = lock(&document.session.left_out).get(&folder.root).copied();
    let left_out = match known {
        Some(known) => known,
        None => {
            let (root, path) = (folder.root.clone(), Arc::clone(&home.path));
            let judged = beside(move || Ok::<_, String>(workspace::admits(&root, &path))).await.ok()?;
            let reason = judged.err().filter(|reason| keeps_out(*reason));
            lock(&document.session.left_out).insert(folder.root.clone(), reason);
            reason
        }
    };
    left_out.map(|reason| format!("it is left out of the workspace: {}", reason.name()))
}

/// What can be told without looking at the disk.
fn by_itself(document: &OpenDocument) -> Option<String> {
    let name = document.path.as_ref().and_then(|path| path.file_name());
    if name.is_some_and(|name| workspace::is_secret_like(&name.to_string_lossy())) {
        return Some("by its name it holds secrets".to_owned());
    }
    if document.language.is_none() {
        return Some("its language is not known here".to_owned());
    }
    let is_too_large = document.rope.len() > completion::MAX_DOCUMENT_BYTES;
    is_too_large.then(|| completion::Gate::DocumentTooLarge.to_string())
}

/// Whether what keeps a file out of the index keeps its document out of engines too. Hidden files, other checkouts and files behind
/// links are people's own code.
fn keeps_out(reason: SkipReason) -> bool {
    use SkipReason as R;
    matches!(reason, R::Ignored | R::SecretLike | R::Oversized | R::Dependencies | R::BuildOutput | R::Run)
}
