//! The last check before code leaves this process: are its files still part of the workspace?

use std::sync::Arc;
use std::time::Duration;

use text::Snippet;
use tokio::time::Instant;

/// How long a check counts. A request that does not wait between its last check and the engine is sent within this time.
const VALIDITY: Duration = Duration::from_millis(5);

/// Decides for each of several paths.
type MayLeave = dyn Fn(&[&str]) -> Vec<bool> + Send + Sync;

/// Decides whether the code of files may leave this process now; cheap to clone.
#[derive(Clone)]
pub struct PathGate {
    may_leave: Arc<MayLeave>,
    /// When the check began that admitted the document's own file, if there was one.
    own_file_admitted: Option<Instant>,
}

impl PathGate {
    /// Creates a gate. `may_leave` decides for each of several paths at the time of the call, and may wait for the disk.
    pub fn new(may_leave: impl Fn(&[&str]) -> Vec<bool> + Send + Sync + 'static) -> PathGate {
        PathGate { may_leave: Arc::new(may_leave), own_file_admitted: None }
    }

    /// Notes that a check that began at this time admitted the document's own file.
    #[must_use]
    pub fn with_own_file_admitted(self, began: Instant) -> PathGate {
        PathGate { own_file_admitted: Some(began), ..self }
    }

    /// Returns for each path whether its file may leave this process now. May wait for the disk.
    pub(crate) fn admits(&self, paths: &[&str]) -> Vec<bool> {
        (self.may_leave)(paths)
    }

    /// Checks the document's own file and the files of its context. May wait for the disk.
    pub(crate) fn check(&self, own_path: &str, context: Vec<Snippet>) -> CheckedContext {
        let began = Instant::now();
        let paths = std::iter::once(own_path).chain(context.iter().map(|item| &*item.path));
        let mut verdicts = self.admits(&paths.collect::<Vec<_>>()).into_iter();
        if verdicts.next() != Some(true) {
            return CheckedContext { snippets: context, admitted: None };
        }
        CheckedContext { snippets: only_admitted(context, verdicts), admitted: Some(began) }
    }

    /// Returns whether the document's own file and all files of the context were admitted just now.
    pub(crate) fn has_just_admitted(&self, context: &CheckedContext) -> bool {
        let admitted = if context.snippets.is_empty() { self.own_file_admitted } else { None };
        context.admitted.max(admitted).is_some_and(|began| began.elapsed() < VALIDITY)
    }
}

/// A context and the last check of its files.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckedContext {
    /// Without the items whose files were not admitted.
    pub(crate) snippets: Vec<Snippet>,
    /// When the check began that admitted the files of all items, and the document's own file.
    pub(crate) admitted: Option<Instant>,
}

/// Returns the items whose verdict is `true`.
pub(crate) fn only_admitted<T>(items: Vec<T>, verdicts: impl IntoIterator<Item = bool>) -> Vec<T> {
    let judged = items.into_iter().zip(verdicts);
    judged.filter_map(|(item, is_admitted)| is_admitted.then_some(item)).collect()
}
