//! Reading rows in pages: in the order of their numbers, with a cursor.

use cases::{Opportunity, parse_line};
use serde_json::{Value, json};

use super::sql::{SqlRow, SqlValue};
use super::{CollectStore, CollectStoreError};
use crate::packed;

/// Bytes of the rows of a page, unpacked, after which it ends: some hundred rows.
const PAGE_BYTES: usize = 8 << 20;

/// Which rows are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Rows of this trial.
    pub trial: Option<String>,
    /// Rows that began at this moment or later, ms since 1970.
    pub from: Option<i64>,
}

/// A page of rows for a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportPage {
    /// The rows with their developer, repository and licences.
    pub rows: Vec<Value>,
    /// Number after which the next page begins.
    pub next: i64,
    /// Whether there are no further rows for now.
    pub is_last: bool,
}

/// A row of the database.
struct StoredRow {
    number: i64,
    developer: String,
    repository: String,
    licences: String,
    opportunity: Opportunity,
    bytes: usize,
}

impl CollectStore {
    /// Returns rows after a number, at most `limit` and some megabytes.
    ///
    /// # Errors
    /// The database failed, or a row is damaged.
    pub fn export(&self, after: i64, limit: u32) -> Result<ExportPage, CollectStoreError> {
        let (rows, is_last) = self.page(&RowFilter::default(), after, limit)?;
        let next = rows.last().map_or(after, |row| row.number);
        let rows = rows.into_iter().map(|row| {
            json!({
                "number": row.number,
                "developer": row.developer,
                "repository": row.repository,
                "licences": serde_json::from_str::<Value>(&row.licences).unwrap_or_default(),
                "opportunity": row.opportunity,
            })
        });
        Ok(ExportPage { rows: rows.collect(), next, is_last })
    }

    /// Passes all rows to `visit`, page by page: other reads take turns with it.
    ///
    /// # Errors
    /// The database failed, or a row is damaged.
    pub fn visit(
        &self,
        filter: &RowFilter,
        mut visit: impl FnMut(Opportunity),
    ) -> Result<(), CollectStoreError> {
        const ROWS: u32 = 500;
        let mut after = 0;
        loop {
            let (rows, is_last) = self.page(filter, after, ROWS)?;
            after = rows.last().map_or(after, |row| row.number);
            rows.into_iter().for_each(|row| visit(row.opportunity));
            if is_last {
                return Ok(());
            }
        }
    }

    /// Returns the pseudonyms that have rows.
    pub fn developers(&self) -> Result<Vec<String>, CollectStoreError> {
        self.read(|connection| {
            let rows =
                connection.query("SELECT DISTINCT developer FROM opportunities ORDER BY developer", &[])?;
            Ok(rows.iter().map(|row| row.text(0).to_owned()).collect())
        })
    }

    fn page(
        &self,
        filter: &RowFilter,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<StoredRow>, bool), CollectStoreError> {
        let mut sql =
            "SELECT number, developer, repository, licences, id, body FROM opportunities WHERE number > $1"
                .to_owned();
        let mut values: Vec<SqlValue> = vec![after.into()];
        let mut add = |condition: &str, value: Option<SqlValue>| {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(&format!(" AND {condition} ${}", values.len()));
            }
        };
        add("trial =", filter.trial.clone().map(SqlValue::from));
        add("opened_at >=", filter.from.map(SqlValue::from));
        values.push(i64::from(limit).into());
        sql.push_str(&format!(" ORDER BY number LIMIT ${}", values.len()));
        let found = self.read(|connection| Ok(connection.query(&sql, &values)?))?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for row in &found {
            let row = stored(row)?;
            bytes += row.bytes;
            rows.push(row);
            if bytes > PAGE_BYTES {
                break;
            }
        }
        let is_last = rows.len() == found.len() && found.len() < limit as usize;
        Ok((rows, is_last))
    }
}

fn stored(row: &SqlRow) -> Result<StoredRow, CollectStoreError> {
    let failed = |reason: String| CollectStoreError::Row { id: row.text(4).to_owned(), reason };
    let line =
        packed::unpack(row.bytes(5), packed::MAX_ROW_BYTES).map_err(|error| failed(error.to_string()))?;
    let mut opportunity: Opportunity =
        parse_line(&String::from_utf8_lossy(&line), 1).map_err(|error| failed(error.to_string()))?;
    row.text(1).clone_into(&mut opportunity.developer);
    Ok(StoredRow {
        number: row.integer(0),
        developer: row.text(1).to_owned(),
        repository: row.text(2).to_owned(),
        licences: row.text(3).to_owned(),
        opportunity,
        bytes: line.len(),
    })
}
