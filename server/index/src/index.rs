//! The index of a workspace: a few layers, the oldest and largest first, cheap to clone; changes create a new one.
//!
//! A change adds a layer with the changed files and removes them from the other layers. Small layers are merged: each layer is
//! several times as large as the next one, so there are few, and a file is moved only when the index has grown by that factor.
//! Merging reads no file again.

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use stored::BlockStore;
use syntax::SourceFile;

use crate::file_passes::FilePasses;
use crate::index_layer::IndexLayer;
use crate::parallelism::Parallelism;
use crate::{FileIndex, Searcher};

/// Minimum ratio of windows between a layer and the next one.
const GROWTH: u64 = 4;
/// Maximum layers: a search looks up each term in each layer.
const MAX_LAYERS: usize = 8;

/// Bytes of text in a changed layer that is worth a block of a store. Blocks of smaller layers would be too many.
const MIN_STORED: usize = if cfg!(test) { 1 } else { 4 << 20 };

/// The indexed files of a workspace. Immutable and cheap to clone; it shares the texts and keeps no syntax trees.
///
/// All results depend only on its files, not on the changes that led to them.
#[derive(Clone, Debug)]
pub struct Index {
    layers: Arc<[IndexLayer]>,
    /// Where large layers are; `None` if they are in memory.
    store: Option<Arc<dyn BlockStore>>,
}

impl Index {
    /// Parses and indexes `files`, on the current rayon pool. Of files with the same path the last counts.
    pub fn build(files: &[SourceFile]) -> Index {
        Index::from_files(files.par_iter().map(|file| Arc::new(FileIndex::new(file.clone()))).collect())
    }

    /// Indexes parsed files. Of files with the same path the last counts.
    pub fn from_files(files: Vec<Arc<FileIndex>>) -> Index {
        Index::in_store(None, files)
    }

    /// The same, but the data about all files together is in `store`, also in the indexes that changes create from this one if the
    /// changes are large. Results are the same.
    pub fn in_store(store: Option<Arc<dyn BlockStore>>, files: Vec<Arc<FileIndex>>) -> Index {
        let files = last_of_each_path(files);
        let layer = (!files.is_empty()).then(|| IndexLayer::build(files, on_rayon_pool(store.as_deref())));
        Index { layers: layer.into_iter().collect(), store }
    }

    /// Returns the index after some files were added, changed or removed. Existing clones are unaffected.
    #[must_use]
    pub fn apply(&self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]) -> Index {
        let mut layers = self.layers.to_vec();
        let changed = last_of_each_path(changed);
        let left_out = || removed.iter().chain(changed.iter().map(|file| &file.file().path));
        layers.iter_mut().for_each(|layer| layer.remove_all(left_out().map(|path| &**path)));
        let groups = layers.into_iter().map(LayerGroup::of_layer).chain([LayerGroup::of_files(changed)]);
        let layers = merge_layers(groups.collect(), self.store.as_deref());
        Index { layers: layers.into(), store: self.store.clone() }
    }

    /// Returns the same index without what was computed from its store on first use, and not asked for since the last call: that would
    /// otherwise grow to the size of the store. `None` without any.
    pub fn without_unused(&self) -> Option<Index> {
        let renewed: Vec<Option<IndexLayer>> = self.layers.iter().map(IndexLayer::without_unused).collect();
        let is_changed = renewed.iter().any(Option::is_some);
        let layers =
            renewed.into_iter().zip(&*self.layers).map(|(new, old)| new.unwrap_or_else(|| old.clone()));
        is_changed.then(|| Index { layers: layers.collect(), store: self.store.clone() })
    }

    /// Returns a searcher without the files whose paths are `hidden`. Calls `hidden` for every file: for known paths,
    /// [`Index::hide`] is faster.
    pub fn searcher(&self, hidden: &dyn Fn(&str) -> bool) -> Searcher {
        let hidden: Vec<&str> = self
            .layers
            .iter()
            .flat_map(IndexLayer::files)
            .map(|file| file.index.path())
            .filter(|path| hidden(path))
            .collect();
        self.hide(&hidden)
    }

    /// Returns a searcher without the files of these paths.
    pub fn hide(&self, paths: &[&str]) -> Searcher {
        Searcher::new(self.layers.clone()).hide(paths)
    }

    /// Returns the number of files.
    pub fn files(&self) -> usize {
        self.layers.iter().map(|layer| layer.files().count()).sum()
    }

    /// Returns the sorted paths of the files that exceeded the parse budget: they are searched by their lines and words only.
    pub fn too_complex(&self) -> Vec<Arc<str>> {
        let files = self.layers.iter().flat_map(IndexLayer::files).filter(|file| file.is_too_complex());
        let mut paths: Vec<Arc<str>> = files.map(|file| Arc::clone(&file.file().path)).collect();
        paths.sort_unstable();
        paths
    }

    /// Creates an index of layers that were saved. Later changes are in `store`.
    pub(crate) fn of_layers(layers: Vec<IndexLayer>, store: Option<Arc<dyn BlockStore>>) -> Index {
        Index { layers: layers.into(), store }
    }

    pub(crate) fn layers(&self) -> &[IndexLayer] {
        &self.layers
    }
}

/// Returns `files` without those whose path occurs again later.
pub(crate) fn last_of_each_path(mut files: Vec<Arc<FileIndex>>) -> Vec<Arc<FileIndex>> {
    files.reverse();
    let mut known = FxHashSet::default();
    files.retain(|file| known.insert(file.file().path.clone()));
    files
}

/// Indexes files on the current rayon pool. If the store fails, for example because the disk is full, the layer is in memory.
fn new_layer(files: Vec<Arc<FileIndex>>, store: Option<&dyn BlockStore>) -> IndexLayer {
    let is_large =
        |files: &[Arc<FileIndex>]| files.iter().map(|file| file.text().len()).sum::<usize>() >= MIN_STORED;
    let store = store.filter(|_| is_large(&files));
    IndexLayer::build(files, on_rayon_pool(store))
}

fn on_rayon_pool(store: Option<&dyn BlockStore>) -> FilePasses<'_> {
    FilePasses { threads: Parallelism::RayonPool, store }
}

/// Merges groups until there are few, and returns a layer of each.
fn merge_layers(mut groups: Vec<LayerGroup>, store: Option<&dyn BlockStore>) -> Vec<IndexLayer> {
    groups.retain(|group| group.files().next().is_some());
    groups.sort_by_key(|group| Reverse(group.windows));
    while let Some(larger) = next_merge(&groups) {
        let smaller = groups.remove(larger + 1);
        groups[larger].merge(smaller);
        groups.sort_by_key(|group| Reverse(group.windows));
    }
    groups.into_iter().map(|group| group.into_layer(store)).collect()
}

/// Files that will be in one layer: those of present layers, and new ones.
struct LayerGroup {
    layers: Vec<IndexLayer>,
    new: Vec<Arc<FileIndex>>,
    windows: u64,
}

impl LayerGroup {
    fn of_layer(layer: IndexLayer) -> LayerGroup {
        LayerGroup { windows: layer.windows().documents, layers: vec![layer], new: Vec::new() }
    }

    fn of_files(files: Vec<Arc<FileIndex>>) -> LayerGroup {
        let windows = files.iter().map(|file| file.windows() as u64).sum();
        LayerGroup { windows, layers: Vec::new(), new: files }
    }

    fn merge(&mut self, other: LayerGroup) {
        self.layers.extend(other.layers);
        self.new.extend(other.new);
        self.windows += other.windows;
    }

    fn files(&self) -> impl Iterator<Item = &Arc<FileIndex>> {
        self.layers.iter().flat_map(IndexLayer::files).map(|file| file.index).chain(&self.new)
    }

    fn into_layer(self, store: Option<&dyn BlockStore>) -> IndexLayer {
        match &self.layers[..] {
            [layer] if self.new.is_empty() && !layer.is_worn() => layer.clone(),
            _ => new_layer(self.files().cloned().collect(), store),
        }
    }
}

/// Returns the last group that must be merged with the next one.
fn next_merge(groups: &[LayerGroup]) -> Option<usize> {
    let is_close = |pair: &[LayerGroup]| pair[0].windows < GROWTH * pair[1].windows;
    let close = (0..groups.len().saturating_sub(1)).rev().find(|&at| is_close(&groups[at..at + 2]));
    close.or_else(|| (groups.len() > MAX_LAYERS).then(|| groups.len() - 2))
}

#[cfg(test)]
mod tests;
