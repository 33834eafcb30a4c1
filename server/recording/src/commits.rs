//! Commits of the folders in which trials run: reports the text that a commit has at the places that are followed.
//!
//! Responsible for noticing commits and reading their files. Nothing here waits in the recorder's thread: git is asked there only if one
//! of its files has changed, and texts are read by a thread of their own. A folder without git has no commits, which is no problem.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use trial::{CommittedFile, DocumentKey, EventKind};
use workspace::{GitHistory, HeadTracker};

use crate::trial_session::TrialSessionState;

/// The checked-out commits of the folders, by their roots.
#[derive(Default)]
pub(crate) struct Commits {
    heads: HashMap<PathBuf, HeadTracker>,
}

impl Commits {
    /// Follows these folders only.
    pub(crate) fn follow<'a>(&mut self, roots: impl Iterator<Item = &'a Path>) {
        let mut known = std::mem::take(&mut self.heads);
        let follow = |root: &Path| {
            let head = known.remove(root).unwrap_or_else(|| HeadTracker::new(root.to_owned()));
            (root.to_owned(), head)
        };
        self.heads = roots.map(follow).collect();
    }

    /// Returns the folders in which another commit is checked out than before.
    pub(crate) fn moved(&mut self) -> Vec<(PathBuf, String)> {
        let moved = |(root, head): (&PathBuf, &mut HeadTracker)| Some((root.clone(), head.moved()?));
        self.heads.iter_mut().filter_map(moved).collect()
    }

    /// Returns the checked-out commit of a folder.
    pub(crate) fn commit_of(&self, root: &Path) -> Option<&str> {
        self.heads.get(root)?.commit()
    }
}

/// Reads the texts of these files in a commit, and passes them to the recorder.
pub(crate) fn report(
    session: Weak<TrialSessionState>,
    root: PathBuf,
    commit: String,
    files: Vec<(DocumentKey, Arc<str>)>,
) {
    if files.is_empty() {
        return;
    }
    let work = move || {
        let (files, made) = match committed_files(&root, &commit, &files) {
            Ok(found) => found,
            Err(error) => return tracing::warn!(%error, "the truths of a commit are not taken"),
        };
        if let Some(session) = session.upgrade() {
            let age = session.trial.clock().system_time().duration_since(made).unwrap_or_default();
            let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
            session.trial.record(EventKind::Committed { files, age });
        }
    };
    if let Err(error) = thread::Builder::new().name("trial-commit".to_owned()).spawn(work) {
        tracing::warn!(%error, "the truths of a commit are not taken");
    }
}

/// Returns the files that are in a commit, and when it was made.
fn committed_files(
    root: &Path,
    commit: &str,
    files: &[(DocumentKey, Arc<str>)],
) -> Result<(Vec<CommittedFile>, SystemTime), workspace::GitHistoryError> {
    let mut history = GitHistory::open(root)?;
    let made = UNIX_EPOCH + history.committed_at(commit)?;
    let mut found = Vec::new();
    for (document, path) in files {
        if let Some(text) = history.read_at(commit, path)? {
            found.push(CommittedFile { document: document.clone(), text });
        }
    }
    Ok((found, made))
}
