//! The data that a request may use: the open document, and the rest of the workspace without its file.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use builtin::{Corpus, MaskedCorpus, RecentTyping};
use index::{
    CancelFlag, CopyIndex, FileIndex, Hit, Index, RecentLocation, RemovedCode, RetrievalQuery, Searcher,
    Strategy, TokenBudget,
};
use syntax::{Language, Projects, SourceFile, SyntaxCache};
use text::Snippet;

use crate::gather_permit::{GatherPermit, nearby_text};
use crate::path_gate::PathGate;
use crate::settings::CompletionSettings;
use crate::shared_context::{ContextKey, ContextShare};

/// Index of a workspace: its saved files and the data derived from them. Immutable and cheap to clone. Engines get only a
/// [`DocumentSnapshot`] of it.
#[derive(Clone)]
pub struct WorkspaceIndex {
    /// In the order of their paths.
    files: Arc<[SourceFile]>,
    index: Index,
    projects: Arc<Projects>,
    /// Tokens that engines read; `None` if no engine reads any.
    tokens: Option<WorkspaceTokens>,
    copies: Arc<OnceLock<CopyIndex>>,
    overlay: Arc<Mutex<OverlayCache>>,
}

/// Tokens of the workspace's files.
#[derive(Clone)]
struct WorkspaceTokens {
    corpus: Arc<Corpus>,
    files: Arc<[SourceFile]>,
}

/// Cache of the data derived with open documents in place of their files. Deriving it takes some milliseconds, and while the user types
/// in one document the others stay the same.
#[derive(Default)]
struct OverlayCache {
    documents: Vec<Arc<FileIndex>>,
    searcher: Option<Searcher>,
    /// The same without the file of this path: the document of the last request. Hiding a file counts all its terms.
    others: Option<(Arc<str>, Searcher)>,
    corpus: Option<Arc<Corpus>>,
}

impl WorkspaceIndex {
    /// Tokenizes `files` for engines: about a second for a million lines. Without an index, searches find nothing.
    pub fn new(files: Arc<[SourceFile]>) -> WorkspaceIndex {
        let corpus = Corpus::build(&files);
        WorkspaceIndex::empty()
            .with_index(files, Index::from_files(Vec::new()), Arc::default())
            .with_corpus(corpus)
    }

    /// Returns the workspace with other files, which are in the order of their paths, and a search index for context. Its tokens stay
    /// those of the previous files until [`WorkspaceIndex::with_current_tokens`].
    #[must_use]
    pub fn with_index(
        &self,
        files: Arc<[SourceFile]>,
        index: Index,
        projects: Arc<Projects>,
    ) -> WorkspaceIndex {
        debug_assert!(
            files.is_sorted_by(|one, other| one.path <= other.path),
            "files are found by their path"
        );
        let tokens = self.tokens.clone();
        WorkspaceIndex { files, index, projects, tokens, copies: Arc::default(), overlay: Arc::default() }
    }

    /// Returns the workspace with the tokens of its current files; `None` if they are current, or there are none. Changed files are
    /// tokenized again: milliseconds, unless the branch was switched.
    pub fn with_current_tokens(&self) -> Option<WorkspaceIndex> {
        let old = self.tokens.as_ref().filter(|tokens| !Arc::ptr_eq(&tokens.files, &self.files))?;
        let tokens = Some(old.of(&self.files));
        Some(WorkspaceIndex { tokens, overlay: Arc::default(), ..self.clone() })
    }

    /// Returns the same workspace with another form of its index, which gives the same results.
    #[must_use]
    pub fn with_same_files(&self, index: Index) -> WorkspaceIndex {
        WorkspaceIndex { index, overlay: Arc::default(), ..self.clone() }
    }

    /// Returns the workspace with the tokens of its files.
    #[must_use]
    pub fn with_corpus(self, corpus: Corpus) -> WorkspaceIndex {
        let tokens = WorkspaceTokens { corpus: Arc::new(corpus), files: Arc::clone(&self.files) };
        WorkspaceIndex { tokens: Some(tokens), overlay: Arc::default(), ..self }
    }

    /// Returns the workspace with the tokens of `other`, updated to these files.
    #[must_use]
    pub fn with_tokens_of(&self, other: &WorkspaceIndex) -> WorkspaceIndex {
        let tokens = other.tokens.as_ref().map(|tokens| tokens.of(&self.files));
        WorkspaceIndex { tokens, overlay: Arc::default(), ..self.clone() }
    }

    /// Returns the tokens that engines read, if any engine does.
    pub fn tokens(&self) -> Option<&Arc<Corpus>> {
        self.tokens.as_ref().map(|tokens| &tokens.corpus)
    }

    /// Returns the search index with these open documents in place of their files.
    fn searcher(&self, documents: &[Arc<FileIndex>]) -> Searcher {
        let mut overlaid = self.overlay_cache(documents);
        overlaid.searcher.get_or_insert_with(|| self.index.hide(&[]).overlay(documents.to_vec())).clone()
    }

    /// Returns the search index for requests of the document at `path`: without its file.
    fn searcher_of_others(&self, path: &Arc<str>, documents: &[Arc<FileIndex>]) -> Searcher {
        if let Some((known, others)) = &self.overlay_cache(documents).others
            && known == path
        {
            return others.clone();
        }
        let others = self.searcher(documents).hide(&[path]);
        self.overlay_cache(documents).others = Some((Arc::clone(path), others.clone()));
        others
    }

    /// Returns the tokens with these open documents in place of their files; `None` if no engine reads any.
    fn corpus(&self, documents: &[Arc<FileIndex>]) -> Option<Arc<Corpus>> {
        let saved = self.tokens()?;
        if documents.is_empty() {
            return Some(Arc::clone(saved));
        }
        let mut overlaid = self.overlay_cache(documents);
        Some(Arc::clone(overlaid.corpus.get_or_insert_with(|| {
            let files: Vec<SourceFile> = documents.iter().map(|document| document.file().clone()).collect();
            Arc::new(saved.with_changes(&files, &[]))
        })))
    }

    /// Returns the cache entry for these documents; replaces the entry of other documents.
    fn overlay_cache(&self, documents: &[Arc<FileIndex>]) -> MutexGuard<'_, OverlayCache> {
        let mut overlaid = self.overlay.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = overlaid.documents.len() == documents.len()
            && overlaid.documents.iter().zip(documents).all(|(one, other)| Arc::ptr_eq(one, other));
        if !is_known {
            *overlaid = OverlayCache { documents: documents.to_vec(), ..OverlayCache::default() };
        }
        overlaid
    }

    /// Creates a workspace without files and without tokens.
    pub fn empty() -> WorkspaceIndex {
        WorkspaceIndex {
            files: Arc::default(),
            index: Index::from_files(Vec::new()),
            projects: Arc::default(),
            tokens: None,
            copies: Arc::default(),
            overlay: Arc::default(),
        }
    }

    /// Creates a snapshot with the given text of an open document, which hides the saved version of its file.
    pub fn snapshot(&self, document: DocumentText) -> DocumentSnapshot {
        DocumentSnapshot {
            index: self.clone(),
            document,
            context: None,
            hidden: Vec::new(),
            copies: Vec::new(),
            editor: EditorContext::default(),
            syntax: SyntaxCache::default(),
            gather_permit: None,
            path_gate: None,
            share: None,
        }
    }

    /// Returns the saved files in the order of their paths.
    pub fn files(&self) -> &Arc<[SourceFile]> {
        &self.files
    }

    /// Returns the saved file at `path`.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        let position = self.files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
        self.files.get(position)
    }

    /// Returns the search index of the files.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the modules and import paths by the manifests.
    pub fn projects(&self) -> &Arc<Projects> {
        &self.projects
    }

    /// Returns the index of copies, which its first use builds.
    pub fn copy_index(&self) -> &OnceLock<CopyIndex> {
        &self.copies
    }

    /// Returns the files with a copy of each of `codes`.
    pub fn copies(&self, codes: &[RemovedCode<'_>]) -> Vec<Vec<Arc<str>>> {
        self.copies.get_or_init(|| CopyIndex::new(&self.files)).files_with_copies(codes)
    }
}

/// A document as displayed.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Its path, relative to the workspace root.
    pub path: Arc<str>,
    /// Its language.
    pub language: Language,
    /// Its text; in a replay the text before and after the hole.
    pub text: Arc<str>,
}

/// A document and its workspace at one moment.
#[derive(Clone)]
pub struct DocumentSnapshot {
    index: WorkspaceIndex,
    document: DocumentText,
    context: Option<Arc<[Snippet]>>,
    hidden: Vec<Arc<str>>,
    copies: Vec<Arc<str>>,
    editor: EditorContext,
    syntax: SyntaxCache,
    gather_permit: Option<GatherPermit>,
    path_gate: Option<PathGate>,
    share: Option<ContextShare>,
}

/// Context of the editor besides the document.
#[derive(Clone, Debug, Default)]
pub struct EditorContext {
    /// Other documents with unsaved text. They replace their files in searches and in the tokens.
    pub documents: Vec<Arc<FileIndex>>,
    /// Recently edited or viewed locations, latest first.
    pub recent_visits: Vec<RecentLocation>,
    /// Recently typed and accepted code.
    pub recent_typing: RecentTyping,
}

impl DocumentSnapshot {
    /// Adds the context of the editor.
    pub fn with_editor_context(self, around: EditorContext) -> DocumentSnapshot {
        DocumentSnapshot { editor: around, ..self }
    }

    /// Sets the number of suggestions on the cursor's line that other text was typed over.
    pub fn with_typed_over(mut self, suggestions: usize) -> DocumentSnapshot {
        self.editor.recent_typing.typed_over = suggestions;
        self
    }

    /// Uses the document's syntax from earlier requests, and keeps it for later ones.
    pub fn with_syntax(self, syntax: SyntaxCache) -> DocumentSnapshot {
        DocumentSnapshot { syntax, ..self }
    }

    /// Makes requests of one document gather context one after the other.
    pub fn with_gather_permit(self, gathering: GatherPermit) -> DocumentSnapshot {
        DocumentSnapshot { gather_permit: Some(gathering), ..self }
    }

    /// Makes the request share its context with those of other engines that are asked the same.
    pub fn with_context_share(self, share: ContextShare) -> DocumentSnapshot {
        DocumentSnapshot { share: Some(share), ..self }
    }

    /// Makes the request check its own file and its context with `path_gate` again right before the engine is called, unless that was
    /// just done.
    pub fn guarded(self, path_gate: PathGate) -> DocumentSnapshot {
        DocumentSnapshot { path_gate: Some(path_gate), ..self }
    }

    /// Replaces gathered context by context chosen before.
    pub fn with_context(self, context: Arc<[Snippet]>) -> DocumentSnapshot {
        DocumentSnapshot { context: Some(context), ..self }
    }

    /// Hides the files at `paths` from the request.
    pub fn without_files(self, paths: Vec<Arc<str>>) -> DocumentSnapshot {
        DocumentSnapshot { hidden: paths, ..self }
    }

    /// Sets the files with a copy of the code that belongs at the cursor. They are hidden if the settings say so.
    pub fn with_copies(self, paths: Vec<Arc<str>>) -> DocumentSnapshot {
        DocumentSnapshot { copies: paths, ..self }
    }

    pub(crate) fn gather_permit(&self) -> Option<GatherPermit> {
        self.gather_permit.clone()
    }

    pub(crate) fn path_gate(&self) -> Option<PathGate> {
        self.path_gate.clone()
    }

    pub(crate) fn syntax(&self) -> &SyntaxCache {
        &self.syntax
    }

    pub(crate) fn share(&self) -> Option<&ContextShare> {
        self.share.as_ref()
    }

    /// Returns the inputs of a context besides the document, the cursor and the workspace.
    pub(crate) fn context_key(&self, settings: &CompletionSettings, hidden: &[Arc<str>]) -> ContextKey {
        ContextKey {
            strategy: settings.strategy,
            budget: settings.budget,
            hidden: hidden.to_vec(),
            documents: self.editor.documents.clone(),
            recent_visits: self.editor.recent_visits.clone(),
        }
    }

    pub(crate) fn document(&self) -> &DocumentText {
        &self.document
    }

    /// Returns the text of another file as engines read it: the unsaved text of an open document, or the saved text.
    pub(crate) fn text_of_other_file(&self, path: &str) -> Option<&str> {
        let open = self.editor.documents.iter().map(|document| document.file());
        let unsaved = open.filter(|file| *file.path == *path).map(|file| &*file.text).next();
        unsaved.or_else(|| Some(&*self.index.file(path)?.text))
    }

    pub(crate) fn text(&self) -> &str {
        &self.document.text
    }

    /// Returns the paths hidden from the request besides the document's own: the hidden files and, if `hides_copies`, the files with
    /// copies.
    pub(crate) fn hidden(&self, hides_copies: bool) -> Vec<Arc<str>> {
        let copies = self.copies.iter().filter(|_| hides_copies);
        self.hidden.iter().chain(copies).cloned().collect()
    }

    /// Returns the recently typed and accepted code.
    pub(crate) fn recent_typing(&self) -> &RecentTyping {
        &self.editor.recent_typing
    }

    /// Returns whether other documents have unsaved text.
    pub(crate) fn has_documents(&self) -> bool {
        !self.editor.documents.is_empty()
    }

    /// Returns whether there is a file besides the document from which context may be chosen.
    pub(crate) fn has_other_files(&self) -> bool {
        self.has_documents() || !self.index.files().is_empty()
    }

    /// Returns whether context has to be chosen, which takes milliseconds; false if it was set before.
    pub(crate) fn retrieves_context(&self) -> bool {
        self.context.is_none()
    }

    /// Returns the context of the request, nearest first, without items from `hidden` files: the items set before, or the hits of the
    /// settings' strategy. Stops when cancelled.
    pub(crate) fn gather(
        &self,
        offset: usize,
        settings: &CompletionSettings,
        hidden: &[Arc<str>],
        cancel: &CancelFlag,
    ) -> Vec<Snippet> {
        match &self.context {
            Some(chosen) => chosen.iter().filter(|item| !hidden.contains(&item.path)).cloned().collect(),
            None => self.retrieve(offset, settings, hidden, cancel),
        }
    }

    fn retrieve(
        &self,
        offset: usize,
        settings: &CompletionSettings,
        hidden: &[Arc<str>],
        cancel: &CancelFlag,
    ) -> Vec<Snippet> {
        let hits = self.hits(offset, (settings.strategy, settings.budget), hidden, cancel);
        hits.into_iter()
            .map(|hit| Snippet::of_lines(hit.path, hit.start_line..hit.end_line, hit.text))
            .collect()
    }

    /// Returns the hits of a strategy within a budget, without those of `hidden` files.
    pub(crate) fn hits(
        &self,
        offset: usize,
        (strategy, budget): (Strategy, TokenBudget),
        hidden: &[Arc<str>],
        cancel: &CancelFlag,
    ) -> Vec<Hit> {
        // The request may have been cancelled while it waited for its turn.
        if cancel.is_cancelled() {
            return Vec::new();
        }
        let DocumentText { path, language, text } = &self.document;
        let Some((prefix, suffix)) = text.split_at_checked(offset) else { return Vec::new() };
        let hidden: Vec<&str> = hidden.iter().map(|path| &**path).collect();
        let (prefix, suffix) = nearby_text(&self.syntax, *language, prefix, suffix);
        let searcher = self.index.searcher_of_others(path, &self.editor.documents).hide(&hidden);
        let searcher = searcher.with_cancel(cancel.clone()).with_syntax(self.syntax.clone());
        let query = RetrievalQuery {
            path,
            language: *language,
            prefix: &prefix,
            suffix,
            recent: &self.editor.recent_visits,
        };
        searcher.retrieve(strategy, &self.index.projects, &query, budget)
    }

    /// Returns the workspace's tokens without the saved text of the document and of `hidden` files.
    pub(crate) fn corpus(&self, hidden: Vec<Arc<str>>) -> MaskedCorpus {
        let DocumentText { path, language, .. } = &self.document;
        let corpus = self.index.corpus(&self.editor.documents).unwrap_or_default();
        MaskedCorpus::new(corpus, Arc::clone(path), *language, hidden).with_syntax(self.syntax.clone())
    }
}

impl WorkspaceTokens {
    /// Returns the tokens of other files. If most files are the same, both share their texts.
    fn of(&self, files: &Arc<[SourceFile]>) -> WorkspaceTokens {
        if Arc::ptr_eq(&self.files, files) {
            return self.clone();
        }
        let known: HashMap<&str, &SourceFile> = self.files.iter().map(|file| (&*file.path, file)).collect();
        let is_known = |file: &&SourceFile| {
            let known = known.get(&*file.path);
            known.is_some_and(|known| known.text.is_same(&file.text) && known.language == file.language)
        };
        let changed: Vec<SourceFile> = files.iter().filter(|file| !is_known(file)).cloned().collect();
        let paths: HashSet<&str> = files.iter().map(|file| &*file.path).collect();
        let removed: Vec<Arc<str>> =
            known.values().map(|file| &file.path).filter(|path| !paths.contains(&***path)).cloned().collect();
        if changed.is_empty() && removed.is_empty() {
            return WorkspaceTokens { files: Arc::clone(files), ..self.clone() };
        }
        let corpus = Arc::new(self.corpus.updated_for(&changed, &removed, files));
        WorkspaceTokens { corpus, files: Arc::clone(files) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engines::{ScriptedEngine, ScriptedReply};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{OutcomeStatus, complete};

    /// Counts of the process: nextest runs each test in its own.
    #[test]
    fn requests_for_the_same_text_parse_it_once() {
        let syntax = SyntaxCache::default();
        let parses = |text: &str| {
            let document =
                DocumentText { path: "main.py".into(), language: Language::Python, text: text.into() };
            let snapshot = WorkspaceIndex::empty().snapshot(document).with_syntax(syntax.clone());
            let before = syntax::parse_counts().parses;
            snapshot.gather(text.len(), &CompletionSettings::for_editor(), &[], &CancelFlag::default());
            syntax::parse_counts().parses - before
        };
        let short = "import os\n\nx = os.path.";
        assert_eq!([parses(short), parses(short), parses(&format!("{short}j"))], [1, 0, 1]);
        // Of a large document, the imports and the text near the cursor are parsed.
        let long = format!("import os\n\n{}x = os.path.", "y = os.getcwd()\n".repeat(10_000));
        assert_eq!([parses(&long), parses(&long), parses(&format!("{long}j"))], [2, 0, 1]);
    }

    #[test]
    fn documents_in_turn_get_context_from_each_other_and_never_from_themselves() {
        let texts =
            ["one", "other"].map(|name| format!("def make_{name}(size):\n    return size\n\nmake_{name}"));
        let paths = ["one.py", "other.py"];
        let file = |at: usize| (Arc::<str>::from(paths[at]), Language::Python, Arc::<str>::from(&*texts[at]));
        let saved =
            [0, 1].map(file).map(|(path, language, text)| SourceFile { path, language, text: text.into() });
        let files: Arc<[SourceFile]> = saved.into();
        let workspace =
            WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default());
        for at in [0, 1, 1, 0] {
            let (path, language, text) = file(at);
            let snapshot = workspace.snapshot(DocumentText { path, language, text });
            let settings = CompletionSettings::for_editor();
            let context = snapshot.gather(texts[at].len(), &settings, &[], &CancelFlag::default());
            assert_eq!(Vec::from_iter(context.iter().map(|snippet| &*snippet.path)), [paths[1 - at]]);
        }
    }

    #[tokio::test]
    #[expect(
        clippy::await_holding_lock,
        reason = "choosing context waits on another thread until it is late"
    )]
    async fn late_context_is_left_out() {
        let defined = SourceFile {
            path: "widgets.py".into(),
            language: Language::Python,
            text: "def make_widget(size):\n    return size\n".into(),
        };
        let files: Arc<[SourceFile]> = [defined].into();
        let world = WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default());
        let text = "from widgets import make_widget\n\nwidget = make_widget";
        let document = DocumentText { path: "main.py".into(), language: Language::Python, text: text.into() };
        let snapshot = world.snapshot(document);
        let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
        let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
        let ask = async |deadline| {
            let settings = CompletionSettings { deadline, ..CompletionSettings::for_editor() };
            complete(&snapshot, text.len(), &engine, &settings, &CancellationToken::new()).await
        };
        let busy = world.overlay.lock().unwrap();
        let late = ask(Duration::from_millis(2)).await;
        drop(busy);
        assert!(matches!(late.status, OutcomeStatus::Ok), "{:?}", late.status);
        assert_eq!((&*late.text, late.trace.is_context_late), ("context=", true));
        let timely = ask(Duration::from_secs(60)).await;
        assert_eq!((&*timely.text, timely.trace.is_context_late), ("context=widgets.py", false));
    }

    #[tokio::test]
    #[expect(
        clippy::await_holding_lock,
        reason = "choosing context waits on another thread until it is late"
    )]
    async fn requests_of_one_document_gather_context_one_at_a_time() {
        let other =
            SourceFile { path: "other.py".into(), language: Language::Python, text: "size = 1\n".into() };
        let files: Arc<[SourceFile]> = [other].into();
        let world = WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default());
        let text = "widget = ";
        let document = DocumentText { path: "main.py".into(), language: Language::Python, text: text.into() };
        let gathering = GatherPermit::default();
        let snapshot = world.snapshot(document).with_gather_permit(gathering.clone());
        let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
        let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
        let ask = async |deadline| {
            let settings = CompletionSettings { deadline, ..CompletionSettings::for_editor() };
            complete(&snapshot, text.len(), &engine, &settings, &CancellationToken::new()).await
        };
        let before = Arc::strong_count(&world.overlay);
        let busy = world.overlay.lock().unwrap();
        // Choosing starts on another thread, which may take longer than the first requests wait.
        while Arc::strong_count(&world.overlay) == before {
            assert!(ask(Duration::from_millis(20)).await.trace.is_context_late);
        }
        // All at once, as from an editor with a request per key.
        let late = futures_util::future::join_all((0..50).map(|_| ask(Duration::from_millis(2)))).await;
        assert!(late.iter().all(|outcome| outcome.trace.is_context_late));
        // Each running gathering holds a reference to the workspace.
        let gathering_now = Arc::strong_count(&world.overlay) - before;
        drop(busy);
        assert_eq!(gathering_now, 1);
        assert!(!ask(Duration::from_secs(60)).await.trace.is_context_late, "the turn is given back");
    }
}
