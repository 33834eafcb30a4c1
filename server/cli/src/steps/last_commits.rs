//! Times of the last commits of the files of a workspace.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use workspace::{Commit, GitHistory, GitHistoryError};

use crate::output::print_message;

/// Commits that are searched, the newest first: the whole history of most repositories. Files that they do not change keep no time.
const MAX_COMMITS: usize = 50_000;

/// Commits whose changes are read at once.
const BATCH: usize = 1_000;

/// Returns the times by path, in seconds since 1970; none without a git repository.
pub(crate) fn last_commits<'a>(
    root: &Path,
    paths: impl IntoIterator<Item = &'a str>,
) -> HashMap<String, i64> {
    let mut left: HashSet<&str> = paths.into_iter().collect();
    let mut times = HashMap::new();
    if let Err(error) = collect(root, &mut left, &mut times) {
        print_message(&format!("the dates of commits are not known: {error}"));
    }
    times
}

fn collect(
    root: &Path,
    left: &mut HashSet<&str>,
    times: &mut HashMap<String, i64>,
) -> Result<(), GitHistoryError> {
    let history = match GitHistory::open(root) {
        Err(GitHistoryError::NoRepository { .. }) => return Ok(()),
        opened => opened?,
    };
    let mut commits = history.commits("HEAD")?;
    commits.truncate(MAX_COMMITS);
    for batch in commits.chunks(BATCH) {
        if left.is_empty() {
            break;
        }
        let batch: Vec<&Commit> = batch.iter().collect();
        for (commit, changes) in batch.iter().zip(history.changes(&batch)?) {
            for file in changes.files {
                if left.remove(&*file.path) {
                    times.insert(file.path, commit.time);
                }
            }
        }
    }
    Ok(())
}
