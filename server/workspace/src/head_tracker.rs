//! The checked-out commit of a workspace, asked again and again.
//!
//! Looks at the files that git writes when a commit is made or checked out, and starts git only if one of them has changed. Worktrees,
//! submodules (`.git` is a file) and folders below the root of a repository are followed; a folder without a repository, without a
//! commit, or on a machine without git has no commit.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk_stamp::DiskStamp;
use crate::git::git;

/// Largest `HEAD` that is read, bytes: a reference has at most some hundred.
const MAX_HEAD_BYTES: u64 = 4_096;

/// Follows the checked-out commit of one folder.
#[derive(Debug)]
pub struct HeadTracker {
    root: PathBuf,
    repository: Option<GitFolders>,
    /// `.git` in the root when the repository was looked for last; the outer option is `None` before.
    looked_at: Option<Option<DiskStamp>>,
    /// The state of git's files when git was asked last.
    seen: Vec<Option<DiskStamp>>,
    commit: Option<String>,
}

/// Where git keeps the state of a working tree.
#[derive(Debug)]
struct GitFolders {
    /// Of this working tree.
    own: PathBuf,
    /// Of all working trees of the repository.
    common: PathBuf,
}

impl HeadTracker {
    /// Follows the folder `root`; nothing is read yet.
    pub fn new(root: PathBuf) -> HeadTracker {
        HeadTracker { root, repository: None, looked_at: None, seen: Vec::new(), commit: None }
    }

    /// Returns the commit that was checked out when it was asked for last.
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// Looks again. Returns the commit if it is another one than before: a commit was made, amended, rebased or checked out. The first
    /// call returns none. Takes microseconds if nothing has changed, otherwise the time of a git command.
    pub fn moved(&mut self) -> Option<String> {
        let is_first = self.looked_at.is_none();
        let marker = stamp(&self.root.join(".git"));
        if self.looked_at != Some(marker) {
            self.looked_at = Some(marker);
            self.repository = GitFolders::of(&self.root);
            self.seen.clear();
        }
        let files = self.repository.as_ref()?.watched_files();
        let seen: Vec<Option<DiskStamp>> = files.iter().map(|file| stamp(file)).collect();
        if seen == self.seen {
            return None;
        }
        self.seen = seen;
        let commit = git(&self.root, &["rev-parse", "--verify", "--quiet", "HEAD"]);
        if commit == self.commit {
            return None;
        }
        self.commit.clone_from(&commit);
        commit.filter(|_| !is_first)
    }
}

impl GitFolders {
    fn of(root: &Path) -> Option<GitFolders> {
        let answer = git(root, &["rev-parse", "--absolute-git-dir", "--git-common-dir"])?;
        let mut lines = answer.lines();
        let (own, common) = (lines.next()?, lines.next()?);
        Some(GitFolders { own: own.into(), common: root.join(common) })
    }

    /// The files of which at least one changes with the commit, whatever way references are stored.
    fn watched_files(&self) -> Vec<PathBuf> {
        let head = self.own.join("HEAD");
        let text = fs::metadata(&head)
            .ok()
            .filter(|head| head.len() <= MAX_HEAD_BYTES)
            .and_then(|_| fs::read_to_string(&head).ok());
        let reference = text.as_deref().and_then(|text| text.strip_prefix("ref: ")).map(str::trim);
        let mut files = vec![
            head,
            self.own.join("logs/HEAD"),
            self.own.join("reftable/tables.list"),
            self.common.join("packed-refs"),
            self.common.join("reftable/tables.list"),
        ];
        files.extend(reference.map(|reference| self.common.join(reference)));
        files
    }
}

fn stamp(path: &Path) -> Option<DiskStamp> {
    fs::symlink_metadata(path).ok().map(|found| DiskStamp::of(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(root: &Path, args: &[&str]) -> String {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        git(root, &[&author[..], args].concat()).expect("git succeeds")
    }

    fn commit(root: &Path, text: &str) -> String {
        fs::write(root.join("a.py"), text).expect("it is written");
        run(root, &["add", "."]);
        run(root, &["commit", "--quiet", "--message=a"]);
        run(root, &["rev-parse", "HEAD"])
    }

    #[test]
    fn commits_amendments_and_checkouts_move_the_head() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let root = folder.path().join("project");
        fs::create_dir(&root).expect("it is created");
        let mut tracker = HeadTracker::new(root.clone());
        assert_eq!(tracker.moved(), None, "no repository");
        run(&root, &["init", "--quiet"]);
        assert_eq!((tracker.moved(), tracker.commit()), (None, None), "no commit");
        let first = commit(&root, "x = 1\n");
        assert_eq!(tracker.moved(), Some(first.clone()));
        assert_eq!(tracker.moved(), None);
        fs::write(root.join("b.py"), "y = 1\n").expect("it is written");
        run(&root, &["add", "."]);
        run(&root, &["commit", "--quiet", "--amend", "--no-edit"]);
        let amended = tracker.moved().expect("another commit");
        assert_ne!(amended, first);
        run(&root, &["checkout", "--quiet", "--detach", &first]);
        assert_eq!(tracker.moved(), Some(first));
        let detached = commit(&root, "x = 2\n");
        assert_eq!(tracker.moved(), Some(detached));
        run(&root, &["pack-refs", "--all"]);
        assert_eq!(tracker.moved(), None);
    }

    #[test]
    fn worktrees_and_folders_in_a_repository_have_their_own_head() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("below")).expect("it is created");
        run(&root, &["init", "--quiet"]);
        let first = commit(&root, "x = 1\n");
        run(&root, &["worktree", "add", "--quiet", "../tree"]);
        let tree = folder.path().join("tree");
        let mut trackers = [&root.join("below"), &tree].map(|root| HeadTracker::new(root.clone()));
        for tracker in &mut trackers {
            assert_eq!((tracker.moved(), tracker.commit()), (None, Some(&*first)));
        }
        let second = commit(&tree, "x = 2\n");
        let moved = trackers.each_mut().map(HeadTracker::moved);
        assert_eq!(moved, [None, Some(second)]);
    }
}
