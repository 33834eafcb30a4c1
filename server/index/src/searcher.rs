//! A request's view of the index.
//!
//! A [`Searcher`] is an [`crate::Index`] with some files hidden and others replaced, for example by open buffers. Hits, scores
//! and reasons equal those of an index built from exactly these files.

use std::ops::Range;
use std::sync::Arc;

use syntax::{Language, NamesOfLines, Scope, SyntaxCache, Tree};

use crate::bm25::CollectionStats;
use crate::index::last_of_each_path;
use crate::index_layer::IndexLayer;
use crate::terms::Term;
use crate::{CancelFlag, FileIndex, SegmentFile, cceval};

/// An index with some files hidden and others replaced; cheap to clone.
#[derive(Clone, Debug)]
pub struct Searcher {
    layers: Arc<[IndexLayer]>,
    cancel: CancelFlag,
    /// Syntax of the query's document; `None` if it is not kept.
    syntax: Option<SyntaxCache>,
}

impl Searcher {
    pub(crate) fn new(layers: Arc<[IndexLayer]>) -> Searcher {
        Searcher { layers, cancel: CancelFlag::default(), syntax: None }
    }

    /// Returns the searcher without the files of these paths.
    #[must_use]
    pub fn hide(&self, paths: &[&str]) -> Searcher {
        self.with_layers(self.without(paths))
    }

    /// Returns the searcher with `files` replacing those with the same paths; of files with one path the last counts. Reuse the
    /// result as long as the files are unchanged: the files are indexed on the calling thread.
    #[must_use]
    pub fn overlay(&self, files: Vec<Arc<FileIndex>>) -> Searcher {
        let files = last_of_each_path(files);
        let mut layers = self.without(&Vec::from_iter(files.iter().map(|file| file.path())));
        layers.extend((!files.is_empty()).then(|| IndexLayer::new(files)));
        self.with_layers(layers)
    }

    /// Returns the searcher with a cancel flag; results are incomplete after the flag is set.
    #[must_use]
    pub fn with_cancel(&self, cancel: CancelFlag) -> Searcher {
        Searcher { cancel, ..self.clone() }
    }

    /// Returns the searcher for queries of an open document whose syntax is kept between requests.
    #[must_use]
    pub fn with_syntax(&self, syntax: SyntaxCache) -> Searcher {
        Searcher { syntax: Some(syntax), ..self.clone() }
    }

    /// Returns the scope at the end of `prefix`, the text before the query's cursor.
    pub(crate) fn scope(&self, language: Language, prefix: &str) -> Arc<Scope> {
        match &self.syntax {
            Some(syntax) => syntax.scope(language, prefix),
            None => Arc::new(syntax::scope(language, prefix)),
        }
    }

    /// Returns the scope of the last query in the same document, if its syntax is kept.
    pub(crate) fn last_scope(&self, language: Language) -> Option<Arc<Scope>> {
        self.syntax.as_ref()?.last_scope(language)
    }

    /// Returns the names of the whole lines of `prefix`, the text before the query's cursor. `imports` are its lines of imports.
    pub(crate) fn names_before(
        &self,
        language: Language,
        prefix: &str,
        imports: Vec<Range<usize>>,
    ) -> Arc<NamesOfLines> {
        match &self.syntax {
            Some(syntax) => syntax.names_before(language, prefix, &imports),
            None => Arc::new(NamesOfLines::new(language, prefix, imports)),
        }
    }

    /// Returns the tree of `text`, the query's document.
    pub(crate) fn tree(&self, language: Language, text: &Arc<str>) -> Tree {
        match &self.syntax {
            Some(syntax) => syntax.tree(language, text),
            None => syntax::parse(language, text),
        }
    }

    /// Returns the cancel flag.
    pub(crate) fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// Whether the request was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn with_layers(&self, layers: Vec<IndexLayer>) -> Searcher {
        Searcher { layers: layers.into(), ..self.clone() }
    }

    fn without(&self, paths: &[&str]) -> Vec<IndexLayer> {
        let mut layers = self.layers.to_vec();
        layers.iter_mut().for_each(|layer| paths.iter().for_each(|path| layer.hide(path)));
        layers
    }

    /// Returns the file of this path.
    pub fn file(&self, path: &str) -> Option<SegmentFile<'_>> {
        self.layers.iter().find_map(|layer| layer.file(path))
    }

    /// Returns all files, sorted by path.
    pub fn files(&self) -> Vec<&Arc<FileIndex>> {
        let files = self.layers.iter().flat_map(IndexLayer::files);
        let mut files: Vec<_> = files.map(|file| file.index).collect();
        files.sort_unstable_by(|one, other| one.path().cmp(other.path()));
        files
    }

    /// Returns the chunks that CrossCodeEval's retriever ranks for a file.
    pub fn chunk_candidates(&self, path: &str, language: Language) -> cceval::ChunkCandidates {
        let files: Vec<(&str, SegmentFile<'_>)> =
            self.layers.iter().flat_map(IndexLayer::files).map(|file| (file.index.path(), file)).collect();
        let nearest = cceval::nearest_in_workspace(path, language, files);
        // The chunks of a file are computed on first use.
        let wanted = nearest.into_iter().take_while(|_| !self.is_cancelled());
        cceval::ChunkCandidates::new(wanted.map(SegmentFile::chunks))
    }

    pub(crate) fn layers(&self) -> &[IndexLayer] {
        &self.layers
    }

    pub(crate) fn window_totals(&self) -> CollectionStats {
        self.layers.iter().map(IndexLayer::windows).fold(CollectionStats::default(), CollectionStats::plus)
    }

    pub(crate) fn function_totals(&self) -> CollectionStats {
        self.layers.iter().map(IndexLayer::functions).fold(CollectionStats::default(), CollectionStats::plus)
    }

    /// Returns the number of windows with `term`.
    pub fn windows_with(&self, term: Term) -> u64 {
        self.layers.iter().map(|layer| layer.windows_with(term)).sum()
    }

    /// Returns the inverse frequency of `term` among windows.
    pub(crate) fn rarity(&self, term: Term) -> f32 {
        self.window_totals().inverse_frequency(self.windows_with(term))
    }

    pub(crate) fn functions_with(&self, word: Term) -> u64 {
        self.layers.iter().map(|layer| layer.functions_with(word)).sum()
    }
}
