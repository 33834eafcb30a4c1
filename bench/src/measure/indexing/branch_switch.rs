//! A branch switch: thousands of files change on disk at once.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use session::Indexer;
use syntax::SourceFile;
use workspace::ScanScope;

use super::time;

/// Number of changed files; all files of a smaller folder.
const FILES: usize = 2_000;

/// Cost of a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchSwitchTime {
    pub(super) files: usize,
    /// Time until all changes are searchable.
    pub(super) took: Duration,
}

/// Measures switches in both directions; the slower one counts.
pub(super) fn measure(indexer: &mut Indexer, folder: &Path) -> Result<BranchSwitchTime> {
    let files = Arc::clone(indexer.current().files());
    let changed: Vec<&SourceFile> = files.iter().take(FILES).collect();
    let there = switch(indexer, folder, &changed, "\n\n")?;
    let back = switch(indexer, folder, &changed, "")?;
    Ok(BranchSwitchTime { files: changed.len(), took: there.max(back) })
}

/// Appends a text to the files, and updates the index.
fn switch(indexer: &mut Indexer, folder: &Path, files: &[&SourceFile], end: &str) -> Result<Duration> {
    for file in files {
        fs::write(folder.join(&*file.path), format!("{}{end}", file.text))?;
    }
    let (took, is_changed) = time(|| indexer.refresh(&ScanScope::Everything));
    ensure!(is_changed?, "the changed files were not seen");
    Ok(took)
}
