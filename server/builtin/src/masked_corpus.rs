//! The corpus as one open file may see it, in a form that can be sent to another thread.

use std::sync::Arc;

use syntax::{Language, SyntaxCache};
use text::Snippet;

use crate::{Corpus, CorpusView, OpenFile, RecentTyping};

/// A corpus without the copy of an open file and without the files hidden from it. It gives access to the corpus only for that
/// file.
#[derive(Clone, Debug)]
pub struct MaskedCorpus {
    corpus: Arc<Corpus>,
    path: Arc<str>,
    language: Language,
    hidden: Vec<Arc<str>>,
    /// The tokens of the file from earlier requests.
    syntax: SyntaxCache,
}

impl MaskedCorpus {
    /// Masks the file at `path` and the files at `hidden`.
    pub fn new(
        corpus: Arc<Corpus>,
        path: Arc<str>,
        language: Language,
        hidden: Vec<Arc<str>>,
    ) -> MaskedCorpus {
        MaskedCorpus { corpus, path, language, hidden, syntax: SyntaxCache::default() }
    }

    /// Uses the file's tokens from earlier requests, and keeps them for later ones.
    #[must_use]
    pub fn with_syntax(self, syntax: SyntaxCache) -> MaskedCorpus {
        MaskedCorpus { syntax, ..self }
    }

    /// Returns the view from the open file, whose text is `before` and `after` the cursor. Calls `keep_going` after each part of
    /// the work; returns `None` if that returns `false`.
    pub fn view(
        &self,
        before: &str,
        after: &str,
        hints: &[Snippet],
        recent_typing: &RecentTyping,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<CorpusView<'_>> {
        let hidden: Vec<&str> = self.hidden.iter().map(|path| &**path).collect();
        let (path, language, recent_typing) = (&self.path, self.language, Some(recent_typing));
        let syntax = Some(&self.syntax);
        let open = OpenFile { path, language, before, after, hints, hidden: &hidden, recent_typing, syntax };
        self.corpus.view_while(&open, keep_going)
    }
}
