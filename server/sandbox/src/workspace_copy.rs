//! A copy of a workspace on disk, for systems without overlays.
//!
//! The standard library clones files where the file system can. Hard links would be faster, but a program that changes a file in its
//! place would change the user's.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::temporary_folder;

/// Folders inside each other; deeper trees are not workspaces.
const MAX_DEPTH: usize = 200;

/// Copies files, folders and links; other things are left out.
pub(crate) fn copy_workspace(workspace: &Path) -> io::Result<TempDir> {
    let copy = temporary_folder::create()?;
    copy_folder(workspace, copy.path(), MAX_DEPTH)?;
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth == 0 {
        return Err(io::Error::other("too many folders inside each other"));
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_folder(&source, &target, depth - 1)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
            // Build tools compare times.
            let modified = entry.metadata()?.modified()?;
            fs::File::options()
                .write(true)
                .open(&target)
                .and_then(|file| file.set_modified(modified))
                .or_else(
                    |error| {
                        if error.kind() == io::ErrorKind::PermissionDenied { Ok(()) } else { Err(error) }
                    },
                )?;
        } else if kind.is_symlink() {
            copy_link(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

/// Links need a right that few users have.
#[cfg(not(unix))]
fn copy_link(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}
