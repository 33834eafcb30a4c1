//! The disk that operations work on, and the events that a watcher would send.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::operation::{FOLDERS, IGNORE_FILES, MARKERS, NAMES, Operation, patterns, text};

/// Two trees; the root is a link to one of them. The folder around them may look like a repository. The repository with the
/// branches to check out is outside of them.
pub(super) struct Disk {
    outer: TempDir,
    /// Changed paths, without links: they begin with the tree's own name.
    pub(super) events: Vec<PathBuf>,
}

impl Disk {
    pub(super) fn new() -> Disk {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let path = outer.path().canonicalize().expect("it is there");
        for folder in ["ws", "other", "beside", ".git/info"] {
            fs::create_dir_all(path.join(folder)).expect("it is ours");
        }
        fs::write(path.join("other/main.py"), text(1)).expect("it is ours");
        symlink("ws", path.join("root")).expect("it is ours");
        let disk = Disk { outer, events: Vec::new() };
        assert!(disk.git(&disk.tree(), &["init", "--quiet", "--template="]), "there is git");
        disk
    }

    fn outside(&self) -> PathBuf {
        self.outer.path().canonicalize().expect("it is there")
    }

    /// The root as it is opened.
    pub(super) fn root(&self) -> PathBuf {
        self.outside().join("root")
    }

    /// The tree that the root links to.
    fn tree(&self) -> PathBuf {
        self.root().canonicalize().expect("both trees are there")
    }

    /// Watchers report folders by their path without links.
    fn note(&mut self, path: &Path) {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        let real = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        self.events.push(real.unwrap_or_else(|| path.to_owned()));
    }

    /// A write through a link is reported by the watcher of the folder that contains the file.
    fn note_content(&mut self, path: &Path) {
        self.note(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    }

    pub(super) fn write(&mut self, path: &Path, bytes: impl AsRef<[u8]>) {
        self.make_folder(path.parent().expect("it is below the root"));
        if fs::write(path, bytes).is_ok() {
            self.note_content(path);
        }
    }

    /// Only the first new folder is reported: those below it are not watched yet.
    fn make_folder(&mut self, folder: &Path) {
        let missing = folder.ancestors().filter(|folder| !folder.exists()).last();
        if fs::create_dir_all(folder).is_ok() {
            missing.into_iter().for_each(|folder| self.note(folder));
        }
    }

    fn remove(&mut self, path: &Path) {
        let is_folder = path.is_dir() && !path.is_symlink();
        let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        if removed.is_ok() {
            self.note(path);
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        self.make_folder(to.parent().expect("it is below the root"));
        if fs::rename(from, to).is_ok() {
            self.note(from);
            self.note(to);
        }
    }

    /// Applies a file operation; other operations have no effect here.
    pub(super) fn apply(&mut self, operation: Operation) {
        use Operation as O;
        let tree = self.tree();
        let file = |path: super::operation::FileId| tree.join(path.text());
        let folder = |index: usize| tree.join(FOLDERS[index]);
        let outside = |path: super::operation::FileId| {
            self.outside().join("beside").join(path.text().replace('/', "_"))
        };
        match operation {
            O::Write { at, text: seed } => self.write(&file(at), text(seed)),
            O::Append { at, text: seed } => self.append(&file(at), &text(seed)),
            O::Disguise { at } => self.overwrite_keeping_mtime(&file(at)),
            O::Truncate { at } => self.truncate(&file(at)),
            O::Delete { at } => self.remove(&file(at)),
            O::Rename { from, to } => self.rename(&file(from), &file(to)),
            O::MoveFolder { from, to } if from != 0 && to != 0 => self.rename(&folder(from), &folder(to)),
            O::DeleteFolder { at } if at != 0 => self.remove(&folder(at)),
            O::SwapFolders { one, other } if one != 0 && other != 0 => {
                let between = tree.join("between");
                self.rename(&folder(one), &between);
                self.rename(&folder(other), &folder(one));
                self.rename(&between, &folder(other));
            }
            O::Exchange { at } => self.swap_file_and_folder(&file(at)),
            O::SymbolicLink { at, to } => self.link(&file(at), |at| symlink(file(to), at)),
            O::LinkFolder { at, to } if at != 0 => self.link(&folder(at), |at| symlink(folder(to), at)),
            O::HardLink { at, of } => self.link(&file(at), |at| fs::hard_link(file(of), at)),
            // No watcher reports either.
            O::LinkOutside { of } => drop(fs::hard_link(file(of), outside(of))),
            O::WriteOutside { of, text: seed } if outside(of).exists() => {
                fs::write(outside(of), text(seed)).expect("it is ours");
            }
            O::Ignore { file, patterns: seed } => self.write(&tree.join(IGNORE_FILES[file]), patterns(seed)),
            O::Unignore { file } => self.remove(&tree.join(IGNORE_FILES[file])),
            O::Mark { folder: index, marker } if index != 0 => {
                let (name, bytes) = MARKERS[marker];
                self.write(&folder(index).join(name), bytes);
            }
            O::Unmark { folder: index, marker } => self.remove(&folder(index).join(MARKERS[marker].0)),
            O::Repository { folder: index } => self.toggle_repository(&match index {
                2 => self.outside(),
                index => folder(index),
            }),
            O::Retarget => self.switch_tree(),
            O::Commit { branch } => self.commit(&tree, branch),
            O::Checkout { branch } => self.checkout(&tree, branch),
            O::RenameCase { folder: index } => {
                let (one, other) = match index {
                    3 | 4 => (tree.join(FOLDERS[3]), tree.join(FOLDERS[4])),
                    index => (folder(index).join(NAMES[0]), folder(index).join(NAMES[1])),
                };
                let (from, to) = if one.exists() { (one, other) } else { (other, one) };
                if !to.exists() {
                    self.rename(&from, &to);
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, path: &Path, text: &str) {
        let opened = File::options().append(true).open(path);
        if opened.and_then(|mut file| file.write_all(text.as_bytes())).is_ok() {
            self.note_content(path);
        }
    }

    fn overwrite_keeping_mtime(&mut self, path: &Path) {
        let Ok(mut file) = File::options().read(true).write(true).open(path) else { return };
        let metadata = file.metadata().expect("it is open");
        if metadata.len() < 5 {
            return;
        }
        let written = file.seek(SeekFrom::Start(metadata.len() / 2)).and_then(|_| file.write_all(b"\nx"));
        written.and_then(|()| file.set_modified(metadata.modified()?)).expect("it is ours");
        self.note_content(path);
    }

    fn truncate(&mut self, path: &Path) {
        if File::options().write(true).open(path).and_then(|file| file.set_len(0)).is_ok() {
            self.note_content(path);
        }
    }

    fn swap_file_and_folder(&mut self, path: &Path) {
        let is_folder = path.is_dir();
        self.remove(path);
        let path = if is_folder { path.to_owned() } else { path.join("inner.py") };
        self.write(&path, text(7));
    }

    fn link(&mut self, at: &Path, make: impl FnOnce(&Path) -> std::io::Result<()>) {
        self.remove(at);
        if make(at).is_ok() {
            self.note(at);
        }
    }

    fn toggle_repository(&mut self, folder: &Path) {
        let git = folder.join(".git");
        if git.exists() { self.remove(&git) } else { self.write(&git.join("info/exclude"), "cart.py\n") }
    }

    fn switch_tree(&mut self) {
        let target = if self.tree().ends_with("ws") { "other" } else { "ws" };
        let (root, new) = (self.root(), self.outside().join("new"));
        symlink(target, &new).and_then(|()| fs::rename(&new, &root)).expect("it is ours");
    }

    /// Runs git on a tree whose repository is elsewhere; false if it fails, as it does with broken nested repositories.
    fn git(&self, tree: &Path, arguments: &[&str]) -> bool {
        let mut git = Command::new("git");
        git.arg("--git-dir").arg(self.outside().join("repository.git")).arg("--work-tree").arg(tree);
        git.args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "core.symlinks=true",
            "-c",
            "gc.auto=0",
        ]);
        git.args(arguments)
            .current_dir(tree)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.output().expect("git can be started").status.success()
    }

    fn commit(&self, tree: &Path, branch: usize) {
        self.git(tree, &["add", "--all", "--force", "--ignore-errors", "."]);
        if self.git(tree, &["commit", "--quiet", "--allow-empty", "--message", "all files"]) {
            self.git(tree, &["branch", "--force", &format!("branch-{branch}")]);
        }
    }

    /// A watcher reports every path that the checkout changes.
    fn checkout(&mut self, tree: &Path, branch: usize) {
        let before = paths(tree);
        self.git(tree, &["checkout", "--quiet", "--force", "--detach", &format!("branch-{branch}")]);
        let after = paths(tree);
        let different: BTreeSet<&PathBuf> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        different.into_iter().for_each(|path| self.note(path));
    }
}

/// All paths below a folder except repositories, with content or link target; `None` for folders.
fn paths(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("it is there"));
        if kind.is_dir() && entry.file_name() != ".git" {
            all.extend(paths(&path));
            all.insert(path, None);
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            all.insert(path, Some(target.into_os_string().into_encoded_bytes()));
        } else if kind.is_file() {
            let bytes = fs::read(&path).ok();
            all.insert(path, bytes);
        }
    }
    all
}
