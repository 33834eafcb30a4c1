//! Copies of the rows in other places, such as Parquet files: how far each is, and whether it has carried out all deletions.

use serde::Serialize;

use super::{CollectStore, CollectStoreError, audit, now};

/// A copy of the rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Copy {
    /// Its name: where it is.
    pub name: String,
    /// Number of the last row that it has.
    pub cursor: i64,
    /// Deletions that it has carried out.
    pub deletions: i64,
    /// Deletions that it has still to carry out.
    pub pending: i64,
    /// When it was last brought up to date, ms since 1970.
    pub synced_at: i64,
}

impl CollectStore {
    /// Notes how far a copy is.
    pub fn note_copy(
        &self,
        actor: &str,
        name: &str,
        cursor: i64,
        deletions: i64,
    ) -> Result<(), CollectStoreError> {
        self.write(|connection| {
            connection.execute(
                "INSERT INTO copies (name, cursor, deletions, synced_at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor, deletions = excluded.deletions, \
                 synced_at = excluded.synced_at",
                &[name.into(), cursor.into(), deletions.into(), now().into()],
            )?;
            let detail = format!("rows up to {cursor}, deletions up to {deletions}");
            Ok(audit::append(connection, actor, "copy", name, &detail)?)
        })
    }

    /// Returns all copies, by name.
    pub fn copies(&self) -> Result<Vec<Copy>, CollectStoreError> {
        self.read(|connection| {
            let rows = connection.query(
                "SELECT name, cursor, deletions, (SELECT value FROM counters WHERE name = 'deletions'), synced_at \
                 FROM copies ORDER BY name",
                &[],
            )?;
            let copy = |row: &super::sql::SqlRow| Copy {
                name: row.text(0).to_owned(),
                cursor: row.integer(1),
                deletions: row.integer(2),
                pending: (row.integer(3) - row.integer(2)).max(0),
                synced_at: row.integer(4),
            };
            Ok(rows.iter().map(copy).collect())
        })
    }

    /// Returns the number of deletions so far.
    pub fn deletions(&self) -> Result<i64, CollectStoreError> {
        self.read(|connection| {
            let rows = connection.query("SELECT value FROM counters WHERE name = 'deletions'", &[])?;
            Ok(rows.first().map_or(0, |row| row.integer(0)))
        })
    }
}
