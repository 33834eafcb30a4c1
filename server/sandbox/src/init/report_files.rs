//! The files that a command writes as its report.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::outcome::Report;
use crate::spec::{ReportFiles, is_inside};

/// Bytes of all reports of a command.
const MAX_BYTES: u64 = 32 << 20;

/// Number of files.
const MAX_FILES: usize = 10_000;

/// Number of files and folders that are looked at to find reports in a tree.
const MAX_SEEN: usize = 500_000;

/// Removes reports of earlier runs, which a command that writes none would seem to have written.
pub(super) fn remove_reports(workspace: &Path, reports: &[ReportFiles]) {
    for path in paths(workspace, reports) {
        let _ = fs::remove_file(path);
    }
}

/// Reads the reports, ordered by path.
pub(super) fn read_reports(workspace: &Path, reports: &[ReportFiles]) -> Vec<Report> {
    let mut left = MAX_BYTES;
    let mut read = Vec::new();
    for path in paths(workspace, reports) {
        let Some(bytes) = read_file(&path, left) else { continue };
        left -= bytes.len() as u64;
        let path = path.strip_prefix(workspace).unwrap_or(&path).to_owned();
        read.push(Report { path, text: String::from_utf8_lossy(&bytes).into_owned() });
    }
    read
}

/// Reads a regular file of at most `max` bytes. A pipe would block, and a link is no report.
fn read_file(path: &Path, max: u64) -> Option<Vec<u8>> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(max.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= max).then_some(bytes)
}

fn paths(workspace: &Path, reports: &[ReportFiles]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for report in reports {
        match report {
            ReportFiles::File(path) if is_inside(path) => paths.push(workspace.join(path)),
            ReportFiles::Folder(folder, ending) if is_inside(folder) => {
                let entries = fs::read_dir(workspace.join(folder)).into_iter().flatten().flatten();
                let matching = entries.map(|entry| entry.path()).filter(|path| has_ending(path, ending));
                paths.extend(matching.take(MAX_FILES));
            }
            ReportFiles::Tree(folder, ending) if is_inside(folder) => {
                paths.extend(files_below(workspace.join(folder), ending));
            }
            ReportFiles::File(_) | ReportFiles::Folder(..) | ReportFiles::Tree(..) => {}
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(ending))
}

/// Returns the files below a folder with names that end like this, without following links.
fn files_below(folder: PathBuf, ending: &str) -> Vec<PathBuf> {
    let (mut found, mut folders, mut seen) = (Vec::new(), vec![folder], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_SEEN || found.len() == MAX_FILES {
                return found;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_dependency_folder(&path) => folders.push(path),
                Ok(kind) if kind.is_file() && has_ending(&path, ending) => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// Whether a folder is full of files that are no reports.
fn is_dependency_folder(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".git" || name == "node_modules" || name == "target")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn reports_are_read_in_order_and_stale_ones_are_removed() {
        let workspace = workspace();
        let folder = workspace.path().join("out");
        fs::create_dir(&folder).expect("a folder");
        for name in ["b.xml", "a.xml", "c.txt"] {
            fs::write(folder.join(name), name).expect("a file");
        }
        let wanted =
            [ReportFiles::Folder("out".into(), ".xml".to_owned()), ReportFiles::File("out/c.txt".into())];
        let read = read_reports(workspace.path(), &wanted);
        let read: Vec<(&str, &str)> =
            read.iter().map(|it| (it.path.to_str().expect("UTF-8"), &*it.text)).collect();
        assert_eq!(read, [("out/a.xml", "a.xml"), ("out/b.xml", "b.xml"), ("out/c.txt", "c.txt")]);
        remove_reports(workspace.path(), &wanted);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    }

    #[test]
    fn reports_are_found_below_a_folder() {
        let workspace = workspace();
        let deep = workspace.path().join("t/deep");
        fs::create_dir_all(&deep).expect("folders");
        fs::create_dir_all(workspace.path().join("t/.git")).expect("folders");
        for name in ["t/a.trs", "t/deep/b.trs", "t/deep/b.log", "t/.git/c.trs"] {
            fs::write(workspace.path().join(name), name).expect("a file");
        }
        let read = read_reports(workspace.path(), &[ReportFiles::Tree("t".into(), ".trs".to_owned())]);
        let read: Vec<&str> = read.iter().map(|report| &*report.text).collect();
        assert_eq!(read, ["t/a.trs", "t/deep/b.trs"]);
        assert_eq!(read_reports(&deep, &[ReportFiles::Tree("..".into(), ".trs".to_owned())]), []);
    }

    #[test]
    fn paths_outside_are_not_read() {
        let workspace = workspace();
        let inner = workspace.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        fs::write(workspace.path().join("secret"), "secret").expect("a file");
        for report in
            [ReportFiles::File("../secret".into()), ReportFiles::Folder("..".into(), "secret".to_owned())]
        {
            assert_eq!(read_reports(&inner, &[report]), []);
        }
    }

    #[cfg(all(unix, not(target_vendor = "apple")))]
    #[test]
    fn links_and_pipes_are_not_read() {
        let workspace = workspace();
        std::os::unix::fs::symlink("/etc/passwd", workspace.path().join("link")).expect("a link");
        rustix::fs::mkfifoat(rustix::fs::CWD, workspace.path().join("pipe"), rustix::fs::Mode::RWXU)
            .expect("a pipe");
        let wanted = [ReportFiles::File("link".into()), ReportFiles::File("pipe".into())];
        assert_eq!(read_reports(workspace.path(), &wanted), []);
    }
}
