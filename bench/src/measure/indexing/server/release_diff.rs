//! The files that differ between two folders, and their checkout, as git does it: files that the other folder lacks are removed, then
//! all others are removed and created again, so that each is another file than before.
//!
//! Files that no language server reads count too, because a watcher reports them. Links are left out, and repositories.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use ::tests::lsp::uri;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::switch;
use crate::measure::lsp::editor::{CHANGED, CREATED, DELETED};

/// Paths relative to both folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReleaseDiff {
    pub(super) changed: BTreeSet<PathBuf>,
    pub(super) created: BTreeSet<PathBuf>,
    pub(super) removed: BTreeSet<PathBuf>,
}

impl ReleaseDiff {
    /// Compares the files of two folders byte by byte.
    pub(super) fn between(old: &Path, new: &Path) -> Result<ReleaseDiff> {
        let (before, after) = (file_sizes(old)?, file_sizes(new)?);
        let mut diff = ReleaseDiff::default();
        diff.removed.extend(before.keys().filter(|path| !after.contains_key(*path)).cloned());
        for (path, size) in after {
            match before.get(&path) {
                None => drop(diff.created.insert(path)),
                Some(known) if *known == size && fs::read(old.join(&path))? == fs::read(new.join(&path))? => {
                }
                Some(_) => drop(diff.changed.insert(path)),
            }
        }
        Ok(diff)
    }

    /// Returns the way back.
    pub(super) fn reversed(&self) -> ReleaseDiff {
        let ReleaseDiff { changed, created, removed } = self.clone();
        ReleaseDiff { changed, created: removed, removed: created }
    }

    /// Returns the paths of all written files in the order in which they are written.
    pub(super) fn written(&self) -> Vec<&Path> {
        let mut written: Vec<&Path> =
            self.changed.iter().chain(&self.created).map(|path| path.as_path()).collect();
        written.sort_unstable();
        written
    }

    /// Returns whether the folders have the same file at `path`.
    pub(super) fn is_same(&self, path: &Path) -> bool {
        ![&self.changed, &self.created, &self.removed].into_iter().any(|paths| paths.contains(path))
    }

    /// Changes `target`, which has the files of the one folder, to those of the other one, which is `release`. Files in `names` get a name
    /// in additional lines.
    pub(super) fn check_out(
        &self,
        release: &Path,
        target: &Path,
        names: &BTreeMap<PathBuf, String>,
    ) -> Result<()> {
        for path in &self.removed {
            fs::remove_file(target.join(path))?;
            remove_empty_folders(target, path);
        }
        for path in self.written() {
            let place = target.join(path);
            if self.changed.contains(path) {
                fs::remove_file(&place)?;
            }
            let content = fs::read(release.join(path))?;
            let content = match names.get(path) {
                Some(name) => switch::with_name(std::str::from_utf8(&content)?, name).into_bytes(),
                None => content,
            };
            create(&place, &content)?;
        }
        Ok(())
    }

    /// Returns the parameters of `workspace/didChangeWatchedFiles`.
    pub(super) fn report(&self, target: &Path) -> Value {
        let kinds = [(&self.changed, CHANGED), (&self.created, CREATED), (&self.removed, DELETED)];
        let changes = kinds.into_iter().flat_map(|(paths, kind)| {
            paths.iter().map(move |path| json!({"uri": uri(&target.join(path)), "type": kind}))
        });
        json!({"changes": changes.collect::<Vec<_>>()})
    }
}

/// Creates a file, and the folders above it.
fn create(path: &Path, content: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    let mut file = File::create_new(path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(file.write_all(content)?)
}

/// Removes the folders of a removed file that have no other entries.
fn remove_empty_folders(root: &Path, path: &Path) {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty());
    // The first one with other entries ends it.
    let _ = folders.map(|folder| fs::remove_dir(root.join(folder))).find(Result::is_err);
}

/// Copies the files of a folder into an empty one.
pub(super) fn copy_files(folder: &Path, target: &Path) -> Result<()> {
    for path in file_sizes(folder)?.keys() {
        create(&target.join(path), &fs::read(folder.join(path))?)?;
    }
    Ok(())
}

/// Returns the sizes of all files of a folder, by their relative paths.
fn file_sizes(root: &Path) -> Result<BTreeMap<PathBuf, u64>> {
    let mut sizes = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let (path, kind) = (folder.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file() {
                sizes.insert(path, entry.metadata()?.len());
            }
        }
    }
    if sizes.is_empty() {
        bail!("{} has no files", root.display());
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use ::tests::Project;

    use super::*;

    const OLD: &str = "\
//- /same.c
int same;
//- /changed.c
int old;
//- /gone/deep/gone.c
int gone;
//- /turned
a file
";
    const NEW: &str = "\
//- /same.c
int same;
//- /changed.c
int new;
//- /turned/created.c
int created;
";

    #[test]
    fn checkout_turns_one_folder_into_the_other_and_back() {
        let (old, new, target) = (Project::new(OLD), Project::new(NEW), Project::new(OLD));
        let (old, new, target) = (old.root(), new.root(), target.root());
        let there = ReleaseDiff::between(&old, &new).expect("both are readable");
        assert_eq!(there.written(), [Path::new("changed.c"), Path::new("turned/created.c")]);
        assert_eq!(there.removed, ["gone/deep/gone.c", "turned"].map(PathBuf::from).into());
        assert!(there.is_same(Path::new("same.c")) && !there.is_same(Path::new("turned")));
        let names = BTreeMap::from([(PathBuf::from("changed.c"), "added".to_owned())]);
        there.check_out(&new, &target, &names).expect("it is writable");
        assert!(!target.join("gone").exists());
        let changed = fs::read_to_string(target.join("changed.c")).expect("it was written");
        assert_eq!(changed, format!("int new;\n{}", "added;\n".repeat(switch::NAME_LINES)));
        there.reversed().check_out(&old, &target, &BTreeMap::new()).expect("it is writable");
        let back = ReleaseDiff::between(&old, &target).expect("both are readable");
        assert_eq!(back, ReleaseDiff::default());
    }

    #[test]
    fn each_kind_of_change_is_reported() {
        let (old, new) = (Project::new(OLD), Project::new(NEW));
        let diff = ReleaseDiff::between(&old.root(), &new.root()).expect("both are readable");
        let report = diff.report(Path::new("/w"));
        let changes = report["changes"].as_array().expect("changes are an array");
        let changes = changes.iter().map(|change| format!("{} {}", change["type"], change["uri"]));
        assert_eq!(
            changes.collect::<Vec<_>>(),
            [
                r#"2 "file:///w/changed.c""#,
                r#"1 "file:///w/turned/created.c""#,
                r#"3 "file:///w/gone/deep/gone.c""#,
                r#"3 "file:///w/turned""#,
            ]
        );
    }
}
