//! Reads the source files that commits changed, by today's rules of the workspace.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use mining::history::FileChange;
use syntax::{Manifest, SourceFile};
use workspace::{BlobText, CommitChanges, GitHistory, SkipReason};

/// Which paths the workspace's rules admit today: ignored and secret-like files are not read from history either.
pub(crate) struct Admissions<'a> {
    root: &'a Path,
    known: HashMap<String, Option<SkipReason>>,
}

impl<'a> Admissions<'a> {
    pub(crate) fn new(root: &'a Path) -> Admissions<'a> {
        Admissions { root, known: HashMap::new() }
    }

    /// Returns the reason why a path is not read.
    pub(crate) fn refusal(&mut self, path: &str) -> Option<SkipReason> {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        // The size of today's file does not matter, and it may be no file any more.
        let refusal = workspace::admits(self.root, path).err().filter(|reason| {
            !matches!(reason, SkipReason::Oversized | SkipReason::Unreadable | SkipReason::Special)
        });
        let is_manifest = refusal == Some(SkipReason::UnsupportedLanguage) && Manifest::is_at(path);
        let refusal = refusal.filter(|_| !is_manifest);
        self.known.insert(path.to_owned(), refusal);
        refusal
    }
}

/// The source files of a commit.
#[derive(Default)]
pub(crate) struct ReadFiles {
    pub(crate) files: Vec<FileChange>,
    /// Why other files were left out.
    pub(crate) skipped: Vec<SkipReason>,
    /// Whether the commit changes so many files that none was read.
    pub(crate) is_too_large: bool,
}

/// Reads the source files of a commit.
pub(crate) fn read_files(
    history: &mut GitHistory,
    admitted: &mut Admissions<'_>,
    changes: CommitChanges,
) -> anyhow::Result<ReadFiles> {
    if changes.is_truncated {
        return Ok(ReadFiles { is_too_large: true, ..ReadFiles::default() });
    }
    let (mut files, mut skipped) = (Vec::new(), Vec::new());
    for change in changes.files {
        if let Some(reason) = admitted.refusal(&change.path) {
            skipped.push(reason);
            continue;
        }
        let mut read =
            |path: &str, id: Option<&String>| -> anyhow::Result<Result<Option<SourceFile>, SkipReason>> {
                let Some(id) = id else { return Ok(Ok(None)) };
                Ok(history.read(path, id)?.map(|text| match text {
                    BlobText::Source(file) => Some(file),
                    BlobText::Manifest(_) => None,
                }))
            };
        let before = read(change.old_path.as_ref().unwrap_or(&change.path), change.before.as_ref())?;
        let after = read(&change.path, change.after.as_ref())?;
        match (before, after) {
            (Err(reason), _) | (_, Err(reason)) => skipped.push(reason),
            (Ok(None), Ok(None)) => {}
            (Ok(before), Ok(after)) => {
                let Some(language) = after.as_ref().or(before.as_ref()).map(|file| file.language) else {
                    continue;
                };
                files.push(FileChange {
                    path: change.path.into(),
                    old_path: change.old_path.map(Arc::from),
                    language,
                    before: before.map(|file| file.text.to_arc()),
                    after: after.map(|file| file.text.to_arc()),
                });
            }
        }
    }
    Ok(ReadFiles { files, skipped, is_too_large: false })
}
