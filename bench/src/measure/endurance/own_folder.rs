//! The folder of the day in the workspace: copies of some of its files on two branches, between which a checkout switches.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use syntax::Language;

use crate::measure::lsp::editor::{CHANGED, CREATED, DELETED};

/// Name of the folder in the workspace.
const NAME: &str = "ghostbench-endurance";
/// Copied files.
const FILES: usize = 300;
/// Sizes of copied files in bytes.
const FILE_BYTES: std::ops::Range<u64> = 2_000..60_000;
/// Every file of this number is only on the first branch.
const ABSENT_EVERY: usize = 6;
/// Files that are looked at, at most: a large workspace has more than enough.
const MAX_SEEN: usize = 20_000;

/// A copied file.
pub(super) struct BranchedFile {
    pub(super) path: PathBuf,
    pub(super) language: Language,
    /// Its text on each branch; `None` if it is not there.
    pub(super) texts: [Option<String>; 2],
}

/// The folder; dropping it removes it.
pub(super) struct OwnFolder {
    root: PathBuf,
    pub(super) files: Vec<BranchedFile>,
}

impl OwnFolder {
    /// Copies files of the workspace, on the first branch.
    pub(super) fn create(workspace: &Path) -> Result<OwnFolder> {
        let root = workspace.join(NAME);
        let sources = sources(workspace, &root)?;
        ensure!(sources.len() >= 20, "{} has too few source files", workspace.display());
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir(&root).with_context(|| format!("cannot write to {}", workspace.display()))?;
        let mut folder = OwnFolder { root, files: Vec::new() };
        let step = (sources.len() / FILES).max(1);
        for (number, (source, language)) in sources.iter().step_by(step).take(FILES).enumerate() {
            let Ok(text) = fs::read_to_string(source) else { continue };
            let text = text.replace("\r\n", "\n");
            let extension = source.extension().unwrap_or_default().to_string_lossy();
            let path = folder.root.join(format!("file_{number}.{extension}"));
            let other = (number % ABSENT_EVERY != 0).then(|| other_version(&text));
            fs::write(&path, &text)?;
            folder.files.push(BranchedFile { path, language: *language, texts: [Some(text), other] });
        }
        Ok(folder)
    }

    /// Writes the files of a branch, and removes those that it has not. Returns the changed paths with the kinds of changes.
    pub(super) fn check_out(&self, branch: usize) -> Result<Vec<(&Path, u8)>> {
        let mut changes = Vec::new();
        for file in &self.files {
            let existed = file.path.exists();
            let kind = match &file.texts[branch] {
                Some(text) => {
                    fs::write(&file.path, text)?;
                    if existed { CHANGED } else { CREATED }
                }
                None if existed => {
                    fs::remove_file(&file.path)?;
                    DELETED
                }
                None => continue,
            };
            changes.push((file.path.as_path(), kind));
        }
        Ok(changes)
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // A file that cannot be removed stays in a folder that says where it came from.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The text on the other branch: without every seventh line, and with a line of its own at the end.
fn other_version(text: &str) -> String {
    let lines = text.lines().enumerate().filter(|(number, _)| number % 7 != 3);
    lines.map(|(_, line)| format!("{line}\n")).chain(["\n".to_owned()]).collect()
}

/// Returns source files of the workspace, in the order of their paths.
fn sources(workspace: &Path, without: &Path) -> Result<Vec<(PathBuf, Language)>> {
    let mut found = Vec::new();
    let mut folders = vec![workspace.to_owned()];
    while let Some(folder) = folders.pop()
        && found.len() < MAX_SEEN
    {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() && !is_hidden && path != without {
                folders.push(path);
            } else if kind.is_file()
                && FILE_BYTES.contains(&entry.metadata()?.len())
                && let Some(language) = Language::from_path(&path.to_string_lossy())
            {
                found.push((path, language));
            }
        }
    }
    found.sort_by(|(path, _), (other, _)| path.cmp(other));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_changes_creates_and_deletes_and_the_folder_is_removed() {
        let project = ::tests::Project::new("");
        for number in 0..40 {
            project.write(&format!("a/{number}.py"), "size = 1\n".repeat(300));
        }
        let folder = OwnFolder::create(&project.root()).expect("it is writable");
        let kinds = |branch| {
            let changes = folder.check_out(branch).expect("it is writable");
            [CREATED, CHANGED, DELETED].map(|kind| changes.iter().filter(|(_, found)| *found == kind).count())
        };
        assert_eq!(folder.files.len(), 40);
        assert_eq!(kinds(1), [0, 33, 7]);
        assert_eq!(kinds(1), [0, 33, 0]);
        assert_eq!(kinds(0), [7, 33, 0]);
        let root = folder.root.clone();
        assert!(root.is_dir());
        drop(folder);
        assert!(!root.exists());
    }
}
