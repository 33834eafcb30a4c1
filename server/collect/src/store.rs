//! The database of a server: rows of developers, accounts, audit log.
//!
//! ```text
//! writer ── one connection, one transaction after the other ──► SQLite in a file, or PostgreSQL
//! readers ─ a few connections ────────────────────────────────►
//! ```
//!
//! The statements are the same for both databases; [`sql`] says how. Rows get their numbers in the order of their commits, also from
//! several servers: a transaction locks the counter until it ends. A reader with a cursor therefore misses none.
//!
//! All calls block. No call returns before its transaction is durable.

mod accounts;
mod audit;
mod copies;
mod deletion;
#[cfg(feature = "postgres")]
mod postgres;
mod reading;
mod schema;
mod sql;
mod sqlite;
mod summary;
mod telemetry;
pub(crate) mod writing;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use config::Secret;
use thiserror::Error;

use sql::{SqlConnection, SqlError, SqlValue};

pub use audit::AuditEntry;
pub use copies::Copy;
pub use deletion::Deletion;
pub use reading::{ExportPage, RowFilter};
pub use summary::{AccountSummary, DaySummary, EngineSummary, Summary};
pub use telemetry::TelemetryRecord;
pub use writing::{PreparedRow, Receipt, Upload};

/// The file of an SQLite database in a server's folder.
pub const DATABASE_FILE: &str = "collected.db";

/// Connections for reading: an export and a page may be under way while requests are let in.
const READERS: usize = 3;

/// Where a database is.
#[derive(Clone)]
pub enum StorePlace {
    /// A folder, with a file of SQLite.
    Folder(PathBuf),
    /// The address of a PostgreSQL server.
    Postgres(Secret),
}

/// A database that cannot be opened, read or written.
#[derive(Debug, Error)]
pub enum CollectStoreError {
    /// The folder cannot be created.
    #[error("cannot use the folder {}: {reason}; check its permissions, or name another one", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// This build has no PostgreSQL.
    #[error(
        "this ghostbench was built without PostgreSQL; build it with `cargo build --release -p cli --features postgres`"
    )]
    NoPostgres,
    /// The database does not run, or accepts no more connections. A later attempt may succeed.
    #[error("cannot reach the database at {address}: {reason}; start it, or correct its address")]
    Unreachable {
        /// Its address, without the password.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The database rejects the user, the password or the name.
    #[error(
        "the database at {address} refuses the connection: {reason}; create that database and user, or correct the name, the user and \
         the password in its address"
    )]
    Refused {
        /// Its address, without the password.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The format is newer than this build.
    #[error(
        "the database has version {found}, and this ghostbench knows versions up to {known}; install the newer version"
    )]
    Newer {
        /// Its version.
        found: i64,
        /// The newest version that is known.
        known: i64,
    },
    /// An account has this name already.
    #[error("there is an account `{0}` already; revoke it first, or choose another name")]
    AccountExists(String),
    /// No account has this name.
    #[error("there is no account `{0}`; `ghostbench collect token list` shows them")]
    NoAccount(String),
    /// The certificate belongs to an account already.
    #[error("another account has this certificate already")]
    CredentialTaken,
    /// A row belongs to another account.
    #[error("opportunity {0} belongs to another developer; record it again, or ask the administrator")]
    ForeignRow(String),
    /// There are no random numbers.
    #[error("the system has no random numbers: {0}")]
    Random(String),
    /// A row cannot be read.
    #[error("opportunity {id} cannot be read: {reason}")]
    Row {
        /// Its id.
        id: String,
        /// The reason.
        reason: String,
    },
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(String),
    /// The disk is full.
    #[error("the disk of the database is full; make room")]
    Full,
}

impl From<SqlError> for CollectStoreError {
    fn from(error: SqlError) -> CollectStoreError {
        match error {
            SqlError::Full => CollectStoreError::Full,
            error => CollectStoreError::Database(error.to_string()),
        }
    }
}

impl From<getrandom::Error> for CollectStoreError {
    fn from(error: getrandom::Error) -> CollectStoreError {
        CollectStoreError::Random(error.to_string())
    }
}

/// The present time, ms since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A connection that is opened again if it is lost.
struct Pooled(Option<Box<dyn SqlConnection>>);

/// An open database.
pub struct CollectStore {
    place: StorePlace,
    writer: Mutex<Pooled>,
    readers: Vec<Mutex<Pooled>>,
    next_reader: AtomicUsize,
}

impl CollectStore {
    /// Opens a database; creates its tables if they are missing.
    ///
    /// # Errors
    /// The database cannot be reached, or is newer than this build.
    pub fn open(place: StorePlace) -> Result<CollectStore, CollectStoreError> {
        if let StorePlace::Folder(path) = &place {
            private_files::own_folder(path)
                .map_err(|reason| CollectStoreError::Folder { path: path.clone(), reason })?;
        }
        let readers = (0..READERS).map(|_| Mutex::new(Pooled(None))).collect();
        let store = CollectStore {
            place,
            writer: Mutex::new(Pooled(None)),
            readers,
            next_reader: AtomicUsize::new(0),
        };
        store.prepare()?;
        Ok(store)
    }

    fn prepare(&self) -> Result<(), CollectStoreError> {
        let found = self.write(|connection| {
            lock_schema(&self.place, connection)?;
            let version = schema::version(connection)?;
            if version <= schema::VERSION {
                schema::migrate(connection, version)?;
                create_views(&self.place, connection)?;
            }
            Ok(version)
        })?;
        match found <= schema::VERSION {
            true => Ok(()),
            false => Err(CollectStoreError::Newer { found, known: schema::VERSION }),
        }
    }

    fn connect(&self) -> Result<Box<dyn SqlConnection>, CollectStoreError> {
        match &self.place {
            StorePlace::Folder(folder) => Ok(Box::new(sqlite::Sqlite::open(&folder.join(DATABASE_FILE))?)),
            #[cfg(feature = "postgres")]
            StorePlace::Postgres(address) => Ok(Box::new(postgres::Postgres::open(address.expose())?)),
            #[cfg(not(feature = "postgres"))]
            StorePlace::Postgres(_) => Err(CollectStoreError::NoPostgres),
        }
    }

    /// Runs a transaction on the writing connection.
    fn write<T>(
        &self,
        work: impl FnOnce(&mut dyn SqlConnection) -> Result<T, CollectStoreError>,
    ) -> Result<T, CollectStoreError> {
        self.on(lock(&self.writer), |connection| {
            connection.begin()?;
            match work(connection) {
                Ok(done) => connection.batch("COMMIT").map(|()| done).map_err(CollectStoreError::from),
                Err(error) => {
                    // The error is more useful than that of a connection which is lost anyway.
                    let _ = connection.batch("ROLLBACK");
                    Err(error)
                }
            }
        })
    }

    /// Runs statements that read, on one of the reading connections.
    fn read<T>(
        &self,
        work: impl FnOnce(&mut dyn SqlConnection) -> Result<T, CollectStoreError>,
    ) -> Result<T, CollectStoreError> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        let turn = self.next_reader.fetch_add(1, Ordering::Relaxed) % self.readers.len();
        self.on(free.unwrap_or_else(|| lock(&self.readers[turn])), work)
    }

    /// Runs work on a connection. One that failed is replaced next time: it may be lost, or in the middle of a transaction.
    fn on<T>(
        &self,
        mut pooled: MutexGuard<'_, Pooled>,
        work: impl FnOnce(&mut dyn SqlConnection) -> Result<T, CollectStoreError>,
    ) -> Result<T, CollectStoreError> {
        let mut connection = match pooled.0.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let done = work(&mut *connection);
        if !matches!(done, Err(CollectStoreError::Database(_) | CollectStoreError::Full)) {
            pooled.0 = Some(connection);
        }
        done
    }
}

/// A thread that panicked leaves no connection behind, so that the lock is as good as new.
fn lock(pooled: &Mutex<Pooled>) -> MutexGuard<'_, Pooled> {
    pooled.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps other processes from creating the tables at the same time; SQLite's transactions do so anyway.
fn lock_schema(place: &StorePlace, connection: &mut dyn SqlConnection) -> Result<(), SqlError> {
    /// Any number that no other program uses: "GBco" in ASCII.
    const LOCK: &str = "SELECT pg_advisory_xact_lock(1195533167)";
    match place {
        StorePlace::Folder(_) => Ok(()),
        StorePlace::Postgres(_) => connection.batch(LOCK),
    }
}

#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "only PostgreSQL has the views"))]
fn create_views(place: &StorePlace, connection: &mut dyn SqlConnection) -> Result<(), SqlError> {
    #[cfg(feature = "postgres")]
    if matches!(place, StorePlace::Postgres(_)) {
        return connection.batch(schema::VIEWS);
    }
    Ok(())
}

/// Raises a counter, and locks it until the transaction ends. Returns its former value.
fn advance(connection: &mut dyn SqlConnection, counter: &str, by: i64) -> Result<i64, SqlError> {
    let values: [SqlValue; 2] = [by.into(), counter.into()];
    let rows = connection
        .query("UPDATE counters SET value = value + $1 WHERE name = $2 RETURNING value", &values)?;
    Ok(rows.first().map_or(0, |row| row.integer(0)) - by)
}
