//! Which sessions write a store: each holds the lock of a file `session-<id>.lock` beside it, until it ends or is killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Digits of a session's id.
const ID_DIGITS: usize = 16;

/// The lock of this session. Dropping it ends the session.
#[derive(Debug)]
pub struct SessionLock {
    path: PathBuf,
    _file: File,
}

impl SessionLock {
    /// Locks the file of a session in the folder of its store. `session` has 16 hexadecimal digits.
    ///
    /// # Errors
    /// The file cannot be created, or the file system has no locks: then the session counts as ended in other servers.
    pub fn acquire(folder: &Path, session: &str) -> io::Result<SessionLock> {
        let path = file(folder, session).ok_or(io::ErrorKind::InvalidInput)?;
        let file = private_files::open(OpenOptions::new().write(true).create(true).truncate(false), &path)?;
        file.lock()?;
        Ok(SessionLock { path, _file: file })
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // A file that stays is not locked any more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a session of this machine writes the store in `folder`, maybe in another process. Where it cannot be known, it does.
pub fn is_session_running(folder: &Path, session: &str) -> bool {
    let Some(path) = file(folder, session) else { return false };
    let Ok(file) = OpenOptions::new().write(true).open(&path) else { return path.exists() };
    match file.try_lock() {
        Ok(()) => {
            let _ = fs::remove_file(&path);
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => true,
    }
}

/// Returns the file of a session; `None` if it is not the id of one.
fn file(folder: &Path, session: &str) -> Option<PathBuf> {
    let is_id = session.len() == ID_DIGITS && session.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| folder.join(format!("session-{session}.lock")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_runs_until_its_lock_is_dropped() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let id = "0123456789abcdef";
        assert!(!is_session_running(folder.path(), id));
        let lock = SessionLock::acquire(folder.path(), id).expect("it is locked");
        assert!(is_session_running(folder.path(), id));
        drop(lock);
        assert!(!is_session_running(folder.path(), id));
        assert!(!is_session_running(folder.path(), "../../etc/passwd"));
        fs::write(folder.path().join("session-0123456789abcdef.lock"), "").expect("it is written");
        assert!(!is_session_running(folder.path(), id), "it was killed");
        assert_eq!(fs::read_dir(folder.path()).expect("it can be read").count(), 0);
    }
}
