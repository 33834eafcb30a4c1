//! The code near the open documents of a large folder, indexed before everything else, so that it serves requests within seconds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use completion::WorkspaceIndex;
use index::Index;
use syntax::Projects;
use workspace::{ReadLimits, load_directories};

use crate::folder::Folder;

/// Maximum bytes of near code: a second or two of one core.
const MAX_BYTES: u64 = 8 << 20;
/// Time for the editor to say which documents are open: it does so right after it has opened the folder.
const PATIENCE: Duration = Duration::from_millis(300);

/// Returns the directories of the open documents, except the root; none if no document is opened for a while.
pub(super) async fn near_directories(folder: &Folder) -> Vec<Arc<str>> {
    if folder.recent_directories().is_empty() {
        // The time is up, or a document was opened: both lead to the same question.
        let _ = tokio::time::timeout(PATIENCE, folder.opened_elsewhere.notified()).await;
    }
    let mut directories = folder.recent_directories();
    directories.retain(|directory| !directory.is_empty());
    directories
}

/// Indexes the files in `directories` and below them, as far as there is room; `None` without any.
pub(super) fn index_near_code(root: &Path, directories: &[Arc<str>]) -> Option<WorkspaceIndex> {
    let limits = ReadLimits { total_bytes: MAX_BYTES, ..ReadLimits::standard() };
    // A folder that cannot be read is reported when all of it is read.
    let snapshot = load_directories(root, &limits, directories).ok()?;
    let files = Arc::clone(snapshot.files());
    let projects = Arc::new(Projects::new(snapshot.manifests()));
    let index = Index::build(&files);
    (!files.is_empty()).then(|| WorkspaceIndex::empty().with_index(files, index, projects))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_the_directories_of_open_documents_are_indexed() {
        let folder = tempfile::tempdir().unwrap();
        for path in
            ["a/near/x.py", "a/near/below/y.py", "a/far/z.py", "b/w.py", "v.py", "a/near/ignored/u.py"]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "shared_name = 1\n").unwrap();
        }
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".gitignore"), "ignored\n").unwrap();
        let near = |directories: &[&str]| {
            let directories: Vec<Arc<str>> = directories.iter().map(|&directory| directory.into()).collect();
            let index = index_near_code(folder.path(), &directories)?;
            let searcher = index.index().hide(&[]);
            Some(
                searcher
                    .occurrences("shared_name")
                    .iter()
                    .map(|found| found.file.path().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(near(&["a/near"]).unwrap(), ["a/near/below/y.py", "a/near/x.py"]);
        assert_eq!(near(&["b", "a/near/below"]).unwrap(), ["a/near/below/y.py", "b/w.py"]);
        assert_eq!(near(&["missing"]), None);
    }
}
