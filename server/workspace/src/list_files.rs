//! Lists all files of a workspace that may be sent elsewhere: code or not, since tests also read data.
//!
//! Reads no file. Must never list an ignored file outside of the folders that the user named, or a secret-like one anywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use crate::path_text::exact_text;
use crate::secret_names::is_secret_like;
use crate::walk::ignore_rules;

/// A file or a link of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Path relative to the workspace, with `/` between its parts.
    pub path: String,
    /// Size of a file in bytes; 0 for a link.
    pub bytes: u64,
}

/// Returns the files and links below `root` that are neither ignored nor secret-like, by their paths, and those that are ignored in some
/// folders below it, relative to it. Leaves out `.git`, paths that are not UTF-8, and what cannot be read.
pub fn list_files(root: &Path, ignored_folders: &[PathBuf]) -> Vec<ListedFile> {
    let mut files = BTreeMap::new();
    collect(&mut ignore_rules(root), root, &mut files);
    for folder in ignored_folders {
        let mut all = WalkBuilder::new(root.join(folder));
        collect(all.standard_filters(false), root, &mut files);
    }
    files.into_iter().map(|(path, bytes)| ListedFile { path, bytes }).collect()
}

fn collect(walk: &mut WalkBuilder, root: &Path, files: &mut BTreeMap<String, u64>) {
    for entry in walk.build().flatten() {
        let path = entry.path().strip_prefix(root).ok().and_then(exact_text);
        let sendable = |path: &String| !is_secret_like(path) && !path.split('/').any(|part| part == ".git");
        if let Some((path, bytes)) = path.filter(sendable).zip(size(&entry)) {
            files.insert(path, bytes);
        }
    }
}

/// Returns the size of a file, and 0 for a link; `None` for anything else.
fn size(entry: &DirEntry) -> Option<u64> {
    let kind = entry.file_type()?;
    if kind.is_symlink() {
        return Some(0);
    }
    kind.is_file().then(|| entry.metadata().map(|metadata| metadata.len()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_kind_are_listed_unless_they_are_ignored_or_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for path in [
            "a.py",
            "data/x.bin",
            ".hidden",
            ".gitignore",
            ".env",
            ".git/config",
            "node_modules/m/i.js",
            "node_modules/m/k.pem",
            "build/o",
        ] {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, "12").expect("a file");
        }
        std::fs::write(root.join(".gitignore"), "node_modules\nbuild\n").expect("rules");
        let paths = |folders: &[PathBuf]| -> Vec<String> {
            list_files(root, folders).into_iter().map(|file| file.path).collect()
        };
        assert_eq!(paths(&[]), [".gitignore", ".hidden", "a.py", "data/x.bin"]);
        let with_modules = paths(&["node_modules".into()]);
        assert_eq!(with_modules, [".gitignore", ".hidden", "a.py", "data/x.bin", "node_modules/m/i.js"]);
    }
}
