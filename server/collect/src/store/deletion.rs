//! Deletion: of an account's rows on request, and of rows that are too old.
//!
//! Rows that were recorded before a deletion stay deleted, also if a bundle with them arrives later. The other rows of the account, from other
//! repositories, get a new pseudonym and new numbers. A copy of the rows therefore only has to drop the developers that it no longer finds.

use serde::Serialize;

use super::sql::{SqlConnection, SqlError};
use super::{CollectStore, CollectStoreError, accounts, advance, audit, now};
use crate::account::new_pseudonym;

/// Rows that get new numbers with one statement each, at once.
const BATCH: i64 = 1_000;

/// Numbers of deleted rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deletion {
    /// The account.
    pub account: String,
    /// Deleted opportunities.
    pub opportunities: u64,
    /// Deleted records of OpenTelemetry.
    pub telemetry: u64,
    /// Copies that have still to carry it out.
    pub pending_copies: Vec<String>,
}

impl CollectStore {
    /// Deletes the rows of an account: of one repository, or all.
    ///
    /// # Errors
    /// There is no such account, or deleted rows may still be in the database's files.
    pub fn forget(
        &self,
        actor: &str,
        account: &str,
        repository: Option<&str>,
    ) -> Result<Deletion, CollectStoreError> {
        let pseudonym = new_pseudonym()?;
        let (opportunities, telemetry) = self.write(|connection| {
            if accounts::account(connection, account)?.is_none() {
                return Err(CollectStoreError::NoAccount(account.to_owned()));
            }
            advance(connection, "rows", 0)?;
            let deleted = delete(connection, account, repository)?;
            rename(connection, account, &pseudonym)?;
            advance(connection, "deletions", 1)?;
            let detail = format!("{} opportunities, {} records of telemetry", deleted.0, deleted.1);
            audit::append(connection, actor, "forget", account, &detail)?;
            Ok(deleted)
        })?;
        self.on(super::lock(&self.writer), |connection| Ok(connection.scrub()?))?;
        let copies = self.copies()?.into_iter().filter(|copy| copy.pending > 0);
        let pending_copies = copies.map(|copy| copy.name).collect();
        Ok(Deletion { account: account.to_owned(), opportunities, telemetry, pending_copies })
    }

    /// Deletes the rows that began before a moment, in ms since 1970. Returns their number. Copies delete by time themselves.
    pub fn expire(&self, before: i64) -> Result<u64, CollectStoreError> {
        self.write(|connection| {
            connection.execute(
                "DELETE FROM answers WHERE opportunity IN (SELECT id FROM opportunities WHERE opened_at < $1)",
                &[before.into()],
            )?;
            let rows = connection.execute("DELETE FROM opportunities WHERE opened_at < $1", &[before.into()])?;
            let records = connection.execute("DELETE FROM telemetry WHERE at < $1", &[before.into()])?;
            connection.execute("DELETE FROM uploads WHERE at < $1", &[before.into()])?;
            if rows + records > 0 {
                let detail = format!("{rows} opportunities, {records} records of telemetry");
                audit::append(connection, "server", "expire", "", &detail)?;
            }
            Ok(rows + records)
        })
    }
}

/// Deletes the rows, and notes that they stay deleted.
fn delete(
    connection: &mut dyn SqlConnection,
    account: &str,
    repository: Option<&str>,
) -> Result<(u64, u64), SqlError> {
    // The empty name means all repositories.
    let values = [account.into(), repository.unwrap_or_default().into()];
    const OWN: &str = "account = $1 AND ($2 = '' OR repository = $2)";
    connection.execute(
        &format!("DELETE FROM answers WHERE opportunity IN (SELECT id FROM opportunities WHERE {OWN})"),
        &values,
    )?;
    let opportunities = connection.execute(&format!("DELETE FROM opportunities WHERE {OWN}"), &values)?;
    connection.execute(&format!("DELETE FROM uploads WHERE {OWN}"), &values)?;
    // Telemetry names no repository.
    let telemetry = match repository {
        None => connection.execute("DELETE FROM telemetry WHERE account = $1", &[account.into()])?,
        Some(_) => 0,
    };
    connection.execute(
        "INSERT INTO forgotten (account, repository, at) VALUES ($1, $2, $3) \
         ON CONFLICT (account, repository) DO UPDATE SET at = excluded.at",
        &[account.into(), repository.unwrap_or_default().into(), now().into()],
    )?;
    Ok((opportunities, telemetry))
}

/// Gives an account a new pseudonym, and its rows new numbers.
fn rename(connection: &mut dyn SqlConnection, account: &str, pseudonym: &str) -> Result<(), SqlError> {
    let of_account = [pseudonym.into(), account.into()];
    connection.execute("UPDATE accounts SET developer = $1 WHERE name = $2", &of_account)?;
    connection.execute("UPDATE telemetry SET developer = $1 WHERE account = $2", &of_account)?;
    loop {
        let rows = connection.query(
            "SELECT id FROM opportunities WHERE account = $1 AND developer <> $2 ORDER BY number LIMIT $3",
            &[account.into(), pseudonym.into(), BATCH.into()],
        )?;
        if rows.is_empty() {
            return Ok(());
        }
        let first = advance(connection, "rows", rows.len() as i64)? + 1;
        for (row, number) in rows.iter().zip(first..) {
            connection.execute(
                "UPDATE opportunities SET developer = $1, number = $2 WHERE id = $3",
                &[pseudonym.into(), number.into(), row.text(0).into()],
            )?;
        }
    }
}
