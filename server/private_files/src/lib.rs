//! Creates files and folders that hold code, readable only by their owner, and replaces files atomically.
//!
//! No other module sets permissions. On Unix, files get the mode 0600 and folders 0700 for any umask, and existing files are
//! restricted when they are opened. On other platforms they inherit the permissions of the parent folder.
//!
//! Folders created by users keep their permissions: only Ghostbench's own folders are restricted ([`own_folder`]).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// File extension of files that are being written.
pub const PARTIAL_EXTENSION: &str = "partial";

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

/// Replaces the contents of a file atomically, creating it if it is missing: at any moment, also after a power failure, the file has
/// either its former contents or the new ones. Concurrent writers do not disturb each other. Replaces a symbolic link, not its target.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = PartialFile::create(path)?;
    file.file().write_all(contents)?;
    file.persist(path)
}

/// Creates a file with these contents atomically. Fails with [`io::ErrorKind::AlreadyExists`] if `path` exists.
pub fn create_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = PartialFile::create(path)?;
    file.file().write_all(contents)?;
    file.persist_new(path)
}

/// A file that is written under a temporary name, and removed on drop unless it has received its final name.
#[derive(Debug)]
pub struct PartialFile(NamedTempFile<File>);

impl PartialFile {
    /// Creates an empty file beside `path`, which may be missing, named after it with the extension [`PARTIAL_EXTENSION`].
    pub fn create(path: &Path) -> io::Result<PartialFile> {
        let mut prefix = path.file_stem().unwrap_or_default().to_owned();
        prefix.push("-");
        let suffix = format!(".{PARTIAL_EXTENSION}");
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(&suffix);
        builder
            .make_in(folder, |path| open(OpenOptions::new().write(true).create_new(true), path))
            .map(PartialFile)
    }

    /// Returns the open file.
    pub fn file(&self) -> &File {
        self.0.as_file()
    }

    /// Returns its temporary path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Gives the file its final name, in the same folder. Replaces the file at `path`. The contents are on disk before the name.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.file().sync_all()?;
        self.0.persist(path)?;
        platform::sync_folder(path);
        Ok(())
    }

    /// Same, but fails with [`io::ErrorKind::AlreadyExists`] if `path` exists. On file systems that can neither link nor rename without
    /// replacing, a file that another process creates at the same moment is replaced.
    fn persist_new(self, path: &Path) -> io::Result<()> {
        self.file().sync_all()?;
        match self.0.persist_noclobber(path) {
            Ok(_) => platform::sync_folder(path),
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => return Err(refused.error),
            Err(_) if path.exists() => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(refused) => PartialFile(refused.file).persist(path)?,
        }
        Ok(())
    }
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

    /// Makes a rename to `path` durable. A rename that is lost leaves the former file.
    pub(super) fn sync_folder(path: &Path) {
        // Some file systems cannot sync folders; there the rename becomes durable a little later.
        drop(path.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all())));
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

    /// Renames are durable without help.
    pub(super) fn sync_folder(_: &Path) {}

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
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn new_and_existing_files_become_private() {
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
    fn new_folders_are_private_and_existing_ones_unchanged() {
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
    fn atomic_write_replaces_whole_file_and_leaves_no_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let files = || fs::read_dir(folder.path()).unwrap().count();
        write_atomically(&path, b"old, and longer").unwrap();
        let mut before = File::open(&path).unwrap();
        write_atomically(&path, b"new").unwrap();
        let mut text = String::new();
        before.read_to_string(&mut text).unwrap();
        assert_eq!((&*text, fs::read(&path).unwrap()), ("old, and longer", b"new".to_vec()));
        assert_eq!((mode(&path), files()), (0o600, 1));
        let unfinished = PartialFile::create(&path).unwrap();
        assert_eq!((mode(unfinished.path()), files()), (0o600, 2));
        drop(unfinished);
        let occupied = folder.path().join("b");
        fs::create_dir_all(occupied.join("c")).unwrap();
        write_atomically(&occupied, b"new").unwrap_err();
        assert_eq!(files(), 2);
    }

    #[test]
    fn create_atomically_refuses_an_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create_atomically(&path, b"first").unwrap();
        let refused = create_atomically(&path, b"second").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"first".to_vec(), 0o600));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writing_to_a_device_keeps_its_permissions() {
        let before = mode(Path::new("/dev/null"));
        write(Path::new("/dev/null"), b"text").unwrap();
        assert_eq!(mode(Path::new("/dev/null")), before);
    }
}
