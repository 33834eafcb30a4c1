//! Tracks a workspace: each scan of the disk finds the changes since the previous one.
//!
//! It starts no thread that outlives a call and subscribes to no events; the caller passes the changed paths.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use stored::{BlockStore, SharedText};

use crate::path_tree::PathTree;
use crate::unwatched_paths::{RootIdentity, UnwatchedPaths};
use crate::walk::walk;
use crate::walk_scope::{PathLocation, WalkScope, affected_paths, folders_above, locate};
use crate::{
    DiskStamp, LoadProgress, ReadLimits, Snapshot, TextHash, WorkspaceChanges, WorkspaceError, check_folder,
};

/// A text known from an earlier session, from [`WorkspaceTracker::known_files`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: Arc<str>,
    /// Stamp of the file; `None` if it is not reliable for the text.
    pub stamp: Option<DiskStamp>,
    /// The hash of the text.
    pub hash: TextHash,
    /// The whole text.
    pub text: SharedText,
}

/// A place for texts that do not fit in memory.
#[derive(Clone, Debug)]
pub struct TextStore {
    /// The place.
    pub store: Arc<dyn BlockStore>,
    /// Bytes of all texts above which they are stored there.
    pub above_bytes: u64,
}

/// A tracked workspace. Its snapshot always equals the result of [`load`](crate::load) at the moment of the last scan, at least
/// for the scanned paths; a workspace without source gives an empty snapshot here.
#[derive(Debug)]
pub struct WorkspaceTracker {
    root: Arc<Path>,
    identity: RootIdentity,
    root_changes: u64,
    unwatched: UnwatchedPaths,
    limits: ReadLimits,
    /// Where texts are stored if they are many.
    texts: Option<TextStore>,
    tree: PathTree,
    snapshot: Snapshot,
}

impl WorkspaceTracker {
    /// Walks `root` and reads the source files. A `known` text, found under the same limits, is reused without reading if its
    /// file's stamp is the same, and keeps its memory if the file's text turns out to be the same. Waits for the disk. `progress`
    /// is called from several threads, once for each file that is found or read.
    pub fn open(
        root: &Path,
        limits: &ReadLimits,
        known: impl IntoIterator<Item = KnownFile>,
        progress: &(dyn Fn(LoadProgress) + Sync),
    ) -> Result<WorkspaceTracker, WorkspaceError> {
        WorkspaceTracker::open_while(root, limits, known, None, progress, &|| true)
    }

    /// Like `open`, but stops with [`WorkspaceError::Cancelled`] once `keep_going`, which is called for each file, returns `false`.
    pub fn open_while(
        root: &Path,
        limits: &ReadLimits,
        known: impl IntoIterator<Item = KnownFile>,
        texts: Option<TextStore>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<WorkspaceTracker, WorkspaceError> {
        let mut follower = WorkspaceTracker::new(root, limits, PathTree::from_known(known), texts);
        follower.scan(BTreeSet::from([String::new()]), progress, keep_going)?;
        Ok(follower)
    }

    /// Walks only some directories below `root`.
    pub(crate) fn open_directories(
        root: &Path,
        limits: &ReadLimits,
        directories: &[Arc<str>],
    ) -> Result<WorkspaceTracker, WorkspaceError> {
        // Of a folder that was entered before, a walk visits only the named paths.
        let tree = PathTree::with_entered(directories.iter().flat_map(|path| folders_above(path)));
        let mut follower = WorkspaceTracker::new(root, limits, tree, None);
        let directories = directories.iter().map(|path| path.to_string()).collect();
        follower.scan(directories, &|_| (), &|| true)?;
        Ok(follower)
    }

    fn new(root: &Path, limits: &ReadLimits, tree: PathTree, texts: Option<TextStore>) -> WorkspaceTracker {
        let identity = RootIdentity::of(root);
        let root = Arc::from(root);
        let snapshot = PathTree::default().snapshot(&root);
        let unwatched = UnwatchedPaths::default();
        WorkspaceTracker {
            root,
            identity,
            root_changes: 0,
            unwatched,
            limits: *limits,
            texts,
            tree,
            snapshot,
        }
    }

    /// Returns the tracked folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder as the system writes it: after a scan, links may lead to another one.
    pub fn canonical_root(&self) -> &Path {
        &self.identity.path
    }

    /// Returns how often the root was replaced by another folder, which needs a new watch.
    pub fn root_changes(&self) -> u64 {
        self.root_changes
    }

    /// Returns the workspace as of the last scan.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }

    /// Returns the source files in the order of their paths, for a later [`open`](WorkspaceTracker::open).
    pub fn known_files(&self) -> impl Iterator<Item = KnownFile> {
        self.tree.known_files()
    }

    /// Returns the folders that may contain source, relative to the root and in order; the root is empty.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.tree.entered().iter().map(|folder| &**folder)
    }

    /// Scans `paths`, where something was created, changed, removed, or renamed from or to; a folder includes everything in it.
    /// They are absolute or relative to the root; paths outside of the workspace, or skipped anyway, cost nothing.
    ///
    /// Waits for the disk: it lists the folders from the root down to the paths and reads the files there whose stamps differ. In
    /// addition it takes a millisecond for every 10,000 files of the workspace, to create the snapshot.
    pub fn refresh(
        &mut self,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<WorkspaceChanges, WorkspaceError> {
        let scoped: BTreeSet<String> =
            paths.into_iter().flat_map(|path| self.affected_by(path.as_ref())).collect();
        if scoped.is_empty() {
            return Ok(WorkspaceChanges::none(&self.snapshot));
        }
        self.scan(scoped, &|_| (), &|| true)
    }

    /// Scans everything, and reads the files whose stamps differ. Also needed after an error. Waits for the disk.
    pub fn refresh_all(&mut self) -> Result<WorkspaceChanges, WorkspaceError> {
        self.scan(BTreeSet::from([String::new()]), &|_| (), &|| true)
    }

    /// Scans the paths that no watcher reports, and everything that depends on them: ignore files above the root and in
    /// repositories, the contents of skipped folders, files with several hard links, and the target of the root. Must be called
    /// at intervals: it takes a microsecond for each such path as long as none of them has changed.
    pub fn poll(&mut self) -> Result<WorkspaceChanges, WorkspaceError> {
        let is_moved = RootIdentity::of(&self.root) != self.identity;
        if !is_moved && self.unwatched.affected().is_empty() {
            return Ok(WorkspaceChanges::none(&self.snapshot));
        }
        self.scan(BTreeSet::new(), &|_| (), &|| true)
    }

    /// Returns the paths to scan after an event at `path`. Below a skipped path, only whether it is still skipped matters.
    fn affected_by(&self, path: &Path) -> Vec<String> {
        let path = match locate(path, &[&self.root, &self.identity.path]) {
            PathLocation::Above => return vec![String::new()],
            PathLocation::Outside => return Vec::new(),
            PathLocation::Below(path) => path,
        };
        let mut affected = affected_paths(&path, |path| self.tree.contains(path));
        for path in &mut affected {
            if let Some(closed) = self.tree.skipped_ancestor(path) {
                path.truncate(closed.len());
            }
        }
        affected
    }

    fn check_going(&self, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<(), WorkspaceError> {
        if keep_going() { Ok(()) } else { Err(WorkspaceError::Cancelled { path: self.root.to_path_buf() }) }
    }

    fn scan(
        &mut self,
        mut paths: BTreeSet<String>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<WorkspaceChanges, WorkspaceError> {
        check_folder(&self.root)?;
        let begun = SystemTime::now();
        let identity = RootIdentity::of(&self.root);
        if identity != self.identity {
            paths = BTreeSet::from([String::new()]);
            self.identity = identity;
            self.root_changes += 1;
        }
        // Each scan includes the paths that no watcher reports: their state is recorded again after it, which would hide an
        // earlier change forever.
        paths.extend(self.unwatched.affected());
        let before = self.unwatched.existing(&self.identity);
        let found = walk(
            &self.root,
            &WalkScope::new(&paths, self.tree.entered()),
            &self.limits,
            progress,
            keep_going,
        );
        self.check_going(keep_going)?;
        // A root that vanishes during the walk or the reading looks empty.
        check_folder(&self.root)?;
        self.tree.update(&paths, found, begun);
        self.unwatched = UnwatchedPaths::collect(&self.tree, &self.identity, begun, &before);
        self.tree.read(&self.root, &self.limits, self.texts.as_ref(), progress, keep_going);
        self.check_going(keep_going)?;
        check_folder(&self.root)?;
        let store = self.texts.as_ref().map(|texts| Arc::clone(&texts.store));
        let snapshot = self.tree.snapshot(&self.root).in_store(store);
        let changes = WorkspaceChanges::between(&self.snapshot, snapshot);
        self.snapshot = changes.snapshot.clone();
        Ok(changes)
    }
}
