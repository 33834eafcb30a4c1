//! Decides whether the walk would include a single path, without walking.
//!
//! For callers that get a file from elsewhere, such as an editor. Every rule is implemented in the walk; this module only applies
//! the rules in the walk's order, from the root down to the file.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ignore::IncrementalIgnore;

use crate::walk::{has_special_ignore_file, ignore_rules, is_in_git_repository, language_or_skip};
use crate::walk_scope::folders_above;
use crate::{DiskStamp, ReadLimits, SkipReason, skipped_folders};

/// Checks whether [`load`](crate::load) would read the file at `path`; the error is the reason why not. `path` is relative to
/// `root`, with `/` between its parts, none of them `.` or `..`. Paths that do not exist yet, the file or folders above it, are
/// treated as if they existed. The contents are not checked: the file may be generated, minified or binary.
///
/// Waits for the disk: it lists the folders from the root down to the file and reads the ignore files in them and, inside a
/// repository, above them. That takes a tenth of a millisecond, half a millisecond more for every 1,000 entries of those
/// folders, and as much for every 100 rules. Nothing is cached, so changed ignore files apply at once.
pub fn admits(root: &Path, path: &str) -> Result<(), SkipReason> {
    RootRules::new(root).admits(path)
}

/// The rules of a workspace as they were when first needed, with the verdicts about its folders.
#[derive(Debug)]
struct RootRules {
    root: PathBuf,
    ignored: Vec<IncrementalIgnore>,
    /// Why the walk skips a folder for its content, by path relative to the root.
    folders: HashMap<String, Result<(), SkipReason>>,
    /// Whether a folder has an ignore file that is no regular file.
    has_special_ignore_file: HashMap<String, bool>,
}

impl RootRules {
    fn new(root: &Path) -> RootRules {
        let ignored = ignore_rules(root).build_matchers();
        let root = root.to_owned();
        RootRules { root, ignored, folders: HashMap::new(), has_special_ignore_file: HashMap::new() }
    }

    /// The verdict of [`admits`].
    fn admits(&mut self, path: &str) -> Result<(), SkipReason> {
        if folders_above(path).chain([""]).any(|folder| self.has_special_ignore_file(folder)) {
            return Err(SkipReason::Ignored);
        }
        for (end, _) in path.match_indices('/') {
            let folder = &path[..end];
            check_ignored(&mut self.ignored, folder, true)?;
            self.check_folder(folder)?;
        }
        check_ignored(&mut self.ignored, path, false)?;
        check_file(&self.root, path)
    }

    fn has_special_ignore_file(&mut self, folder: &str) -> bool {
        let look = || has_special_ignore_file(&self.root.join(folder));
        *self.has_special_ignore_file.entry(folder.to_owned()).or_insert_with(look)
    }

    fn check_folder(&mut self, folder: &str) -> Result<(), SkipReason> {
        let check = || check_folder(&self.root, folder);
        *self.folders.entry(folder.to_owned()).or_insert_with(check)
    }
}

fn check_ignored(rules: &mut [IncrementalIgnore], path: &str, is_folder: bool) -> Result<(), SkipReason> {
    let is_ignored = rules.iter_mut().any(|rules| rules.matched(path, is_folder).is_ignore());
    if is_ignored { Err(SkipReason::Ignored) } else { Ok(()) }
}

fn check_folder(root: &Path, path: &str) -> Result<(), SkipReason> {
    let folder = root.join(path);
    if folder.is_symlink() {
        return Err(SkipReason::Symlink);
    }
    let entries = match skipped_folders::list_entries(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        entries => entries.map_err(|_| SkipReason::Unreadable)?,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    skipped_folders::skip_reason(&folder, name, &entries).map_or(Ok(()), Err)
}

fn check_file(root: &Path, path: &str) -> Result<(), SkipReason> {
    let metadata = match fs::symlink_metadata(root.join(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return language_or_skip(path).map(drop),
        metadata => metadata.map_err(|_| SkipReason::Unreadable)?,
    };
    if metadata.is_symlink() {
        return Err(SkipReason::Symlink);
    }
    if !metadata.is_file() {
        return Err(SkipReason::Special);
    }
    language_or_skip(path)?;
    if metadata.len() > ReadLimits::FILE_BYTES { Err(SkipReason::Oversized) } else { Ok(()) }
}

/// The verdict whether a file is admitted, with the paths that it depends on.
///
/// Ignore files, markers and the file itself may change at any time; [`is_current`](Admission::is_current) detects that with a
/// few metadata reads, which is ten times faster than judging again.
#[derive(Debug)]
pub struct Admission {
    /// Reason why the walk would skip the file, if it would.
    pub refusal: Option<SkipReason>,
    /// Paths that the verdict depends on, with their stamps at that time; `None` if a change could go undetected.
    dependencies: Option<Vec<(Arc<Path>, Option<DiskStamp>)>>,
}

/// The disk as it was when first asked: stamps, and rules that were read after the stamps of their files. Verdicts about several files
/// depend on the same ignore files, so those that are needed at the same time share one reader.
#[derive(Debug)]
pub struct DiskReader {
    /// A moment before the first stamp.
    begun: SystemTime,
    stamps: HashMap<Arc<Path>, Option<DiskStamp>>,
    rules: Vec<RootRules>,
    /// The user's own ignore file, which git's settings name.
    excludes: OnceCell<Option<Arc<Path>>>,
}

impl DiskReader {
    /// Creates a reader that has read nothing.
    pub fn new() -> DiskReader {
        let (stamps, rules) = (HashMap::new(), Vec::new());
        DiskReader { begun: SystemTime::now(), stamps, rules, excludes: OnceCell::new() }
    }

    fn excludes(&self) -> Option<Arc<Path>> {
        self.excludes.get_or_init(|| ignore::gitignore::gitconfig_excludes_path().map(Arc::from)).clone()
    }

    fn stamp(&mut self, path: &Arc<Path>) -> Option<DiskStamp> {
        *self.stamps.entry(Arc::clone(path)).or_insert_with(|| stamp_of(path))
    }

    fn rules(&mut self, root: &Path) -> &mut RootRules {
        let known = self.rules.iter().position(|rules| rules.root == root);
        let known = known.unwrap_or_else(|| {
            self.rules.push(RootRules::new(root));
            self.rules.len() - 1
        });
        &mut self.rules[known]
    }
}

impl Default for DiskReader {
    fn default() -> DiskReader {
        DiskReader::new()
    }
}

impl Admission {
    /// Judges a file as [`admits`] does.
    pub fn judge(root: &Path, path: &str, disk: &mut DiskReader) -> Admission {
        // Stamps are taken first, so that changes during the check make them differ.
        let seen = dependencies(root, path, disk);
        Admission { refusal: disk.rules(root).admits(path).err(), dependencies: seen }
    }

    /// Whether the verdict is still valid. Waits for the disk, for a metadata read of each folder and ignore file, less those that
    /// `disk` knows.
    pub fn is_current(&self, disk: &mut DiskReader) -> bool {
        self.dependencies
            .as_ref()
            .is_some_and(|seen| seen.iter().all(|(path, stamp)| disk.stamp(path) == *stamp))
    }
}

/// Returns everything that a verdict about `path` depends on, with its stamp. `None` if one of these changed so recently that
/// another change could go undetected.
fn dependencies(
    root: &Path,
    path: &str,
    disk: &mut DiskReader,
) -> Option<Vec<(Arc<Path>, Option<DiskStamp>)>> {
    let mut seen = SeenPaths { disk, stamps: Vec::new() };
    let above = is_in_git_repository(root).then(|| root.ancestors().skip(1).map(Path::to_owned));
    let below = folders_above(path).map(|folder| root.join(folder));
    for folder in above.into_iter().flatten().chain([root.to_owned()]).chain(below) {
        let stamp = seen.note(folder.join(""))?;
        // A new entry changes the folder, so the absence of one needs no stamp of its own.
        let shows_entries = stamp.is_none_or(DiskStamp::shows_entries);
        let mut note = |name| {
            let path: Arc<Path> = folder.join(name).into();
            match seen.disk.stamp(&path) {
                None if shows_entries => Some(None),
                _ => seen.note(path),
            }
        };
        note(".gitignore")?;
        note(".ghostbenchignore")?;
        if note(".git")?.is_some() || !shows_entries {
            seen.note(folder.join(".git/info/exclude"))?;
        }
    }
    for looked_at in seen.disk.excludes().into_iter().chain([Arc::from(root.join(path))]) {
        seen.note(looked_at)?;
    }
    Some(seen.stamps)
}

/// Paths with their stamps.
struct SeenPaths<'a> {
    disk: &'a mut DiskReader,
    stamps: Vec<(Arc<Path>, Option<DiskStamp>)>,
}

impl SeenPaths<'_> {
    /// Adds a path and returns its stamp, which is `None` if there is nothing; `None` if it changed so recently that another change could go
    /// undetected.
    fn note(&mut self, path: impl Into<Arc<Path>>) -> Option<Option<DiskStamp>> {
        let path = path.into();
        let stamp = match self.disk.stamp(&path) {
            Some(stamp) => Some(stamp.if_settled(self.disk.begun)?),
            None => None,
        };
        self.stamps.push((path, stamp));
        Some(stamp)
    }
}

fn stamp_of(path: &Path) -> Option<DiskStamp> {
    fs::symlink_metadata(path).ok().map(|metadata| DiskStamp::of(&metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a file as soon as another change of what it depends on would be noticed.
    fn judge_when_settled(root: &Path, path: &str) -> (Admission, DiskReader) {
        loop {
            let mut disk = DiskReader::new();
            let verdict = Admission::judge(root, path, &mut disk);
            if verdict.dependencies.is_some() {
                return (verdict, disk);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    #[test]
    fn absent_ignore_files_cost_nothing_and_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/one.py"), "").unwrap();
        let judge = || judge_when_settled(folder.path(), "a/one.py").0;
        let verdict = judge();
        let inside =
            verdict.dependencies.iter().flatten().filter(|(path, _)| path.starts_with(folder.path()));
        if cfg!(unix) {
            assert_eq!(inside.count(), 3, "two folders and the file");
        }
        for ignored in [".gitignore", "a/.ghostbenchignore"] {
            let verdict = judge();
            assert!(verdict.is_current(&mut DiskReader::new()));
            fs::write(folder.path().join(ignored), "").unwrap();
            assert!(!verdict.is_current(&mut DiskReader::new()), "{ignored}");
            let verdict = judge();
            fs::write(folder.path().join(ignored), "# changed\n").unwrap();
            assert!(!verdict.is_current(&mut DiskReader::new()), "{ignored}");
        }
        let verdict = judge();
        fs::create_dir_all(folder.path().join(".git/info")).unwrap();
        assert!(!verdict.is_current(&mut DiskReader::new()));
        let verdict = judge();
        fs::write(folder.path().join(".git/info/exclude"), "").unwrap();
        assert!(!verdict.is_current(&mut DiskReader::new()));
    }

    #[test]
    fn verdicts_that_are_checked_together_read_shared_ignore_files_once() {
        let folder = tempfile::tempdir().unwrap();
        let ignored = folder.path().join(".gitignore");
        fs::write(&ignored, "a\n").unwrap();
        let [one, other] = ["one.py", "other.py"].map(|name| {
            let looked_at = [ignored.clone(), folder.path().join(name)];
            let seen = looked_at.map(|path| (Arc::from(&*path), stamp_of(&path)));
            Admission { refusal: None, dependencies: Some(seen.into()) }
        });
        let mut stamps = DiskReader::new();
        assert!(one.is_current(&mut stamps) && other.is_current(&mut stamps));
        assert_eq!(stamps.stamps.len(), 3);
        fs::write(&ignored, "one.py\n").unwrap();
        assert!(other.is_current(&mut stamps), "the stamps are those of the check that began before");
        let mut later = DiskReader::new();
        assert!(!one.is_current(&mut later) && !other.is_current(&mut later));
    }

    #[test]
    fn files_that_are_judged_together_are_judged_by_rules_of_one_moment() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join(".gitignore"), "no.py\n").unwrap();
        fs::write(folder.path().join("a/.gitignore"), "two.py\n").unwrap();
        let (one, mut disk) = judge_when_settled(folder.path(), "one.py");
        fs::write(folder.path().join(".gitignore"), "o*.py\n").unwrap();
        for (path, refusal) in [
            ("a/two.py", Some(SkipReason::Ignored)),
            ("other.py", None),
            ("no.py", Some(SkipReason::Ignored)),
        ] {
            let judged = Admission::judge(folder.path(), path, &mut disk);
            assert_eq!(judged.refusal, refusal, "{path}");
            assert!(!judged.is_current(&mut DiskReader::new()), "{path}");
        }
        assert!(one.refusal.is_none() && !one.is_current(&mut DiskReader::new()));
        assert_eq!(admits(folder.path(), "other.py"), Err(SkipReason::Ignored));
    }
}
