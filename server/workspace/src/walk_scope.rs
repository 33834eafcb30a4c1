//! Restricts a walk to a part of a workspace.
//!
//! The walk's verdict about a path depends on its folders and on the ignore files in them, so every walk begins at the root; a
//! scope selects the entries that it visits. It must include everything whose verdict may have changed with the named paths, and
//! should include little more.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::sync::Arc;

use crate::path_text::path_text;
use crate::skipped_folders;

/// Ignore files apply to the whole folder that contains them.
pub(crate) const IGNORE_FILES: [&str; 2] = [".gitignore", ".ghostbenchignore"];

/// The folder or file that makes a folder a repository's root. The ignored paths below depend on it and on its `info/exclude`.
pub(crate) const DOT_GIT: &str = ".git";

/// The paths that a walk visits, each with everything below it, and the folders that earlier walks have entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkScope<'a> {
    /// Relative to the root; the root itself is empty, and means everything.
    paths: &'a BTreeSet<String>,
    /// A folder that is not among these is visited as a whole.
    entered: &'a BTreeSet<Arc<str>>,
}

impl<'a> WalkScope<'a> {
    pub(crate) fn new(paths: &'a BTreeSet<String>, entered: &'a BTreeSet<Arc<str>>) -> WalkScope<'a> {
        WalkScope { paths, entered }
    }

    /// Returns the number of paths.
    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether it is the whole workspace.
    fn is_all(&self) -> bool {
        self.paths.contains("")
    }

    /// Whether it is the whole workspace, and nothing of it is known from earlier walks.
    pub(crate) fn is_first(&self) -> bool {
        self.is_all() && self.entered.is_empty()
    }

    /// Whether the walk visits the entry at `path`: one of the paths, above or below one, or in a folder not known so far.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.is_all()
            || is_above_any(path, self.paths)
            || folders_above(path).any(|folder| self.paths.contains(folder))
            || !self.entered.contains(parent(path))
    }
}

/// Whether `path` is one of `paths` or a folder above one.
fn is_above_any(path: &str, paths: &BTreeSet<String>) -> bool {
    let below = format!("{path}/");
    let first_below = paths.range(below.clone()..).next();
    paths.contains(path) || first_below.is_some_and(|other| other.starts_with(&below))
}

/// Returns the folders above `path` from the top down, without the root.
pub(crate) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the paths to visit after an event at `path`, which is relative to the root and not empty. `is_known` returns whether
/// there is a known entry at a path.
pub(crate) fn affected_paths(path: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').collect();
    if let Some(position) = parts.iter().position(|part| *part == DOT_GIT) {
        let (folder, inside) = parts.split_at(position);
        let folder = folder.join("/");
        let counts = matches!(inside, [_] | [_, "info"] | [_, "info", "exclude"]);
        return if counts || !is_known(&join(&folder, DOT_GIT)) { vec![folder] } else { Vec::new() };
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if IGNORE_FILES.contains(&name) {
        return vec![folder.to_owned()];
    }
    let beside = skipped_folders::folder_judged_by_sibling(name).map(|beside| join(folder, beside));
    beside.into_iter().chain([path.to_owned()]).collect()
}

/// Returns the path of the entry called `name` in a folder; the root is empty.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Location of a path in the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PathLocation {
    /// Relative to the root, in the format of [`path_text`].
    Below(String),
    /// The root or a folder above it, or a file there that affects ignore rules.
    Above,
    /// Elsewhere.
    Outside,
}

/// Locates `path`, which is absolute or relative to the root; `roots` are the possible spellings of the root.
pub(crate) fn locate(path: &Path, roots: &[&Path]) -> PathLocation {
    let relative = if path.is_relative() {
        Some(path)
    } else {
        roots.iter().find_map(|root| path.strip_prefix(root).ok())
    };
    let Some(relative) = relative else { return locate_above(path, roots) };
    let mut parts = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(part) => parts.push(path_text(Path::new(part))),
            Component::CurDir => {}
            _ => return PathLocation::Outside,
        }
    }
    if parts.is_empty() { PathLocation::Above } else { PathLocation::Below(parts.join("/")) }
}

fn locate_above(path: &Path, roots: &[&Path]) -> PathLocation {
    let name = path.file_name().unwrap_or_default();
    let counts_below = name == DOT_GIT || IGNORE_FILES.iter().any(|file| name == *file);
    let folder = if counts_below { path.parent().unwrap_or(path) } else { path };
    if roots.iter().any(|root| root.starts_with(folder)) {
        PathLocation::Above
    } else {
        PathLocation::Outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_covers_changed_paths_their_parents_and_contents() {
        let entered = ["", "a", "a/b", "ab", "c"].map(Arc::from).into();
        let paths = ["a/b", "c/x.py"].map(str::to_owned).into();
        let scope = WalkScope::new(&paths, &entered);
        for path in ["a", "a/b", "a/b/x.py", "a/b/d/x.py", "c", "c/x.py", "new/x.py"] {
            assert!(scope.covers(path), "{path}");
        }
        for path in ["ab", "ab/x.py", "a/x.py", "a/bc", "c/y.py", "x.py", "new"] {
            assert!(!scope.covers(path), "{path}");
        }
        assert!(WalkScope::new(&[String::new()].into(), &entered).covers("c/y.py"));
    }

    #[test]
    fn ignore_and_marker_files_affect_other_paths() {
        for (path, paths) in [
            ("a/x.py", &["a/x.py"][..]),
            (".gitignore", &[""]),
            ("a/.ghostbenchignore", &["a"]),
            ("package.json", &["dist", "package.json"]),
            ("web/setup.py", &["web/dist", "web/setup.py"]),
            (".git", &[""]),
            ("a/.git", &["a"]),
            ("a/.git/info/exclude", &["a"]),
            (".git/info", &[""]),
            (".git/index", &[]),
            ("a/.git/objects/00/11", &[]),
            (".github/x.py", &[".github/x.py"]),
        ] {
            assert_eq!(affected_paths(path, |_| true), paths, "{path}");
        }
        assert_eq!(affected_paths("a/.git/HEAD", |_| false), ["a"], "a repository that was not there before");
    }

    #[test]
    fn paths_are_located_relative_to_each_spelling_of_the_root() {
        let roots = [Path::new("/link"), Path::new("/real/home")];
        let place = |path: &str| locate(Path::new(path), &roots);
        for (path, below) in
            [("/link/a/x.py", "a/x.py"), ("/real/home/x.py", "x.py"), ("./a//x.py", "a/x.py")]
        {
            assert_eq!(place(path), PathLocation::Below(below.to_owned()));
        }
        for path in ["/link", "/real", "/", "/real/.gitignore", "/real/.git", "/real/home/."] {
            assert_eq!(place(path), PathLocation::Above, "{path}");
        }
        for path in ["/real/homely/x.py", "/other/.gitignore", "/real/x.py", "../x.py", "/link/../x.py"] {
            assert_eq!(place(path), PathLocation::Outside, "{path}");
        }
    }
}
