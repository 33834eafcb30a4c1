//! Rows of the table: an opportunity as JSON without its long texts, the columns that queries need, and the pieces of its texts.

use std::mem;
use std::time::UNIX_EPOCH;

use cases::{Opportunity, to_line};
use rusqlite::{Connection, OptionalExtension, params};

use super::texts::{self, Pieces, TextReader};

/// Limit of all texts of a row, bytes: ten times the largest file that is completed.
const MAX_ROW_BYTES: usize = 16 << 20;

/// Result of writing a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteResult {
    /// It is in the store.
    Stored,
    /// The user has forgotten it.
    Forgotten,
}

/// Returns the time of an opportunity in ms since 1970; 0 if it is unreadable.
pub(super) fn opened_ms(opportunity: &Opportunity) -> i64 {
    let time = humantime::parse_rfc3339(&opportunity.opened_at).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default()
}

/// Whether the row is small enough to be stored.
pub(super) fn is_storable(opportunity: &Opportunity) -> bool {
    let items = opportunity.context.iter().chain(&opportunity.similar_functions).map(|item| item.text.len());
    let answers = opportunity.answers.iter().map(|answer| answer.raw.len() + answer.text.len());
    let truths = opportunity.truths.iter().map(|truth| {
        truth.text.len() + truth.region.len() + truth.deleted.len() + truth.deleted_before.len()
    });
    let cursor = opportunity.cursor.prefix.len() + opportunity.cursor.suffix.len();
    cursor + items.chain(answers).chain(truths).sum::<usize>() <= MAX_ROW_BYTES
}

/// The texts that are stored in pieces, in a fixed order.
fn long_texts(opportunity: &mut Opportunity) -> Vec<&mut String> {
    let Opportunity { cursor, context, similar_functions, .. } = opportunity;
    let items = context.iter_mut().chain(similar_functions).map(|item| &mut item.text);
    [&mut cursor.prefix, &mut cursor.suffix].into_iter().chain(items).collect()
}

/// Hashes of a row's path and of the folders above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'a> {
    pub(super) hashes: &'a [String],
    /// Whether they are those of the path itself; otherwise the ones that are stored count.
    pub(super) is_path: bool,
}

/// Writes a row in a transaction of its own; a row with the same id is replaced.
pub(super) fn put(
    connection: &mut Connection,
    mut opportunity: Opportunity,
    places: Places<'_>,
) -> rusqlite::Result<WriteResult> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let opened_at = opened_ms(&opportunity);
    let Places { hashes, is_path } = places;
    let places = json(hashes);
    if is_forgotten(&transaction, &opportunity.id, &places, opened_at)? {
        return Ok(WriteResult::Forgotten);
    }
    let long: Vec<String> = long_texts(&mut opportunity).into_iter().map(mem::take).collect();
    let pieces: Vec<Pieces> =
        long.iter().map(|text| texts::put(&transaction, text)).collect::<rusqlite::Result<_>>()?;
    let line = to_line(&opportunity);
    transaction.execute(
        "INSERT INTO opportunities (id, opened_at, trial, language, path, places, row, texts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (id) DO UPDATE SET reviewed = reviewed AND row = excluded.row AND texts = excluded.texts, \
         opened_at = excluded.opened_at, trial = excluded.trial, language = excluded.language, path = excluded.path, \
         places = CASE WHEN ?9 THEN excluded.places ELSE places END, row = excluded.row, texts = excluded.texts",
        params![
            opportunity.id,
            opened_at,
            opportunity.trial,
            opportunity.cursor.language,
            opportunity.cursor.path,
            places,
            line.trim_end(),
            json(&pieces),
            is_path
        ],
    )?;
    transaction.commit()?;
    Ok(WriteResult::Stored)
}

/// Whether the user has forgotten this row: the recorder may still have it in memory.
fn is_forgotten(connection: &Connection, id: &str, places: &str, opened_at: i64) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM forgotten WHERE (forgotten.id IS NULL OR forgotten.id = ?1) \
         AND (forgotten.place IS NULL OR forgotten.place IN (SELECT value FROM json_each(?2))) AND ?3 BETWEEN from_ms AND to_ms)",
        params![id, places, opened_at],
        |row| row.get(0),
    )
}

/// Reads an opportunity from its columns. The error is a message.
pub(super) fn parse(
    connection: &Connection,
    row: &str,
    pieces: &str,
    reader: &mut TextReader,
) -> rusqlite::Result<Result<Opportunity, String>> {
    let mut opportunity: Opportunity = match serde_json::from_str(row) {
        Ok(opportunity) => opportunity,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let pieces: Vec<Pieces> = match serde_json::from_str(pieces) {
        Ok(pieces) => pieces,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let texts = long_texts(&mut opportunity);
    if texts.len() != pieces.len() {
        return Ok(Err("it has another number of texts".to_owned()));
    }
    for (text, pieces) in texts.into_iter().zip(&pieces) {
        match reader.get(connection, pieces)? {
            Some(whole) => *text = whole,
            None => return Ok(Err("a part of its text is missing".to_owned())),
        }
    }
    Ok(Ok(opportunity))
}

fn json<T: ?Sized + serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("lists of texts and numbers are JSON")
}

/// Marks a row as reviewed if it still is as it was shown.
pub(super) fn mark_if_equal(
    connection: &Connection,
    shown: &Opportunity,
    texts: &mut TextReader,
) -> rusqlite::Result<bool> {
    let mut find = connection.prepare("SELECT row, texts FROM opportunities WHERE id = ?1")?;
    let found = find.query_row([&shown.id], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
    let Some((row, pieces)) = found.optional()? else { return Ok(false) };
    let is_equal = parse(connection, &row, &pieces, texts)?.is_ok_and(|stored| stored == *shown);
    if is_equal {
        connection.execute("UPDATE opportunities SET reviewed = 1 WHERE id = ?1", [&shown.id])?;
    }
    Ok(is_equal)
}
