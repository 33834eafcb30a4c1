//! The audit log: uploads, reads and deletions, by account. It has no code, and no statement changes it.

use serde::Serialize;

use super::sql::{SqlConnection, SqlError};
use super::{CollectStore, CollectStoreError, advance, now};

/// Most characters of an entry's detail.
const MAX_DETAIL_CHARS: usize = 1_000;

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// Its number, from 1 without gaps.
    pub number: i64,
    /// When, ms since 1970.
    pub at: i64,
    /// The account, or `operator` for a command on the server's machine, or `server`.
    pub actor: String,
    /// The action.
    pub action: String,
    /// Its object: an account, a digest, a name of a copy.
    pub subject: String,
    /// Numbers.
    pub detail: String,
}

impl CollectStore {
    /// Appends an entry.
    pub fn audit(
        &self,
        actor: &str,
        action: &str,
        subject: &str,
        detail: &str,
    ) -> Result<(), CollectStoreError> {
        self.write(|connection| Ok(append(connection, actor, action, subject, detail)?))
    }

    /// Returns the last entries, the newest first.
    pub fn audit_log(&self, limit: u32) -> Result<Vec<AuditEntry>, CollectStoreError> {
        self.read(|connection| {
            let rows = connection.query(
                "SELECT number, at, actor, action, subject, detail FROM audit ORDER BY number DESC LIMIT $1",
                &[i64::from(limit).into()],
            )?;
            let entry = |row: &super::sql::SqlRow| AuditEntry {
                number: row.integer(0),
                at: row.integer(1),
                actor: row.text(2).to_owned(),
                action: row.text(3).to_owned(),
                subject: row.text(4).to_owned(),
                detail: row.text(5).to_owned(),
            };
            Ok(rows.iter().map(entry).collect())
        })
    }
}

/// Appends an entry in the transaction that it reports.
pub(super) fn append(
    connection: &mut dyn SqlConnection,
    actor: &str,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<(), SqlError> {
    let number = advance(connection, "audit", 1)? + 1;
    // A refusal may quote a client; PostgreSQL stores no text with a null character.
    let detail: String = detail.chars().filter(|c| !c.is_control()).take(MAX_DETAIL_CHARS).collect();
    let values = [number.into(), now().into(), actor.into(), action.into(), subject.into(), detail.into()];
    connection.execute(
        "INSERT INTO audit (number, at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6)",
        &values,
    )?;
    Ok(())
}
