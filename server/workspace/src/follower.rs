//! A workspace that is followed: each look at the disk finds what has changed since the one before.
//!
//! It starts no thread that outlives a call and asks for no events; who is told of changes says where to look.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::scope::{Place, Scope, affected, place};
use crate::tree::Tree;
use crate::unwatched::{RootIdentity, Unwatched};
use crate::walk::walk;
use crate::{Changes, Error, Limits, Progress, Snapshot, Stamp, TextHash, check_folder};

/// A text that is known from earlier, as [`Follower::known`] gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Path relative to the workspace root, with `/` between its parts.
    pub path: Arc<str>,
    /// How its file looked; `None` if that does not vouch for the text.
    pub stamp: Option<Stamp>,
    /// The hash of the text.
    pub hash: TextHash,
    /// The whole text.
    pub text: Arc<str>,
}

/// A workspace that is followed. Its snapshot is always what [`load`](crate::load) would give at the moment of the last look, at
/// least of the paths that were looked at; a workspace without source is an empty snapshot here.
#[derive(Debug)]
pub struct Follower {
    root: Arc<Path>,
    identity: RootIdentity,
    moves: u64,
    unwatched: Unwatched,
    limits: Limits,
    tree: Tree,
    snapshot: Snapshot,
}

impl Follower {
    /// Walks `root` and reads the source files that are not `known`: a known text, found under the same limits, is taken as it is where its
    /// file looks as it did then, and is kept where the file turns out to say the same. Waits for the disk. `progress` is called from
    /// several threads, once for each file that is found or read.
    pub fn open(
        root: &Path,
        limits: &Limits,
        known: impl IntoIterator<Item = Known>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Follower, Error> {
        Follower::open_while(root, limits, known, progress, &|| true)
    }

    /// The same as long as `keep_going`, which is asked for each file, says `true`; then [`Error::Cancelled`].
    pub fn open_while(
        root: &Path,
        limits: &Limits,
        known: impl IntoIterator<Item = Known>,
        progress: &(dyn Fn(Progress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Follower, Error> {
        let identity = RootIdentity::of(root);
        let root = Arc::from(root);
        let snapshot = Tree::default().snapshot(&root);
        let tree = Tree::of_known(known);
        let unwatched = Unwatched::default();
        let mut follower = Follower { root, identity, moves: 0, unwatched, limits: *limits, tree, snapshot };
        follower.look(BTreeSet::from([String::new()]), progress, keep_going)?;
        Ok(follower)
    }

    /// The folder that is followed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder as the system writes it: links may lead to another one after a look.
    pub fn canonical_root(&self) -> &Path {
        &self.identity.path
    }

    /// How often the root has turned out to be another folder, whose watch has to begin anew.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The workspace as the last look has found it.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }

    /// The source files, in the order of their paths, for a later [`open`](Follower::open).
    pub fn known(&self) -> impl Iterator<Item = Known> {
        self.tree.known()
    }

    /// The folders that source may lie in, relative to the root and in order; the root is empty.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.tree.entered().iter().map(|folder| &**folder)
    }

    /// Looks at `paths`, at which something was created, changed or removed, or which something was renamed from or to; a folder stands
    /// for all that is in it. They are absolute or relative to the root; what lies elsewhere, or is left out anyway, costs nothing.
    ///
    /// Waits for the disk: it lists the folders from the root down to the paths and reads the files there that look different. Beside
    /// that it takes a millisecond for every 10,000 files of the workspace, to make the snapshot.
    pub fn refresh(&mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Changes, Error> {
        let scoped: BTreeSet<String> =
            paths.into_iter().flat_map(|path| self.affected_by(path.as_ref())).collect();
        if scoped.is_empty() {
            return Ok(Changes::none(&self.snapshot));
        }
        self.look(scoped, &|_| (), &|| true)
    }

    /// Looks at everything, and reads the files that look different; also what there is to do after an error. Waits for the disk.
    pub fn refresh_all(&mut self) -> Result<Changes, Error> {
        self.look(BTreeSet::from([String::new()]), &|_| (), &|| true)
    }

    /// Looks at what no watcher reports, and at what depends on it: ignore files above the root and in repositories, the contents of
    /// folders that are left out, files with further names, and where the root leads. To be called at intervals: it takes a microsecond
    /// for each such path as long as none of them looks different.
    pub fn poll(&mut self) -> Result<Changes, Error> {
        let is_moved = RootIdentity::of(&self.root) != self.identity;
        if !is_moved && self.unwatched.affected().is_empty() {
            return Ok(Changes::none(&self.snapshot));
        }
        self.look(BTreeSet::new(), &|_| (), &|| true)
    }

    /// Which paths to look at when something has happened to `path`. Below what is left out nothing is of interest but whether it
    /// still is.
    fn affected_by(&self, path: &Path) -> Vec<String> {
        let path = match place(path, &[&self.root, &self.identity.path]) {
            Place::Above => return vec![String::new()],
            Place::Outside => return Vec::new(),
            Place::Below(path) => path,
        };
        let mut affected = affected(&path, |path| self.tree.knows(path));
        for path in &mut affected {
            if let Some(closed) = self.tree.closed_above(path) {
                path.truncate(closed.len());
            }
        }
        affected
    }

    fn check_going(&self, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<(), Error> {
        if keep_going() { Ok(()) } else { Err(Error::Cancelled { path: self.root.to_path_buf() }) }
    }

    fn look(
        &mut self,
        mut paths: BTreeSet<String>,
        progress: &(dyn Fn(Progress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Changes, Error> {
        check_folder(&self.root)?;
        let begun = SystemTime::now();
        let identity = RootIdentity::of(&self.root);
        if identity != self.identity {
            paths = BTreeSet::from([String::new()]);
            self.identity = identity;
            self.moves += 1;
        }
        // Each look takes in what no watcher reports: how that looks is noted anew after it, and a change before would never show again.
        paths.extend(self.unwatched.affected());
        let before = self.unwatched.existing(&self.identity);
        let found =
            walk(&self.root, &Scope::of(&paths, self.tree.entered()), &self.limits, progress, keep_going);
        self.check_going(keep_going)?;
        // A root that vanishes under the walk, or under the reading, looks empty.
        check_folder(&self.root)?;
        self.tree.update(&paths, found, begun);
        self.unwatched = Unwatched::of(&self.tree, &self.identity, begun, &before);
        self.tree.read(&self.root, &self.limits, progress, keep_going);
        self.check_going(keep_going)?;
        check_folder(&self.root)?;
        let changes = Changes::between(&self.snapshot, self.tree.snapshot(&self.root));
        self.snapshot = changes.snapshot.clone();
        Ok(changes)
    }
}
