//! Spans and log records of OpenTelemetry, each once.

use super::sql::SqlConnection;
use super::{CollectStore, CollectStoreError, audit};

/// A span or a log record, without secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryRecord {
    /// Identity: a hash, so that a record that is sent again is known.
    pub(crate) id: String,
    /// When it began, ms since 1970.
    pub(crate) at: i64,
    /// `span` or `log`.
    pub(crate) kind: &'static str,
    /// Name of the span or event.
    pub(crate) name: String,
    /// The record as JSON.
    pub(crate) body: String,
}

impl CollectStore {
    /// Stores records; returns how many are new. Those from before a deletion, or older than `oldest`, are left out.
    pub fn put_telemetry(
        &self,
        account: &str,
        records: &[TelemetryRecord],
        oldest: i64,
    ) -> Result<u64, CollectStoreError> {
        self.write(|connection| {
            let (developer, forgotten_at) = state(connection, account)?;
            let mut new = 0;
            for record in records.iter().filter(|record| record.at > forgotten_at && record.at >= oldest) {
                new += connection.execute(
                    "INSERT INTO telemetry (id, account, developer, at, kind, name, body) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                     ON CONFLICT (id) DO NOTHING",
                    &[
                        record.id.as_str().into(),
                        account.into(),
                        developer.as_str().into(),
                        record.at.into(),
                        record.kind.into(),
                        record.name.as_str().into(),
                        record.body.as_str().into(),
                    ],
                )?;
            }
            audit::append(connection, account, "telemetry", "", &format!("{new} of {} new", records.len()))?;
            Ok(new)
        })
    }
}

fn state(connection: &mut dyn SqlConnection, account: &str) -> Result<(String, i64), CollectStoreError> {
    let rows = connection.query(
        "SELECT a.developer, (SELECT f.at FROM forgotten f WHERE f.account = a.name AND f.repository = '') \
         FROM accounts a WHERE a.name = $1",
        &[account.into()],
    )?;
    let row = rows.first().ok_or_else(|| CollectStoreError::NoAccount(account.to_owned()))?;
    Ok((row.text(0).to_owned(), row.integer(1)))
}
