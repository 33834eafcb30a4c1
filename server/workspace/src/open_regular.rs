//! Opens files of a workspace that a walk has found, and no others.
//!
//! Between the walk and the opening a file may be replaced: by a link out of the workspace, by a pipe without a writer, by a
//! device. So no link is followed in any part of the path below the root, opening never waits, and the opened file is checked
//! before it is read. On Linux the kernel resolves the whole path at once (`openat2`); elsewhere, and where that is forbidden,
//! each folder is opened from the one above it.

use std::fs::File;
use std::io;
use std::path::Path;

/// Reason why a file was not opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// A part of the path is a link.
    Link,
    /// It is a folder, pipe, socket or device.
    NoFile,
    /// The system's error.
    Failed(io::Error),
}

/// Opens the file at `path` for reading, relative to `root` with `/` between its parts. The root itself may be a link.
pub(crate) fn open_regular(root: &Path, path: &str) -> Result<File, OpenError> {
    let file = platform::open(root, path)?;
    let metadata = file.metadata().map_err(OpenError::Failed)?;
    if metadata.is_file() {
        Ok(file)
    } else if metadata.is_symlink() {
        Err(OpenError::Link)
    } else {
        Err(OpenError::NoFile)
    }
}

#[cfg(unix)]
use unix as platform;

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{self, Mode, OFlags, openat};
    use rustix::io::Errno;

    use super::OpenError;

    /// Never waits for a writer, never follows a link, never becomes the terminal of the process, never leaks into a child.
    const FILE: OFlags = OFlags::RDONLY
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::NOCTTY)
        .union(OFlags::CLOEXEC);

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    pub(super) fn open(root: &Path, path: &str) -> Result<File, OpenError> {
        let root = self::root(root)?;
        #[cfg(target_os = "linux")]
        if let Some(opened) = at_once(&root, path) {
            return opened.map(File::from).map_err(not_opened);
        }
        step_by_step(root, path).map(File::from).map_err(not_opened)
    }

    fn root(root: &Path) -> Result<OwnedFd, OpenError> {
        fs::open(root, FOLDER, Mode::empty()).map_err(|error| OpenError::Failed(error.into()))
    }

    /// Opens the path in one call; `None` if the kernel has no such call, or a sandbox forbids it.
    #[cfg(target_os = "linux")]
    fn at_once(root: &OwnedFd, path: &str) -> Option<rustix::io::Result<OwnedFd>> {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(root, path, FILE, Mode::empty(), resolve) {
            // A race with a rename, which opening step by step does not have.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL) => None,
            opened => Some(opened),
        }
    }

    pub(super) fn step_by_step(root: OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folder = root;
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            if part == ".." {
                return Err(Errno::XDEV);
            }
            folder = openat(&folder, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        }
        openat(&folder, name, FILE, Mode::empty())
    }

    /// Some systems report a link in the place of a folder as "not a directory", others as "too many links".
    fn not_opened(error: Errno) -> OpenError {
        match error {
            Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::MLINK => OpenError::Link,
            // A socket, or a pipe that cannot be opened without waiting.
            Errno::NXIO | Errno::OPNOTSUPP => OpenError::NoFile,
            error => OpenError::Failed(io::Error::from(error)),
        }
    }

    #[cfg(all(test, not(target_vendor = "apple")))]
    pub(super) fn open_step_by_step(root: &Path, path: &str) -> Result<File, OpenError> {
        step_by_step(self::root(root)?, path).map(File::from).map_err(not_opened)
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::{File, OpenOptions};
    use std::os::windows::fs::OpenOptionsExt;
    use std::path::Path;

    use super::OpenError;

    /// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself, which is then recognized as one.
    const NO_FOLLOW: u32 = 0x0020_0000;

    pub(super) fn open(root: &Path, path: &str) -> Result<File, OpenError> {
        let options = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).clone();
        options.open(root.join(path)).map_err(OpenError::Failed)
    }
}

#[cfg(not(any(unix, windows)))]
mod platform {
    use std::fs::File;
    use std::path::Path;

    use super::OpenError;

    pub(super) fn open(root: &Path, path: &str) -> Result<File, OpenError> {
        File::open(root.join(path)).map_err(OpenError::Failed)
    }
}

#[cfg(all(test, unix, not(target_vendor = "apple")))]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// Both methods give the same result for every kind of path.
    fn opened(root: &Path, path: &str) -> [String; 2] {
        [open_regular(root, path), unix::open_step_by_step(root, path)].map(|opened| match opened {
            Err(OpenError::Failed(error)) => format!("{:?}", error.kind()),
            Err(not_opened) => format!("{not_opened:?}"),
            Ok(mut file) if file.metadata().expect("it is open").is_file() => {
                let mut text = String::new();
                file.read_to_string(&mut text).expect("it is ours");
                text
            }
            Ok(_) => "NoFile".to_owned(),
        })
    }

    #[test]
    fn opens_only_regular_files_below_the_root_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(root.join("a/b/x.py"), "inside").unwrap();
        fs::write(outside.join("x.py"), "outside").unwrap();
        symlink(&outside, root.join("link")).unwrap();
        symlink("a", root.join("within")).unwrap();
        symlink(outside.join("x.py"), root.join("a/y.py")).unwrap();
        mknodat(CWD, root.join("pipe.py"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = UnixListener::bind(root.join("socket.py")).unwrap();
        for (path, expected) in [
            ("a/b/x.py", "inside"),
            ("a/y.py", "Link"),
            ("link/x.py", "Link"),
            ("within/b/x.py", "Link"),
            ("../outside/x.py", "Link"),
            ("pipe.py", "NoFile"),
            ("socket.py", "NoFile"),
            ("a/b", "NoFile"),
            ("none.py", "NotFound"),
            ("none/x.py", "NotFound"),
        ] {
            assert_eq!(opened(&root, path), [expected; 2], "{path}");
        }
        symlink(&root, folder.path().join("root_link")).unwrap();
        assert_eq!(opened(&folder.path().join("root_link"), "a/b/x.py"), ["inside"; 2]);
    }

    #[test]
    fn symlink_swapped_in_during_open_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(root.join("file"), "public").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        let (swapping, stop) = (root.clone(), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
        let stopped = std::sync::Arc::clone(&stop);
        let swapper = std::thread::spawn(move || {
            while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(swapping.join("file"), swapping.join("kept")).unwrap();
                fs::rename(swapping.join("link"), swapping.join("file")).unwrap();
                fs::rename(swapping.join("file"), swapping.join("link")).unwrap();
                fs::rename(swapping.join("kept"), swapping.join("file")).unwrap();
            }
        });
        for _ in 0..2_000 {
            for text in opened(&root, "file") {
                assert!(["public", "Link", "NotFound"].contains(&&*text), "{text}");
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        swapper.join().unwrap();
    }
}
