//! Decides whether the walk would include a single path, without walking.
//!
//! For callers that get a file from elsewhere, such as an editor. Every rule is implemented in the walk; this module only applies
//! the rules in the walk's order, from the root down to the file.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
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
/// repository, above them. That takes a tenth of a millisecond, and half a millisecond more for every 1,000 entries of those
/// folders. Nothing is cached, so changed ignore files apply at once.
pub fn admits(root: &Path, path: &str) -> Result<(), SkipReason> {
    let on_the_way = folders_above(path).map(|folder| root.join(folder));
    if on_the_way.chain([root.to_owned()]).any(|folder| has_special_ignore_file(&folder)) {
        return Err(SkipReason::Ignored);
    }
    let mut rules = ignore_rules(root).build_matchers();
    for (end, _) in path.match_indices('/') {
        check_ignored(&mut rules, &path[..end], true)?;
        check_folder(root, &path[..end])?;
    }
    check_ignored(&mut rules, path, false)?;
    check_file(root, path)
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

/// Stamps as they were when first asked for. Verdicts about several files depend on the same ignore files, so those that are checked at
/// the same time share one reader.
#[derive(Debug, Default)]
pub struct StampReader(HashMap<Arc<Path>, Option<DiskStamp>>);

impl StampReader {
    fn stamp(&mut self, path: &Arc<Path>) -> Option<DiskStamp> {
        *self.0.entry(Arc::clone(path)).or_insert_with(|| stamp_of(path))
    }
}

impl Admission {
    /// Judges a file as [`admits`] does.
    pub fn judge(root: &Path, path: &str) -> Admission {
        // Stamps are taken first, so that changes during the check make them differ.
        let seen = dependencies(root, path);
        Admission { refusal: admits(root, path).err(), dependencies: seen }
    }

    /// Whether the verdict is still valid. Waits for the disk, for about 20 metadata reads less those that `stamps` knows.
    pub fn is_current(&self, stamps: &mut StampReader) -> bool {
        self.dependencies
            .as_ref()
            .is_some_and(|seen| seen.iter().all(|(path, stamp)| stamps.stamp(path) == *stamp))
    }
}

/// Returns everything that a verdict about `path` depends on, with its stamp. `None` if one of these changed so recently that
/// another change could go undetected.
fn dependencies(root: &Path, path: &str) -> Option<Vec<(Arc<Path>, Option<DiskStamp>)>> {
    let now = SystemTime::now();
    let above = is_in_git_repository(root).then(|| root.ancestors().skip(1).map(Path::to_owned));
    let below = folders_above(path).map(|folder| root.join(folder));
    let folders = above.into_iter().flatten().chain([root.to_owned()]).chain(below);
    let names = ["", ".gitignore", ".ghostbenchignore", ".git", ".git/info/exclude"];
    let rules = folders.flat_map(|folder| names.map(|name| folder.join(name)));
    let global = ignore::gitignore::gitconfig_excludes_path();
    let looked_at = rules.chain(global).chain([root.join(path)]);
    looked_at
        .map(|path| match stamp_of(&path) {
            Some(stamp) => Some((path.into(), Some(stamp.if_settled(now)?))),
            None => Some((path.into(), None)),
        })
        .collect()
}

fn stamp_of(path: &Path) -> Option<DiskStamp> {
    fs::symlink_metadata(path).ok().map(|metadata| DiskStamp::of(&metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut stamps = StampReader::default();
        assert!(one.is_current(&mut stamps) && other.is_current(&mut stamps));
        assert_eq!(stamps.0.len(), 3);
        fs::write(&ignored, "one.py\n").unwrap();
        assert!(other.is_current(&mut stamps), "the stamps are those of the check that began before");
        let mut later = StampReader::default();
        assert!(!one.is_current(&mut later) && !other.is_current(&mut later));
    }
}
