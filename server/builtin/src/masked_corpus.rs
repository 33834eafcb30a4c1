//! The corpus as one open file may see it, in a form that can be sent to another thread.

use std::sync::Arc;

use syntax::Language;

use crate::{ContextHint, Corpus, CorpusView, OpenFile, RecentTyping};

/// A corpus without the copy of an open file and without the files hidden from it. It gives access to the corpus only for that
/// file.
#[derive(Clone, Debug)]
pub struct MaskedCorpus {
    corpus: Arc<Corpus>,
    path: Arc<str>,
    language: Language,
    hidden: Vec<Arc<str>>,
    typing: RecentTyping,
}

impl MaskedCorpus {
    /// Masks the file at `path` and the files at `hidden`.
    pub fn new(
        corpus: Arc<Corpus>,
        path: Arc<str>,
        language: Language,
        hidden: Vec<Arc<str>>,
    ) -> MaskedCorpus {
        MaskedCorpus { corpus, path, language, hidden, typing: RecentTyping::default() }
    }

    /// Adds recent typing.
    #[must_use]
    pub fn with_typing(self, typing: RecentTyping) -> MaskedCorpus {
        MaskedCorpus { typing, ..self }
    }

    /// Returns the view from the open file, whose text is `before` and `after` the cursor. Calls `keep_going` after each part of
    /// the work; returns `None` if that returns `false`.
    pub fn view(
        &self,
        before: &str,
        after: &str,
        hints: &[ContextHint<'_>],
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<CorpusView<'_>> {
        let hidden: Vec<&str> = self.hidden.iter().map(|path| &**path).collect();
        let (path, language, typing) = (&self.path, self.language, Some(&self.typing));
        let open = OpenFile { path, language, before, after, hints, hidden: &hidden, recent_typing: typing };
        self.corpus.view_while(&open, keep_going)
    }
}
