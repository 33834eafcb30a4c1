//! Changes whose files were read and derived, but that are not in the index yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use index::FileIndex;

/// The changes of one or more scans, the last one of each path.
#[derive(Default)]
pub(super) struct PreparedChanges {
    /// By path the entry of a new or changed file; `None` for a removed one.
    entries: BTreeMap<Arc<str>, Option<Arc<FileIndex>>>,
    manifests_changed: bool,
}

/// Prepared changes in the order of their paths.
pub(super) struct IndexChanges {
    pub(super) changed: Vec<Arc<FileIndex>>,
    pub(super) removed: Vec<Arc<str>>,
    pub(super) manifests_changed: bool,
}

impl PreparedChanges {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.manifests_changed
    }

    /// Adds the changes of the next scan.
    pub(super) fn add(&mut self, scanned: IndexChanges) {
        let IndexChanges { changed, removed, manifests_changed } = scanned;
        self.entries.extend(removed.into_iter().map(|path| (path, None)));
        self.entries.extend(changed.into_iter().map(|entry| (Arc::clone(&entry.file().path), Some(entry))));
        self.manifests_changed |= manifests_changed;
    }

    /// Takes all changes out.
    pub(super) fn take(&mut self) -> IndexChanges {
        let PreparedChanges { entries, manifests_changed } = std::mem::take(self);
        let mut changes = IndexChanges { changed: Vec::new(), removed: Vec::new(), manifests_changed };
        for (path, entry) in entries {
            match entry {
                Some(entry) => changes.changed.push(entry),
                None => changes.removed.push(path),
            }
        }
        changes
    }
}
