//! Resolves the file that a path refers to.

use std::path::{Path, PathBuf};

/// A path without links: the same for every path to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RealPath {
    /// Path of an existing file or folder.
    Existing(PathBuf),
    /// Path of a missing file, unless a link is created in it: the real path of the nearest existing folder, with the rest as
    /// written.
    Expected(PathBuf),
}

/// Resolves the real path of `path`, which is absolute. `None` if even its root cannot be read. Waits for the disk.
pub fn real_path(path: &Path) -> Option<RealPath> {
    if let Ok(real) = path.canonicalize() {
        return Some(RealPath::Existing(real));
    }
    path.ancestors().skip(1).find_map(|folder| {
        let rest = path.strip_prefix(folder).ok()?;
        Some(RealPath::Expected(folder.canonicalize().ok()?.join(rest)))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn missing_path_resolves_through_its_existing_parent() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("a.py"), "").unwrap();
        assert_eq!(real_path(&root.join("a.py")), Some(RealPath::Existing(root.join("a.py"))));
        for path in ["new/b.py", "a.py/b.py"] {
            assert_eq!(real_path(&root.join(path)), Some(RealPath::Expected(root.join(path))));
        }
    }

    #[cfg(unix)]
    #[test]
    fn resolves_symlinks_unless_dangling() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("link/a.py", root.join("a.py")).unwrap();
        let new = real_path(&root.join("link/new/a.py"));
        assert_eq!(new, Some(RealPath::Expected(root.join("real/new/a.py"))));
        assert_eq!(real_path(&root.join("a.py")), Some(RealPath::Expected(root.join("a.py"))));
        fs::write(root.join("real/a.py"), "").unwrap();
        assert_eq!(real_path(&root.join("a.py")), Some(RealPath::Existing(root.join("real/a.py"))));
    }
}
