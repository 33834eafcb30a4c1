//! Cancellation of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Checked between the steps of a search, which returns its results so far once the flag is set. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// Number of checks, and the check that sets the flag; for tests.
    #[cfg(test)]
    asked: std::sync::atomic::AtomicUsize,
    #[cfg(test)]
    sets_itself_after: Option<usize>,
}

/// Sets the flag when dropped.
#[derive(Debug)]
pub struct CancelOnDrop(CancelFlag);

impl CancelFlag {
    /// Sets the flag.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        #[cfg(test)]
        if Some(self.0.asked.fetch_add(1, Ordering::Relaxed)) == self.0.sets_itself_after {
            self.cancel();
        }
        self.0.is_set.load(Ordering::Relaxed)
    }

    /// Sets the flag when the guard is dropped.
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
    use crate::{Index, RecentLocation, RetrievalQuery, Strategy, TokenBudget};

    const PREFIX: &str = "from widgets import make_widget\n\ndef use(size):\n    widget = make_widget";

    /// Many files that all share words, names and functions with the query.
    fn many_files() -> Arc<[SourceFile]> {
        let text = |number: usize| {
            format!(
                "def make_widget(size):\n    widget = build_{number}(size)\n    return widget\n\n\ndef use_{number}(size):\n    \
                 return make_widget(size)\n"
            )
        };
        (0..40)
            .map(|number| SourceFile {
                path: if number == 0 {
                    "widgets.py".into()
                } else {
                    format!("a{number}/w{number}.py").into()
                },
                language: Language::Python,
                text: text(number).into(),
            })
            .collect()
    }

    /// The hits of a search with `cancel`.
    fn hits(index: &Index, strategy: Strategy, cancel: &CancelFlag) -> usize {
        let recent = [RecentLocation { path: "widgets.py".to_owned(), line: 1 }];
        let (path, language) = ("main.py", Language::Python);
        let query = RetrievalQuery { path, language, prefix: PREFIX, suffix: "", recent: &recent };
        let searcher = index.hide(&[]).with_cancel(cancel.clone());
        searcher.retrieve(strategy, &Projects::default(), &query, TokenBudget { tokens: 1024 }).len()
    }

    #[test]
    fn cancelled_search_stops_within_a_few_checks() {
        let index = Index::build(&many_files());
        for strategy in Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::None) {
            let whole = CancelFlag::default();
            assert!(hits(&index, strategy, &whole) > 0, "{strategy}");
            let asked = whole.0.asked.load(Ordering::Relaxed);
            let least = if strategy == Strategy::Recent { 2 } else { 5 };
            assert!(asked >= least, "{strategy} asks {asked} times on its way");
            for after in 0..asked {
                let cancel = CancelFlag(Arc::new(Flag { sets_itself_after: Some(after), ..Flag::default() }));
                hits(&index, strategy, &cancel);
                let more = cancel.0.asked.load(Ordering::Relaxed) - after;
                // One check for each remaining step; nothing is searched between them.
                assert!(
                    more <= 12,
                    "{strategy} goes on for {more} steps when cancelled at {after} of {asked}"
                );
            }
        }
    }

    #[test]
    fn cancelled_search_has_no_hits() {
        let index = Index::build(&many_files());
        for strategy in Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::None) {
            let cancel = CancelFlag::default();
            drop(cancel.on_drop());
            assert_eq!(hits(&index, strategy, &cancel), 0, "{strategy}");
        }
    }
}
