//! An index as one request sees it.
//!
//! A [`Searcher`] is an [`crate::Index`] with some files hidden and others, such as open buffers, in the place of the saved ones.
//! Hits, scores and reasons are those of an index built from just these files.

use std::sync::Arc;

use syntax::Language;

use crate::bm25::Totals;
use crate::index::last_of_each_path;
use crate::layer::Layer;
use crate::terms::Term;
use crate::threads::Threads;
use crate::{Cancel, FileIndex, cceval};

/// An index with some files hidden and others in their place; cheap to clone.
#[derive(Clone, Debug)]
pub struct Searcher {
    layers: Arc<[Layer]>,
    cancel: Cancel,
}

/// A block of lines that has an identifier.
#[derive(Clone, Debug)]
pub struct Occurrence<'a> {
    /// Its file.
    pub file: &'a Arc<FileIndex>,
    /// Number of the block in its file.
    pub block: u32,
}

impl Searcher {
    pub(crate) fn new(layers: Arc<[Layer]>) -> Searcher {
        Searcher { layers, cancel: Cancel::default() }
    }

    /// The same without the files of these paths.
    #[must_use]
    pub fn hide(&self, paths: &[&str]) -> Searcher {
        Searcher { layers: self.without(paths).into(), cancel: self.cancel.clone() }
    }

    /// The same with `files` in the place of those with their paths; of files with one path the last counts. To be kept for as long as
    /// the files stay the same: they are put together for it, on the calling thread.
    #[must_use]
    pub fn overlay(&self, files: Vec<Arc<FileIndex>>) -> Searcher {
        let files = last_of_each_path(files);
        let mut layers = self.without(&Vec::from_iter(files.iter().map(|file| file.path())));
        layers.extend((!files.is_empty()).then(|| Layer::new(files, Threads::Own)));
        Searcher { layers: layers.into(), cancel: self.cancel.clone() }
    }

    /// The same for an answer that is wanted until `cancel` is set; what is found after that is not complete.
    #[must_use]
    pub fn until(&self, cancel: Cancel) -> Searcher {
        Searcher { layers: Arc::clone(&self.layers), cancel }
    }

    /// What ends the search.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Whether the answer is of no use any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn without(&self, paths: &[&str]) -> Vec<Layer> {
        let mut layers = self.layers.to_vec();
        layers.iter_mut().for_each(|layer| paths.iter().for_each(|path| layer.hide(path)));
        layers
    }

    /// The file of this path.
    pub fn file(&self, path: &str) -> Option<&Arc<FileIndex>> {
        self.layers.iter().find_map(|layer| layer.file(path))
    }

    /// All files by path.
    pub fn files(&self) -> Vec<&Arc<FileIndex>> {
        let mut files: Vec<_> = self.layers.iter().flat_map(Layer::files).collect();
        files.sort_unstable_by(|one, other| one.path().cmp(other.path()));
        files
    }

    /// The blocks that have `identifier`, by path and place.
    pub fn occurrences(&self, identifier: &str) -> Vec<Occurrence<'_>> {
        let term = Term::identifier(identifier);
        let mut found: Vec<Occurrence<'_>> =
            self.layers.iter().flat_map(|layer| occurrences(layer, term)).collect();
        // Within a layer they are in order: runs, which a stable sort only has to merge.
        found.sort_by(|one, other| one.file.path().cmp(other.file.path()));
        found
    }

    /// The chunks that CrossCodeEval's retriever ranks for a file.
    pub(crate) fn chunk_candidates(&self, path: &str, language: Language) -> cceval::Candidates {
        let files: Vec<(&str, &Arc<FileIndex>)> =
            self.layers.iter().flat_map(Layer::files).map(|file| (file.path(), file)).collect();
        let nearest = cceval::nearest_in_workspace(path, language, files);
        // Chunks of a file are cut when they are first asked for.
        let wanted = nearest.into_iter().take_while(|_| !self.is_cancelled());
        cceval::Candidates::new(wanted.map(|file| file.chunks()))
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    pub(crate) fn window_totals(&self) -> Totals {
        self.layers.iter().map(Layer::windows).fold(Totals::default(), Totals::plus)
    }

    pub(crate) fn function_totals(&self) -> Totals {
        self.layers.iter().map(Layer::functions).fold(Totals::default(), Totals::plus)
    }

    /// How many windows have `term`.
    pub fn windows_with(&self, term: Term) -> u64 {
        self.layers.iter().map(|layer| layer.windows_with(term)).sum()
    }

    /// Inverse frequency of `term` among windows.
    pub(crate) fn rarity(&self, term: Term) -> f32 {
        self.window_totals().inverse_frequency(self.windows_with(term))
    }

    pub(crate) fn functions_with(&self, word: Term) -> u64 {
        self.layers.iter().map(|layer| layer.functions_with(word)).sum()
    }
}

fn occurrences(layer: &Layer, term: Term) -> impl Iterator<Item = Occurrence<'_>> {
    let windows = &layer.segment().windows;
    let blocks = windows.postings.list(term).documents.iter().map(|&place| {
        let file = windows.file_of(place);
        (file, place - windows.of_file(file).start)
    });
    let present = blocks.filter(|&(file, _)| layer.has(file));
    present.map(|(file, block)| Occurrence { file: &layer.segment().files()[file], block })
}
