//! Creates files and folders that hold code, readable only by their owner.
//!
//! No other module sets permissions. On Unix, files get the mode 0600 and folders 0700 for any umask, and existing files are
//! restricted when they are opened. On other platforms they inherit the permissions of the parent folder.
//!
//! Folders created by users keep their permissions: only Ghostbench's own folders are restricted ([`own_folder`]).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Opens a file with `options`, which may create it. Afterwards only its owner may read or write it, even if it existed before.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let mut options = options.clone();
    platform::create_private(&mut options);
    let file = options.open(path)?;
    platform::restrict(&file)?;
    Ok(file)
}

/// Replaces the contents of a file, creating it if it is missing.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    open(OpenOptions::new().write(true).create(true).truncate(true), path)?.write_all(contents)
}

/// Restricts a file that was created by other means. A missing file is not an error.
pub fn restrict(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        file => platform::restrict(&file?),
    }
}

/// Creates a folder and its missing parents, accessible only to their owner. Existing folders keep their permissions.
pub fn create_folder(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

/// Creates a folder for its owner alone in an existing one. Fails if `path` exists.
pub fn create_new_folder(path: &Path) -> io::Result<()> {
    builder().create(path)
}

/// Creates a folder for Ghostbench's own use, as [`create_folder`] does, and restricts it if it exists.
pub fn own_folder(path: &Path) -> io::Result<()> {
    create_folder(path)?;
    platform::restrict_folder(&fs::metadata(path)?, path)
}

fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    platform::create_private_folder(&mut builder);
    builder
}

#[cfg(unix)]
use unix as platform;

#[cfg(unix)]
mod unix {
    use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    const FILE: u32 = 0o600;
    const FOLDER: u32 = 0o700;

    /// Permission bits of group and others.
    const OTHERS: u32 = 0o077;

    pub(super) fn create_private(options: &mut OpenOptions) {
        options.mode(FILE);
    }

    pub(super) fn create_private_folder(builder: &mut DirBuilder) {
        builder.mode(FOLDER);
    }

    pub(super) fn restrict(file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        // Leave the permissions of terminals and pipes alone.
        if !metadata.is_file() || metadata.permissions().mode() & OTHERS == 0 {
            return Ok(());
        }
        unless_refused(file.set_permissions(Permissions::from_mode(FILE)))
    }

    pub(super) fn restrict_folder(metadata: &Metadata, path: &Path) -> io::Result<()> {
        if metadata.permissions().mode() & OTHERS == 0 {
            return Ok(());
        }
        unless_refused(fs::set_permissions(path, Permissions::from_mode(FOLDER)))
    }

    /// Accepts a refusal: a file of another user, or on a file system without modes, was shared on purpose and is written as it is.
    fn unless_refused(done: io::Result<()>) -> io::Result<()> {
        match done {
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {
                Ok(())
            }
            done => done,
        }
    }
}

/// Other platforms give new files the permissions of their folder, which in a user's profile belong to the user alone.
#[cfg(not(unix))]
mod platform {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    pub(super) fn create_private(_: &mut OpenOptions) {}

    pub(super) fn create_private_folder(_: &mut DirBuilder) {}

    pub(super) fn restrict(_: &File) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn restrict_folder(_: &Metadata, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn files_are_private_whether_they_are_new_or_were_shared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, b"old, and longer").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"new".to_vec()));
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        restrict(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        restrict(&folder.path().join("none")).unwrap();
    }

    #[test]
    fn folders_are_private_and_those_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (shared, own) = (folder.path().join("shared"), folder.path().join("shared/a/b"));
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o755)).unwrap();
        create_folder(&own).unwrap();
        create_folder(&shared).unwrap();
        assert_eq!([mode(&own), mode(own.parent().unwrap()), mode(&shared)], [0o700, 0o700, 0o755]);
        own_folder(&shared).unwrap();
        assert_eq!(mode(&shared), 0o700);
        create_new_folder(&shared).unwrap_err();
    }

    #[test]
    fn what_is_no_file_is_written_to_as_it_is() {
        let before = mode(Path::new("/dev/null"));
        write(Path::new("/dev/null"), b"text").unwrap();
        assert_eq!(mode(Path::new("/dev/null")), before);
    }
}
