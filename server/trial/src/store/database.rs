//! The database file: opening, its format and migrations, setting damaged files aside.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::{ErrorCategory, StoreError, category};

/// Marks the files of this format: "GBts" in ASCII.
const APPLICATION_ID: i64 = 0x4742_7473;

/// How long one call waits for another process. Writers retry.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of damaged files that are kept aside; the limit only ends the search for a name.
const MAX_SET_ASIDE: u32 = 1_000;

/// The steps from an empty file to the newest version: `user_version` is the number of steps that were applied. Never change a step;
/// append one.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE texts (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        body BLOB NOT NULL
    ) STRICT;
    CREATE TABLE opportunities (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        opened_at INTEGER NOT NULL,
        trial TEXT,
        language TEXT NOT NULL,
        path TEXT NOT NULL,
        places TEXT NOT NULL,
        reviewed INTEGER NOT NULL DEFAULT 0,
        row TEXT NOT NULL,
        texts TEXT NOT NULL
    ) STRICT;
    CREATE INDEX opportunities_by_time ON opportunities (opened_at);
    CREATE TABLE forgotten (
        id TEXT,
        place TEXT,
        from_ms INTEGER NOT NULL,
        to_ms INTEGER NOT NULL
    ) STRICT;
"];

/// The newest version that this build knows.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// An open store file.
#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    pub(super) connection: Connection,
}

impl Database {
    /// Opens the file for writing, creates it if it is missing, and applies missing migrations. Sets a damaged file aside.
    pub(super) fn open(path: &Path) -> Result<Database, StoreError> {
        match Database::try_open(path) {
            Err(StoreError::Corrupt { .. }) => {
                set_aside(path)?;
                Database::try_open(path)
            }
            opened => opened,
        }
    }

    /// Opens an existing file for writing.
    pub(super) fn open_existing(path: &Path) -> Result<Database, StoreError> {
        if path.is_file() {
            Database::try_open(path)
        } else {
            Err(StoreError::Missing { path: path.to_owned() })
        }
    }

    fn try_open(path: &Path) -> Result<Database, StoreError> {
        let failed = |reason| StoreError::Folder { path: path.to_owned(), reason };
        // The database gives its other files the permissions of this one.
        private_files::open(OpenOptions::new().write(true).create(true).truncate(false), path)
            .map_err(failed)?;
        let connect = || {
            let connection = Connection::open_with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            )?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            Ok(connection)
        };
        let of = |reason| StoreError::of(path, reason, BUSY_TIMEOUT);
        let mut connection = connect().map_err(of)?;
        check_version(path, &connection)?;
        prepare(&mut connection).map_err(of)?;
        Ok(Database { path: path.to_owned(), connection })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of the file that hold rows; free pages do not count.
    pub(super) fn used_bytes(&self) -> rusqlite::Result<u64> {
        let number = |pragma: &str| {
            self.connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, u64>(0))
        };
        Ok((number("page_count")?.saturating_sub(number("freelist_count")?)) * number("page_size")?)
    }
}

/// Returns the version of the file; 0 if it is empty. Refuses files of newer versions and of other programs, before anything is written.
pub(super) fn check_version(path: &Path, connection: &Connection) -> Result<i64, StoreError> {
    let read = || -> rusqlite::Result<(i64, i64, bool)> {
        let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get(0));
        let tables =
            connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?, tables == 0))
    };
    let (application, found, is_empty) =
        read().map_err(|reason| StoreError::of(path, reason, BUSY_TIMEOUT))?;
    if application != APPLICATION_ID && !(is_empty && application == 0) {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if found > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    Ok(found)
}

/// Sets the connection up and applies missing migrations.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    // Both have no effect once there are tables. Rows take 2 to 3 KB, and a page of 4 KB would hold one.
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == 0 {
        connection.execute_batch("PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL")?;
    }
    // NORMAL: a power failure may lose the last rows, a killed process none. The number of cached pages is that of 4 KB pages unless it is
    // set again: four times the memory.
    connection.execute_batch(
        "PRAGMA cache_size = -2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; \
         PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 4194304",
    )?;
    if version == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Gives a damaged file another name, together with its companions. Only one process does so; the others find a new file.
pub(super) fn set_aside(path: &Path) -> Result<(), StoreError> {
    let failed = |reason| StoreError::Folder { path: path.to_owned(), reason };
    let lock = path.with_extension("lock");
    let lock: File = private_files::open(OpenOptions::new().write(true).create(true).truncate(false), &lock)
        .map_err(failed)?;
    // Some file systems do not support locks; there, two processes that start at once may both set a file aside.
    let _ = lock.lock();
    if !is_damaged(path) {
        return Ok(());
    }
    let name = free_name(path)
        .ok_or_else(|| failed(io::Error::other("too many damaged stores are kept beside it")))?;
    for companion in ["", "-wal", "-shm"] {
        match fs::rename(with_suffix(path, companion), with_suffix(&name, companion)) {
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed.map_err(failed)?,
        }
    }
    Ok(())
}

/// Whether the tables cannot be read. Unlike opening, this reads all of them.
fn is_damaged(path: &Path) -> bool {
    let check = || {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    };
    match check() {
        Ok(result) => result != "ok",
        Err(error) => category(&error) == ErrorCategory::Corrupt,
    }
}

/// Returns `store-corrupt-1.db`, or the next number that is free.
fn free_name(path: &Path) -> Option<PathBuf> {
    (1..=MAX_SET_ASIDE).map(|number| aside_name(path, number)).find(|name| !name.exists())
}

/// Returns the damaged files that were set aside.
pub(super) fn files_set_aside(path: &Path) -> Vec<PathBuf> {
    (1..=MAX_SET_ASIDE).map(|number| aside_name(path, number)).take_while(|name| name.exists()).collect()
}

fn aside_name(path: &Path, number: u32) -> PathBuf {
    path.with_file_name(format!("store-corrupt-{number}.db"))
}

/// Returns the path of a companion file, such as the log.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
