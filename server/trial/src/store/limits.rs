//! Limits of a store: rows that are too old, and the oldest ones if the file is too large.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior};

use super::StoreSettings;
use super::database::Database;
use super::texts::collect_garbage;

/// Share of the limit to which a store is cut, so that the next row does not exceed it again.
const CUT_TO: f64 = 0.9;

/// Rounds of deleting; each estimates how many rows are too many, because rows share their texts.
const MAX_ROUNDS: usize = 8;

/// Deletes rows beyond the limits. Returns their number.
pub(super) fn apply(
    database: &mut Database,
    settings: &StoreSettings,
    now: SystemTime,
) -> rusqlite::Result<usize> {
    let oldest = now.checked_sub(settings.keep).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let oldest = oldest.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let mut deleted = delete(&mut database.connection, "opened_at < ?1", oldest)?;
    for _ in 0..MAX_ROUNDS {
        let used = database.used_bytes()?;
        if used <= settings.max_bytes {
            break;
        }
        let rows: i64 =
            database.connection.query_row("SELECT COUNT(*) FROM opportunities", [], |row| row.get(0))?;
        let share = 1.0 - settings.max_bytes as f64 * CUT_TO / used as f64;
        let surplus = ((rows as f64 * share).ceil() as i64).clamp(1, rows.max(1));
        let in_oldest = "number IN (SELECT number FROM opportunities ORDER BY opened_at, number LIMIT ?1)";
        let gone = delete(&mut database.connection, in_oldest, surplus)?;
        deleted += gone;
        if gone == 0 {
            break;
        }
    }
    Ok(deleted)
}

/// Deletes the rows that fulfil a condition with one number, their texts, and the free pages.
fn delete(connection: &mut Connection, condition: &str, number: i64) -> rusqlite::Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let deleted = transaction.execute(&format!("DELETE FROM opportunities WHERE {condition}"), [number])?;
    if deleted > 0 {
        collect_garbage(&transaction)?;
    }
    transaction.commit()?;
    if deleted > 0 {
        // Each step frees one page.
        let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
    }
    Ok(deleted)
}
