//! PostgreSQL: the database of a team's server.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::time::Duration;

use postgres::config::Host;
use postgres::error::SqlState;
use postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use postgres::{Client, Config, NoTls, Row, Statement};

use super::CollectStoreError;
use super::sql::{SqlConnection, SqlError, SqlRow, SqlValue};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The port of an address without one.
const DEFAULT_PORT: u16 = 5432;

/// A connection to a server.
pub(super) struct Postgres {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects. `address` is a URL, or a list of keys and values as in libpq.
    pub(super) fn open(address: &str) -> Result<Postgres, CollectStoreError> {
        // A message about the address could show its password.
        let mut config: Config = address.parse().map_err(|_| {
            SqlError::Other(
                "the address of the database is invalid; write postgresql://USER:PASSWORD@HOST/NAME"
                    .to_owned(),
            )
        })?;
        config.connect_timeout(CONNECT_TIMEOUT).application_name("ghostbench");
        let client = config.connect(NoTls).map_err(|error| connection_error(&config, &error))?;
        Ok(Postgres { client, prepared: HashMap::new() })
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, SqlError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// Distinguishes what a later attempt may solve from what only the administrator can: a database that is starting, stopping or busy may
/// accept the next connection.
fn connection_error(config: &Config, error: &postgres::Error) -> CollectStoreError {
    let address = address_without_password(config);
    let Some(answer) = error.as_db_error() else {
        let reason = with_sources(error);
        let is_network = error.source().is_some_and(|source| source.is::<io::Error>());
        return match is_network || error.is_closed() {
            true => CollectStoreError::Unreachable { address, reason },
            false => CollectStoreError::Refused { address, reason },
        };
    };
    let reason = answer.message().to_owned();
    const TEMPORARY: [SqlState; 4] = [
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    match TEMPORARY.contains(answer.code()) {
        true => CollectStoreError::Unreachable { address, reason },
        false => CollectStoreError::Refused { address, reason },
    }
}

/// Returns `host:port/database`.
fn address_without_password(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => config.get_hostaddrs().first().map_or_else(String::new, ToString::to_string),
    };
    let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT);
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("{host}:{port}/{database}")
}

fn references(values: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl SqlConnection for Postgres {
    fn execute(&mut self, sql: &str, values: &[SqlValue]) -> Result<u64, SqlError> {
        let statement = self.prepare(sql)?;
        Ok(self.client.execute(&statement, &references(values))?)
    }

    fn query(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, SqlError> {
        let statement = self.prepare(sql)?;
        let rows = self.client.query(&statement, &references(values))?;
        rows.iter()
            .map(|row| (0..row.len()).map(|column| value(row, column)).collect::<Result<_, _>>().map(SqlRow))
            .collect()
    }

    fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        Ok(self.client.batch_execute(sql)?)
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        self.batch("BEGIN")
    }

    fn scrub(&mut self) -> Result<(), SqlError> {
        // FULL rewrites the tables, without deleted rows.
        ["opportunities", "answers", "telemetry"]
            .iter()
            .try_for_each(|table| self.batch(&format!("VACUUM FULL {table}")))
    }

    fn size(&mut self) -> Result<u64, SqlError> {
        let rows = self.query("SELECT pg_database_size(current_database())", &[])?;
        Ok(rows.first().map_or(0, |row| row.integer(0)).unsigned_abs())
    }
}

fn value(row: &Row, column: usize) -> Result<SqlValue, SqlError> {
    let kind = row.columns().get(column).map_or(Type::UNKNOWN, |column| column.type_().clone());
    Ok(match kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(column)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(column)?.map(i64::from).into(),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(column)?.into(),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column)?.into(),
        _ => row.try_get::<_, Option<String>>(column)?.into(),
    })
}

impl ToSql for SqlValue {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            SqlValue::Null => Ok(IsNull::Yes),
            SqlValue::Integer(value) => value.to_sql(kind, out),
            SqlValue::Real(value) => value.to_sql(kind, out),
            SqlValue::Text(value) => value.to_sql(kind, out),
            SqlValue::Bytes(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl From<postgres::Error> for SqlError {
    fn from(error: postgres::Error) -> SqlError {
        const DISK_FULL: &str = "53100";
        match error.code() {
            Some(code) if code.code() == DISK_FULL => SqlError::Full,
            _ => SqlError::Other(with_sources(&error)),
        }
    }
}

fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
