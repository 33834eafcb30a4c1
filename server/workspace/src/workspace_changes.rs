//! Differences found by a scan of the disk.

use std::cmp::Ordering;
use std::sync::Arc;

use syntax::{Manifest, SourceFile};

use crate::Snapshot;

/// Differences since the previous scan, and the workspace after it. The same for any number of threads.
#[derive(Clone, Debug)]
pub struct WorkspaceChanges {
    /// New files and files with a changed text or language, in the order of their paths.
    pub changed: Vec<SourceFile>,
    /// Paths of removed files, in order.
    pub removed: Vec<Arc<str>>,
    /// Whether the manifests changed.
    pub manifests_changed: bool,
    /// The current workspace.
    pub snapshot: Snapshot,
}

impl WorkspaceChanges {
    /// Returns the differences between a snapshot and a later one, in which unchanged texts share their memory.
    pub(crate) fn between(before: &Snapshot, after: Snapshot) -> WorkspaceChanges {
        let (mut changed, mut removed) = (Vec::new(), Vec::new());
        let (mut old, mut new) = (before.files().iter().peekable(), after.files().iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.path.cmp(&new.path),
            };
            let gone = old.next_if(|_| order.is_le());
            let here = new.next_if(|_| order.is_ge());
            match (gone, here) {
                (Some(old), None) => removed.push(old.path.clone()),
                (Some(old), Some(new)) if is_same(old, new) => {}
                (_, here) => changed.extend(here.cloned()),
            }
        }
        let manifests_changed = !are_same(before.manifests(), after.manifests());
        WorkspaceChanges { changed, removed, manifests_changed, snapshot: after }
    }

    /// Returns the empty set of changes to a snapshot.
    pub(crate) fn none(snapshot: &Snapshot) -> WorkspaceChanges {
        let snapshot = snapshot.clone();
        WorkspaceChanges { changed: Vec::new(), removed: Vec::new(), manifests_changed: false, snapshot }
    }

    /// Whether there are no differences.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty() && !self.manifests_changed
    }
}

fn is_same(old: &SourceFile, new: &SourceFile) -> bool {
    old.text.is_same(&new.text) && old.language == new.language
}

fn are_same(old: &[Manifest], new: &[Manifest]) -> bool {
    let is_same =
        |(old, new): (&Manifest, &Manifest)| Arc::ptr_eq(&old.text, &new.text) && old.path == new.path;
    old.len() == new.len() && old.iter().zip(new).all(is_same)
}
