//! Tracks paths that affect a workspace but are not watched.
//!
//! Watchers report changes in the folders that the walk enters. These paths are elsewhere: ignore files above the root,
//! `info/exclude` of repositories, the user's own ignore file, the contents of folders that are skipped for their contents, files
//! with several hard links, and the folder that the root leads to.
//!
//! Responsible for the list of such paths and for finding changed ones, by reading the metadata of each. It reads no workspace
//! file and never decides which paths are skipped: it returns the paths that the walk must visit again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::path_tree::PathTree;
use crate::walk_scope::{DOT_GIT, IGNORE_FILES};
use crate::{DiskStamp, SkipReason, skipped_folders};

/// A repository's ignore file that is not part of the checkout.
const EXCLUDE_FILE: &str = "info/exclude";

/// Identity of the root folder: links may lead to another folder, and another folder may take its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RootIdentity {
    /// The root as the system writes it; some watchers name files this way.
    pub(crate) path: PathBuf,
    id: Option<u64>,
}

impl RootIdentity {
    pub(crate) fn of(root: &Path) -> RootIdentity {
        let path = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let id = fs::metadata(&path).ok().map(|metadata| DiskStamp::of(&metadata).id());
        RootIdentity { path, id }
    }
}

/// Unwatched paths with their states.
#[derive(Debug, Default)]
pub(crate) struct UnwatchedPaths(BTreeMap<PathBuf, PolledPath>);

/// Paths, and whether they existed at one moment.
pub(crate) struct PathPresence(BTreeMap<PathBuf, bool>);

#[derive(Debug)]
struct PolledPath {
    /// Path that the walk must visit again if this path has changed, relative to the root; the root is empty.
    affects: String,
    state: PathState,
}

/// State of a path.
#[derive(Debug, PartialEq, Eq)]
enum PathState {
    Absent,
    /// It exists, with any content.
    Present,
    Stamped(DiskStamp),
    /// It changed so recently that another change may go undetected.
    Unsettled,
}

impl PathState {
    /// Reads the state of a path; a later change is sure to be detected if the last one was before `begun`.
    fn at(path: &Path, begun: SystemTime) -> PathState {
        let Ok(metadata) = fs::symlink_metadata(path) else { return PathState::Absent };
        DiskStamp::of(&metadata).if_settled(begun).map_or(PathState::Unsettled, PathState::Stamped)
    }

    fn is_different(&self, path: &Path) -> bool {
        let metadata = fs::symlink_metadata(path).ok();
        match (self, metadata) {
            (PathState::Absent, metadata) => metadata.is_some(),
            (PathState::Present, metadata) => metadata.is_none(),
            (PathState::Stamped(stamp), Some(metadata)) => *stamp != DiskStamp::of(&metadata),
            (PathState::Stamped(_), None) | (PathState::Unsettled, _) => true,
        }
    }
}

impl UnwatchedPaths {
    /// Collects the unwatched paths that affect `tree`, found below `root` by a walk that began at `begun`. Paths created or
    /// removed since `before`, which was taken before the walk, are scanned again.
    pub(crate) fn collect(
        tree: &PathTree,
        root: &RootIdentity,
        begun: SystemTime,
        before: &PathPresence,
    ) -> UnwatchedPaths {
        let mut unwatched = UnwatchedPaths::default();
        unwatched.add_above(&root.path, begun);
        for (path, reason) in tree.skipped() {
            unwatched.add_skipped(&root.path, path, reason, begun);
        }
        for (path, stamp) in tree.hard_linked_files() {
            let looked = stamp.map_or(PathState::Unsettled, PathState::Stamped);
            unwatched.0.insert(root.path.join(path), PolledPath { affects: path.to_owned(), state: looked });
        }
        for (path, watched) in &mut unwatched.0 {
            let is_there = watched.state != PathState::Absent;
            if before.0.get(path).is_some_and(|was_there| *was_there != is_there) {
                watched.state = PathState::Unsettled;
            }
        }
        unwatched
    }

    /// Returns which of these paths exist now, and which of those that affect any folder at `root`.
    pub(crate) fn existing(&self, root: &RootIdentity) -> PathPresence {
        let mut above = UnwatchedPaths::default();
        above.add_above(&root.path, SystemTime::UNIX_EPOCH);
        let paths = self.0.keys().chain(above.0.keys());
        PathPresence(paths.map(|path| (path.clone(), fs::symlink_metadata(path).is_ok())).collect())
    }

    /// Returns the paths that the walk must visit again.
    pub(crate) fn affected(&self) -> BTreeSet<String> {
        let different = self.0.iter().filter(|(path, watched)| watched.state.is_different(path));
        different.map(|(_, watched)| watched.affects.clone()).collect()
    }

    fn add(&mut self, path: PathBuf, affects: &str, begun: SystemTime) {
        let looked = PathState::at(&path, begun);
        self.0.insert(path, PolledPath { affects: affects.to_owned(), state: looked });
    }

    /// Adds ignore files above the root. They apply only inside a repository, so the existence of one is tracked too.
    fn add_above(&mut self, root: &Path, begun: SystemTime) {
        for folder in root.ancestors().skip(1) {
            IGNORE_FILES.iter().for_each(|name| self.add(folder.join(name), "", begun));
            let git = folder.join(DOT_GIT);
            self.add(exclude_of(&git), "", begun);
            let looked = if git.exists() { PathState::Present } else { PathState::Absent };
            self.0.insert(git, PolledPath { affects: String::new(), state: looked });
        }
        if let Some(path) = ignore::gitignore::gitconfig_excludes_path() {
            self.add(path, "", begun);
        }
    }

    fn add_skipped(&mut self, root: &Path, path: &str, reason: SkipReason, begun: SystemTime) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match reason {
            SkipReason::Hidden if name == DOT_GIT => self.add(exclude_of(&root.join(path)), folder, begun),
            SkipReason::Run => self.add(root.join(path).join(skipped_folders::RUN_FILE), path, begun),
            _ => {}
        }
        if skipped_folders::is_judged_by_entries(name, reason) {
            self.add(root.join(path), path, begun);
        }
    }
}

/// Returns the exclude file of the repository with this `.git`: a worktree's `.git` is a file that leads to its repository.
fn exclude_of(git: &Path) -> PathBuf {
    common_git_folder(git).unwrap_or_else(|| git.to_owned()).join(EXCLUDE_FILE)
}

/// Returns the `.git` folder of the repository that a worktree's `.git` file belongs to; `None` for a folder.
fn common_git_folder(git: &Path) -> Option<PathBuf> {
    let first_line = |path: &Path| Some(fs::read_to_string(path).ok()?.lines().next()?.to_owned());
    let line = git.is_file().then(|| first_line(git)).flatten()?;
    let folder = git.parent()?.join(line.strip_prefix("gitdir: ")?);
    Some(folder.join(first_line(&folder.join("commondir"))?))
}
