//! Forgetting: rows and all traces of their texts in the files of a store.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior, params};

use super::database::{BUSY_TIMEOUT, Database, files_set_aside, with_suffix};
use super::error::{ErrorCategory, StoreError, category};
use super::place::PlaceKey;
use super::texts::collect_garbage;

/// How long the removal from the file waits for readers.
const READER_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Condition of the rows to forget: id, place, and the first and last moment.
const IN_SCOPE: &str = "(?1 IS NULL OR id = ?1) \
     AND (?2 IS NULL OR ?2 IN (SELECT value FROM json_each(opportunities.places))) AND opened_at BETWEEN ?3 AND ?4";

/// The rows to forget. Rows that a running server still writes about are forgotten too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetScope {
    /// One opportunity.
    Id(String),
    /// All of a file, or of the files below a folder, relative to the workspace.
    Path(String),
    /// All that were opened in this time, in ms since 1970, both ends included.
    Time {
        /// The first moment.
        from: i64,
        /// The last moment.
        to: i64,
    },
    /// All, and damaged files that were set aside.
    All,
}

/// Result of forgetting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgottenRows {
    /// Number of rows.
    pub rows: usize,
    /// Damaged files that were set aside and may still contain the texts; with [`ForgetScope::All`] they are deleted.
    pub set_aside: Vec<PathBuf>,
}

/// Deletes rows from the store at `path`, and their texts from all its files: from the tables, the free pages and the log.
///
/// # Errors
/// There is no store, it cannot be written, or another process reads it for so long that texts may remain in the file.
pub fn forget(path: &Path, scope: &ForgetScope, key: &PlaceKey) -> Result<ForgottenRows, StoreError> {
    let mut database = Database::open_existing(path)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    let rows = delete(&mut database.connection, scope, key, now)
        .map_err(|reason| StoreError::of(path, reason, BUSY_TIMEOUT))?;
    rewrite(&database)?;
    let mut set_aside = files_set_aside(path);
    if *scope == ForgetScope::All {
        for file in set_aside.drain(..) {
            remove_with_companions(&file)?;
        }
    }
    Ok(ForgottenRows { rows, set_aside })
}

fn delete(
    connection: &mut Connection,
    scope: &ForgetScope,
    key: &PlaceKey,
    now: i64,
) -> rusqlite::Result<usize> {
    let (id, place, from, to) = match scope {
        ForgetScope::Id(id) => (Some(id.clone()), None, 0, i64::MAX),
        ForgetScope::Path(path) => (None, Some(key.hash(path)), 0, i64::MAX),
        ForgetScope::Time { from, to } => (None, None, *from, *to),
        ForgetScope::All => (None, None, 0, i64::MAX),
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Opportunities that are opened later are not forgotten, unless they are named by their id.
    let to_now = if id.is_some() { to } else { to.min(now) };
    transaction.execute(
        "INSERT INTO forgotten (id, place, from_ms, to_ms) VALUES (?1, ?2, ?3, ?4)",
        params![id, place, from, to_now],
    )?;
    // Those with a date in the future exist if the clock was set back.
    transaction.execute(
        &format!(
            "INSERT INTO forgotten (id, place, from_ms, to_ms) \
             SELECT id, NULL, 0, {} FROM opportunities WHERE {IN_SCOPE} AND opened_at > ?5",
            i64::MAX
        ),
        params![id, place, from, to, now],
    )?;
    let rows = transaction
        .execute(&format!("DELETE FROM opportunities WHERE {IN_SCOPE}"), params![id, place, from, to])?;
    collect_garbage(&transaction)?;
    transaction.commit()?;
    Ok(rows)
}

/// Writes the whole file again without free pages, and empties the log, which still holds the old pages.
fn rewrite(database: &Database) -> Result<(), StoreError> {
    let start = Instant::now();
    wait_for(database, start, || database.connection.execute_batch("VACUUM").map(|()| true))?;
    wait_for(database, start, || empty_log(&database.connection))
}

/// Repeats a step until it succeeds; false and locks mean that another process is in the way.
fn wait_for(
    database: &Database,
    start: Instant,
    step: impl Fn() -> rusqlite::Result<bool>,
) -> Result<(), StoreError> {
    loop {
        match step() {
            Ok(true) => return Ok(()),
            Err(reason) if category(&reason) != ErrorCategory::Locked => {
                return Err(StoreError::of(database.path(), reason, BUSY_TIMEOUT));
            }
            _ if start.elapsed() > READER_TIMEOUT => {
                return Err(StoreError::StillInFile { path: database.path().to_owned() });
            }
            _ => std::thread::sleep(RETRY_PAUSE),
        }
    }
}

/// Moves the log into the file and truncates it; false if a reader prevents that.
fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        .map(|busy| busy == 0)
}

fn remove_with_companions(file: &Path) -> Result<(), StoreError> {
    for companion in ["", "-wal", "-shm"] {
        match fs::remove_file(with_suffix(file, companion)) {
            Err(reason) if reason.kind() != ErrorKind::NotFound => {
                return Err(StoreError::Folder { path: file.to_owned(), reason });
            }
            _ => {}
        }
    }
    Ok(())
}
