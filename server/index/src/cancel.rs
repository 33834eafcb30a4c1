//! Whether an answer is still wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asked between the steps of a search, which ends with what it has once it is set. Clones are one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Sets the flag when dropped.
#[derive(Debug)]
pub struct CancelOnDrop(Cancel);

impl Cancel {
    /// Ends what asks this flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the answer is of no use any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends what asks this flag when the guard is dropped.
    #[must_use]
    pub fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use syntax::{Language, Projects, SourceFile};

    use super::*;
    use crate::{Budget, Index, Query, Strategy, Visit};

    #[test]
    fn a_search_that_is_not_wanted_any_more_finds_nothing() {
        let text = "def make_widget(size):\n    widget = build(size)\n    return widget\n";
        let file = SourceFile { path: "widgets.py".into(), language: Language::Python, text: text.into() };
        let files: Arc<[SourceFile]> = [file].into();
        let recent = [Visit { path: "widgets.py".to_owned(), line: 1 }];
        let prefix = "from widgets import make_widget\n\ndef use(size):\n    widget = make_widget";
        let query =
            Query { path: "main.py", language: Language::Python, prefix, suffix: "", recent: &recent };
        let found = |strategy, cancel| {
            let searcher = Index::build(&files).hide(&[]).until(cancel);
            searcher.retrieve(strategy, &Projects::default(), &query, Budget { tokens: 1024 }).len()
        };
        for strategy in Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::None) {
            let cancel = Cancel::default();
            assert!(found(strategy, cancel.clone()) > 0, "{strategy}");
            drop(cancel.on_drop());
            assert_eq!(found(strategy, cancel), 0, "{strategy}");
        }
    }
}
