//! A corpus as one open file may see it, in a form that can be sent to another thread.

use std::sync::Arc;

use syntax::Language;

use crate::{Corpus, Hint, OpenFile, Typing, View};

/// A corpus without the copy of an open file, and without other files that are to be hidden from it. Nothing can be asked of the
/// corpus through it but for that file.
#[derive(Clone, Debug)]
pub struct MaskedCorpus {
    corpus: Arc<Corpus>,
    path: Arc<str>,
    language: Language,
    hidden: Vec<Arc<str>>,
    typing: Typing,
}

impl MaskedCorpus {
    /// Masks the file at `path` and the files at `hidden`.
    pub fn new(
        corpus: Arc<Corpus>,
        path: Arc<str>,
        language: Language,
        hidden: Vec<Arc<str>>,
    ) -> MaskedCorpus {
        MaskedCorpus { corpus, path, language, hidden, typing: Typing::default() }
    }

    /// The same when this was typed lately.
    #[must_use]
    pub fn remembering(self, typing: Typing) -> MaskedCorpus {
        MaskedCorpus { typing, ..self }
    }

    /// The view from the open file, whose text is `before` and `after` the cursor. `keep_going` is asked after each part of the work;
    /// a `false` gives `None`.
    pub fn view(
        &self,
        before: &str,
        after: &str,
        hints: &[Hint<'_>],
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Option<View<'_>> {
        let hidden: Vec<&str> = self.hidden.iter().map(|path| &**path).collect();
        let (path, language, typing) = (&self.path, self.language, Some(&self.typing));
        let open = OpenFile { path, language, before, after, hints, hidden: &hidden, typing };
        self.corpus.view_while(&open, keep_going)
    }
}
