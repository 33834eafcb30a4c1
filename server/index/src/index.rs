//! The index of a workspace: few layers, the oldest and largest first, cheap to clone and changed by making a new one.
//!
//! A change puts the changed files into a layer of their own and takes them out of the layers they were in. Small layers are
//! put together as they come: each is several times as large as the next one, so there are few, and a file is moved only so
//! often as the index grows by that factor. No file is read anew for that.

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use syntax::SourceFile;

use crate::layer::Layer;
use crate::threads::Threads;
use crate::{FileIndex, Searcher};

/// A layer has at least so many times the windows of the next one.
const GROWTH: u64 = 4;
/// More layers than this are too slow to search, each term being looked up in each.
const MAX_LAYERS: usize = 8;
/// A layer is built anew when more than this share of its files is absent.
const MAX_ABSENT: f64 = 0.25;

/// The files of a workspace with what they hold. Immutable and cheap to clone; it keeps the texts it was given by reference and
/// no syntax trees.
///
/// Whatever is asked of it, the answer depends on its files only, not on the changes that led to them.
#[derive(Clone, Debug)]
pub struct Index(Arc<[Layer]>);

impl Index {
    /// Reads and indexes `files`, on the threads of the current rayon pool. Of files with one path the last counts.
    pub fn build(files: &[SourceFile]) -> Index {
        Index::from_files(files.par_iter().map(|file| Arc::new(FileIndex::new(file.clone()))).collect())
    }

    /// Indexes files that were read. Of files with one path the last counts.
    pub fn from_files(files: Vec<Arc<FileIndex>>) -> Index {
        Index([].into()).apply(files, &[])
    }

    /// The index after some files were added or changed, and others removed. Whoever uses the old one is not disturbed.
    #[must_use]
    pub fn apply(&self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]) -> Index {
        let mut layers = self.0.to_vec();
        let changed = last_of_each_path(changed);
        let left_out = removed.iter().chain(changed.iter().map(|file| &file.file().path));
        left_out.for_each(|path| layers.iter_mut().for_each(|layer| layer.remove(path)));
        layers.extend((!changed.is_empty()).then(|| Layer::new(changed, Threads::Pool)));
        Index(settle(layers).into())
    }

    /// Looks at the index as if the files whose paths are `hidden` were not in it. Asks for every file: where the paths are known,
    /// [`Index::hide`] is quicker.
    pub fn searcher(&self, hidden: &dyn Fn(&str) -> bool) -> Searcher {
        let hidden: Vec<&str> = self
            .0
            .iter()
            .flat_map(Layer::files)
            .map(|file| file.path())
            .filter(|path| hidden(path))
            .collect();
        self.hide(&hidden)
    }

    /// Looks at the index as if the files of these paths were not in it.
    pub fn hide(&self, paths: &[&str]) -> Searcher {
        Searcher::new(self.0.clone()).hide(paths)
    }

    /// Files in the index.
    pub fn files(&self) -> usize {
        self.0.iter().map(|layer| layer.files().count()).sum()
    }

    /// Paths of the files that could not be parsed within the budget, in order: they are searched by their lines and words alone.
    pub fn too_complex(&self) -> Vec<Arc<str>> {
        let files = self.0.iter().flat_map(Layer::files).filter(|file| file.is_too_complex());
        let mut paths: Vec<Arc<str>> = files.map(|file| Arc::clone(&file.file().path)).collect();
        paths.sort_unstable();
        paths
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.0
    }
}

/// `files` without those whose path a later one has.
pub(crate) fn last_of_each_path(mut files: Vec<Arc<FileIndex>>) -> Vec<Arc<FileIndex>> {
    files.reverse();
    let mut known = FxHashSet::default();
    files.retain(|file| known.insert(file.file().path.clone()));
    files
}

/// Makes few layers of many, none of them mostly absent.
fn settle(layers: Vec<Layer>) -> Vec<Layer> {
    let mut groups: Vec<Group> = layers.into_iter().map(Group::new).collect();
    groups.retain(|group| group.layers.iter().any(|layer| layer.files().next().is_some()));
    groups.sort_by_key(|group| Reverse(group.windows));
    while let Some(larger) = crowded(&groups) {
        let smaller = groups.remove(larger + 1);
        groups[larger].take_in(smaller);
        groups.sort_by_key(|group| Reverse(group.windows));
    }
    groups.into_iter().map(Group::into_layer).collect()
}

/// Layers that become one.
struct Group {
    layers: Vec<Layer>,
    windows: u64,
}

impl Group {
    fn new(layer: Layer) -> Group {
        Group { windows: layer.windows().documents, layers: vec![layer] }
    }

    fn take_in(&mut self, other: Group) {
        self.layers.extend(other.layers);
        self.windows += other.windows;
    }

    fn into_layer(self) -> Layer {
        match <[Layer; 1]>::try_from(self.layers) {
            Ok([layer]) if layer.absent_share() <= MAX_ABSENT => layer,
            Ok([layer]) => Layer::new(layer.files().cloned().collect(), Threads::Pool),
            Err(layers) => Layer::new(layers.iter().flat_map(Layer::files).cloned().collect(), Threads::Pool),
        }
    }
}

/// The last group that is to be put together with the next one.
fn crowded(groups: &[Group]) -> Option<usize> {
    let is_close = |pair: &[Group]| pair[0].windows < GROWTH * pair[1].windows;
    let close = (0..groups.len().saturating_sub(1)).rev().find(|&at| is_close(&groups[at..at + 2]));
    close.or_else(|| (groups.len() > MAX_LAYERS).then(|| groups.len() - 2))
}

#[cfg(test)]
mod tests;
