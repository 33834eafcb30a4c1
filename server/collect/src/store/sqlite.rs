//! SQLite: the database inside of the server, for trying it out and for small teams.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::sql::{SqlConnection, SqlError, SqlRow, SqlValue};

/// How long a connection waits for another one, or for another process such as `ghostbench collect token`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Statements that are kept prepared.
const CACHED_STATEMENTS: usize = 64;

/// A connection to a file.
pub(super) struct Sqlite(Connection);

impl Sqlite {
    /// Opens the file; creates it, for its owner alone, if it is missing.
    pub(super) fn open(path: &Path) -> Result<Sqlite, SqlError> {
        private_files::open(OpenOptions::new().write(true).create(true).truncate(false), path)
            .map_err(|reason| SqlError::Other(reason.to_string()))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        // FULL: a row that the client was told to be stored survives a power failure. Deleted rows are overwritten.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 67108864",
        )?;
        Ok(Sqlite(connection))
    }
}

impl SqlConnection for Sqlite {
    fn execute(&mut self, sql: &str, values: &[SqlValue]) -> Result<u64, SqlError> {
        Ok(self.0.prepare_cached(sql)?.execute(params_from_iter(values))? as u64)
    }

    fn query(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, SqlError> {
        let mut statement = self.0.prepare_cached(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map(params_from_iter(values), |row| {
            (0..columns).map(|column| row.get_ref(column).map(value)).collect::<Result<_, _>>().map(SqlRow)
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        Ok(self.0.execute_batch(sql)?)
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        self.batch("BEGIN IMMEDIATE")
    }

    fn scrub(&mut self) -> Result<(), SqlError> {
        // Deleted rows are overwritten in the file already; the log still has them.
        let truncated =
            self.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))?;
        match truncated {
            0 => Ok(()),
            _ => {
                Err(SqlError::Other("another program reads the database, so that its log is kept".to_owned()))
            }
        }
    }

    fn size(&mut self) -> Result<u64, SqlError> {
        let number =
            |pragma: &str| self.0.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, u64>(0));
        Ok(number("page_count")?.saturating_sub(number("freelist_count")?) * number("page_size")?)
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(value) => ToSqlOutput::Owned(Value::Integer(*value)),
            SqlValue::Real(value) => ToSqlOutput::Owned(Value::Real(*value)),
            SqlValue::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            SqlValue::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
        })
    }
}

fn value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(value) => SqlValue::Integer(value),
        ValueRef::Real(value) => SqlValue::Real(value),
        ValueRef::Text(value) => SqlValue::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => SqlValue::Bytes(value.to_owned()),
    }
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> SqlError {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => SqlError::Full,
            _ => SqlError::Other(error.to_string()),
        }
    }
}
