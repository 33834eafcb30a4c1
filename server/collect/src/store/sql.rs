//! SQL that both databases understand, and the connection that runs it.
//!
//! Values are `$1`, `$2`, ..., whose first occurrences are in this order, because SQLite numbers them so. Types of columns are `TEXT`,
//! `BIGINT`, `DOUBLE PRECISION` and `BYTEA`.

use thiserror::Error;

/// A value of a column or of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqlValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for SqlValue {
    fn from(value: i64) -> SqlValue {
        SqlValue::Integer(value)
    }
}

impl From<&str> for SqlValue {
    fn from(value: &str) -> SqlValue {
        SqlValue::Text(value.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(value: String) -> SqlValue {
        SqlValue::Text(value)
    }
}

impl From<f64> for SqlValue {
    fn from(value: f64) -> SqlValue {
        SqlValue::Real(value)
    }
}

impl From<Vec<u8>> for SqlValue {
    fn from(value: Vec<u8>) -> SqlValue {
        SqlValue::Bytes(value)
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> SqlValue {
        value.map_or(SqlValue::Null, Into::into)
    }
}

/// An error of the database.
#[derive(Debug, Error)]
pub(crate) enum SqlError {
    /// The disk is full.
    #[error("the disk of the database is full")]
    Full,
    /// Anything else; a new connection may work.
    #[error("{0}")]
    Other(String),
}

/// A row of a result.
#[derive(Debug)]
pub(crate) struct SqlRow(pub(crate) Vec<SqlValue>);

impl SqlRow {
    pub(crate) fn integer(&self, column: usize) -> i64 {
        match self.0.get(column) {
            Some(SqlValue::Integer(value)) => *value,
            _ => 0,
        }
    }

    pub(crate) fn real(&self, column: usize) -> Option<f64> {
        match self.0.get(column) {
            Some(SqlValue::Real(value)) => Some(*value),
            Some(SqlValue::Integer(value)) => Some(*value as f64),
            _ => None,
        }
    }

    pub(crate) fn text(&self, column: usize) -> &str {
        match self.0.get(column) {
            Some(SqlValue::Text(value)) => value,
            _ => "",
        }
    }

    pub(crate) fn bytes(&self, column: usize) -> &[u8] {
        match self.0.get(column) {
            Some(SqlValue::Bytes(value)) => value,
            _ => &[],
        }
    }
}

/// A connection to a database.
pub(crate) trait SqlConnection: Send {
    /// Runs a statement; returns the number of changed rows.
    fn execute(&mut self, sql: &str, values: &[SqlValue]) -> Result<u64, SqlError>;

    /// Returns all rows of a result. Callers bound their number.
    fn query(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, SqlError>;

    /// Runs statements without values.
    fn batch(&mut self, sql: &str) -> Result<(), SqlError>;

    /// Begins a transaction that will write.
    fn begin(&mut self) -> Result<(), SqlError>;

    /// Removes deleted rows from the files of the database.
    fn scrub(&mut self) -> Result<(), SqlError>;

    /// Bytes that the tables take.
    fn size(&mut self) -> Result<u64, SqlError>;
}
