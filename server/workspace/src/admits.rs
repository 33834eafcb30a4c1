//! Whether the walk would come to one path, told without walking.
//!
//! For who gets a file from elsewhere, such as an editor. Every rule is the walk's own and stands where the walk has it; here they
//! are only asked in the walk's order, from the root down to the file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use ignore::IncrementalIgnore;

use crate::walk::{ignore_rules, judge_name};
use crate::{Limits, SkipReason, folders};

/// Whether [`load`](crate::load) would read the file at `path`, which is relative to `root`, with `/` between its parts and none of
/// them `.` or `..`; else why not. What is not on disk yet, the file or folders above it, is judged as if it were. The contents do not
/// count: they may be generated, minified or binary.
///
/// Waits for the disk: it lists the folders from the root down to the file and reads the ignore files in them and, inside a
/// repository, above them. That takes a tenth of a millisecond, and half a millisecond more for every 1,000 entries that those folders
/// hold. Nothing is kept, so changed ignore files count at once.
pub fn admits(root: &Path, path: &str) -> Result<(), SkipReason> {
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
    let entries = match folders::list(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        entries => entries.map_err(|_| SkipReason::Unreadable)?,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    folders::judge(&folder, name, &entries).map_or(Ok(()), Err)
}

fn check_file(root: &Path, path: &str) -> Result<(), SkipReason> {
    let metadata = match fs::symlink_metadata(root.join(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return judge_name(path).map(drop),
        metadata => metadata.map_err(|_| SkipReason::Unreadable)?,
    };
    if metadata.is_symlink() {
        return Err(SkipReason::Symlink);
    }
    if !metadata.is_file() {
        return Err(SkipReason::Special);
    }
    judge_name(path)?;
    if metadata.len() > Limits::FILE_BYTES { Err(SkipReason::Oversized) } else { Ok(()) }
}
