//! Reading a store, without writing to it, while others write.

use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cases::Opportunity;
use rayon::prelude::*;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, Rows, TransactionBehavior, params_from_iter};

use super::database::{BUSY_TIMEOUT, Database, check_version, with_suffix};
use super::error::StoreError;
use super::rows;
use super::texts::TextReader;

/// Bytes of the rows that one core parses together, but for the last one.
const CHUNK_BYTES: usize = 256 << 10;
/// Chunks in memory before they are parsed: enough work for all cores.
const BATCH_CHUNKS: usize = 16;

const OLDEST_FIRST: &str = "opened_at, number";
const NEWEST_FIRST: &str = "opened_at DESC, number DESC";

/// Selection of rows. The default selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreFilter {
    /// The opportunity with this id, or the ones whose ids begin with it.
    pub id: Option<String>,
    /// Rows of this trial.
    pub trial: Option<String>,
    /// Rows of this language.
    pub language: Option<String>,
    /// Rows of this file, or of the files below this folder, as a hash of the workspace's path ([`super::PlaceKey::hash`]).
    pub place: Option<String>,
    /// Rows that were opened at this moment or later, in ms since 1970.
    pub from: Option<i64>,
    /// Rows that were opened before this moment, in ms since 1970.
    pub until: Option<i64>,
    /// Rows that have been shown by `ghostbench trial review` as they are now (true), or not (false).
    pub reviewed: Option<bool>,
}

impl StoreFilter {
    /// Returns the condition with its values.
    fn condition(&self) -> (String, Vec<Value>) {
        let mut parts = vec!["TRUE".to_owned()];
        let mut values = Vec::new();
        let mut add = |condition: &str, value: Option<Value>| {
            if let Some(value) = value {
                values.push(value);
                parts.push(condition.replace("?", &format!("?{}", values.len())));
            }
        };
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        add("substr(id, 1, length(?)) = ?", text(&self.id));
        add("trial = ?", text(&self.trial));
        add("language = ?", text(&self.language));
        add("? IN (SELECT value FROM json_each(opportunities.places))", text(&self.place));
        add("opened_at >= ?", self.from.map(Value::Integer));
        add("opened_at < ?", self.until.map(Value::Integer));
        add("reviewed = ?", self.reviewed.map(|reviewed| Value::Integer(reviewed.into())));
        (parts.join(" AND "), values)
    }
}

/// A row of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOpportunity {
    /// The opportunity.
    pub opportunity: Opportunity,
    /// Whether `ghostbench trial review` has shown it as it is now.
    pub is_reviewed: bool,
}

/// A row that is not parsed yet.
struct StoredRow {
    id: String,
    row: String,
    is_reviewed: bool,
}

impl StoredRow {
    /// The error is the id of a row that cannot be parsed, with the reason.
    fn parse(self) -> Result<StoredOpportunity, (String, String)> {
        let StoredRow { id, row, is_reviewed } = self;
        let opportunity = serde_json::from_str(&row).map_err(|error| (id, error.to_string()))?;
        Ok(StoredOpportunity { opportunity, is_reviewed })
    }
}

/// Numbers of one day in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// The day, as `2026-01-02`.
    pub day: String,
    /// Opportunities.
    pub opportunities: u64,
    /// Opportunities with a truth.
    pub truths: u64,
    /// Opportunities at which something was shown.
    pub shown: u64,
    /// Opportunities whose suggestion was accepted, at least in part.
    pub accepted: u64,
}

/// The reading end of a store.
#[derive(Debug)]
pub struct StoreReader {
    path: PathBuf,
    connection: Connection,
}

impl StoreReader {
    /// Opens the store at `path`, the file itself.
    ///
    /// # Errors
    /// It is missing or being created, damaged, locked, of a newer version, or no store.
    pub fn open(path: &Path) -> Result<StoreReader, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let of = |reason| StoreError::of(path, reason, BUSY_TIMEOUT);
        let connection = connect(path).map_err(of)?;
        if check_version(path, &connection)? == 0 {
            // Its writer has not created the tables yet.
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        Ok(StoreReader { path: path.to_owned(), connection })
    }

    /// Returns the number of selected rows.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn count(&self, filter: &StoreFilter) -> Result<u64, StoreError> {
        let (condition, values) = filter.condition();
        let query = format!("SELECT COUNT(*) FROM opportunities WHERE {condition}");
        self.connection
            .query_row(&query, params_from_iter(values), |row| row.get(0))
            .map_err(|reason| self.failed(reason))
    }

    /// Passes the selected rows to `visit`, oldest first, until it breaks. Reads one moment of the store, whatever is written meanwhile.
    ///
    /// # Errors
    /// The file or a row cannot be read.
    pub fn visit<B>(
        &self,
        filter: &StoreFilter,
        visit: impl FnMut(StoredOpportunity) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        self.visit_in_order(filter, OLDEST_FIRST, visit)
    }

    /// Returns the latest selected rows that are wanted, oldest first, at most `count`.
    ///
    /// # Errors
    /// The file or a row cannot be read.
    pub fn latest(
        &self,
        filter: &StoreFilter,
        count: usize,
        is_wanted: impl Fn(&Opportunity) -> bool,
    ) -> Result<Vec<StoredOpportunity>, StoreError> {
        let mut latest = Vec::new();
        self.visit_in_order(filter, NEWEST_FIRST, |row| {
            if latest.len() < count && is_wanted(&row.opportunity) {
                latest.push(row);
            }
            if latest.len() < count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        latest.reverse();
        Ok(latest)
    }

    fn visit_in_order<B>(
        &self,
        filter: &StoreFilter,
        order: &str,
        mut visit: impl FnMut(StoredOpportunity) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        let (condition, values) = filter.condition();
        let query =
            format!("SELECT id, row, texts, reviewed FROM opportunities WHERE {condition} ORDER BY {order}");
        let of = |reason| self.failed(reason);
        // The transaction ends when it is dropped; it changes nothing.
        let moment = self.connection.unchecked_transaction().map_err(of)?;
        let mut statement = moment.prepare(&query).map_err(of)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(of)?;
        let mut pieces = TextReader::default();
        while let Some(row) = rows.next().map_err(of)? {
            if let ControlFlow::Break(result) = visit(self.read(row, &mut pieces)?) {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }

    /// Maps the selected rows without the texts of documents and context, chunk by chunk, on all cores, and passes the results to `visit`,
    /// oldest first, until it breaks. Reads one moment of the store. Several times faster than [`StoreReader::visit`].
    ///
    /// Parsing takes most of the time, and freeing on one core what another one allocated takes long, too: a chunk is parsed, mapped and
    /// dropped on one core, while this thread passes the results before it on and reads the rows after it.
    ///
    /// # Errors
    /// The file or a row cannot be read.
    pub fn map_short<T: Send, B>(
        &self,
        filter: &StoreFilter,
        map: impl Fn(Vec<StoredOpportunity>) -> T + Sync,
        mut visit: impl FnMut(T) -> ControlFlow<B>,
    ) -> Result<Option<B>, StoreError> {
        let (condition, values) = filter.condition();
        let query =
            format!("SELECT id, row, reviewed FROM opportunities WHERE {condition} ORDER BY {OLDEST_FIRST}");
        let of = |reason| self.failed(reason);
        let moment = self.connection.unchecked_transaction().map_err(of)?;
        let mut statement = moment.prepare(&query).map_err(of)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(of)?;
        let parse = |chunk: Vec<StoredRow>| -> Result<T, (String, String)> {
            let parsed: Result<Vec<_>, _> = chunk.into_iter().map(StoredRow::parse).collect();
            parsed.map(&map)
        };
        let mut waiting = self.read_batch(&mut rows)?;
        let mut mapped: Vec<Result<T, (String, String)>> = Vec::new();
        while !waiting.is_empty() || !mapped.is_empty() {
            let (chunks, ready) = (mem::take(&mut waiting), mem::take(&mut mapped));
            let step = rayon::in_place_scope(|scope| {
                scope.spawn(|_| chunks.into_par_iter().map(parse).collect_into_vec(&mut mapped));
                for result in ready {
                    let result = result.map_err(|(id, reason)| self.invalid(id, reason))?;
                    if let ControlFlow::Break(result) = visit(result) {
                        return Ok(ControlFlow::Break(result));
                    }
                }
                self.read_batch(&mut rows).map(ControlFlow::Continue)
            })?;
            match step {
                ControlFlow::Break(result) => return Ok(Some(result)),
                ControlFlow::Continue(next) => waiting = next,
            }
        }
        Ok(None)
    }

    /// Reads the chunks of the next batch, with the columns `id`, `row`, `reviewed`; none at the end.
    fn read_batch(&self, rows: &mut Rows<'_>) -> Result<Vec<Vec<StoredRow>>, StoreError> {
        let mut batch = Vec::new();
        while batch.len() < BATCH_CHUNKS {
            let chunk = read_chunk(rows).map_err(|reason| self.failed(reason))?;
            if chunk.is_empty() {
                break;
            }
            batch.push(chunk);
        }
        Ok(batch)
    }

    /// Returns the selected rows, oldest first.
    ///
    /// # Errors
    /// The file or a row cannot be read.
    pub fn read_all(&self, filter: &StoreFilter) -> Result<Vec<StoredOpportunity>, StoreError> {
        let mut all = Vec::new();
        self.visit(filter, |row| {
            all.push(row);
            ControlFlow::<()>::Continue(())
        })?;
        Ok(all)
    }

    /// Returns the numbers of the selected rows by day, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn days(&self, filter: &StoreFilter) -> Result<Vec<DayCount>, StoreError> {
        let (condition, values) = filter.condition();
        let query = format!(
            "SELECT date(opened_at / 1000, 'unixepoch') AS day, COUNT(*), \
             SUM(coalesce(json_array_length(row, '$.truths'), 0) > 0), \
             SUM(json_extract(row, '$.outcome.kind') <> 'not_shown'), SUM(json_extract(row, '$.outcome.kind') = 'accepted') \
             FROM opportunities WHERE {condition} GROUP BY day ORDER BY day"
        );
        let read = || -> rusqlite::Result<Vec<DayCount>> {
            let mut statement = self.connection.prepare(&query)?;
            let day = |row: &Row<'_>| {
                Ok(DayCount {
                    day: row.get(0)?,
                    opportunities: row.get(1)?,
                    truths: row.get(2)?,
                    shown: row.get(3)?,
                    accepted: row.get(4)?,
                })
            };
            statement.query_map(params_from_iter(values), day)?.collect()
        };
        read().map_err(|reason| self.failed(reason))
    }

    fn read(&self, row: &Row<'_>, pieces: &mut TextReader) -> Result<StoredOpportunity, StoreError> {
        // Texts are borrowed: a copy of each row costs as much as finding it.
        let columns = || -> rusqlite::Result<(&str, &str, &str, bool)> {
            let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
            Ok((text(0)?, text(1)?, text(2)?, row.get(3)?))
        };
        let (id, json, texts, is_reviewed) = columns().map_err(|reason| self.failed(reason))?;
        let parsed =
            rows::parse(&self.connection, json, texts, pieces).map_err(|reason| self.failed(reason))?;
        let opportunity = parsed.map_err(|reason| self.invalid(id.to_owned(), reason))?;
        Ok(StoredOpportunity { opportunity, is_reviewed })
    }

    fn invalid(&self, id: String, reason: String) -> StoreError {
        StoreError::Row { path: self.path.clone(), id, reason }
    }

    fn failed(&self, reason: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, reason, BUSY_TIMEOUT)
    }
}

/// Reads the next rows with the columns `id`, `row`, `reviewed`; none at the end.
fn read_chunk(rows: &mut Rows<'_>) -> rusqlite::Result<Vec<StoredRow>> {
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    while bytes < CHUNK_BYTES {
        let Some(row) = rows.next()? else { break };
        let row = StoredRow { id: row.get(0)?, row: row.get(1)?, is_reviewed: row.get(2)? };
        bytes += row.row.len();
        chunk.push(row);
    }
    Ok(chunk)
}

/// Remembers that rows were shown as they are in `rows`. Returns how many of them were; the others have changed since or are gone.
///
/// # Errors
/// The store cannot be written.
pub fn mark_reviewed(path: &Path, rows: &[Opportunity]) -> Result<usize, StoreError> {
    let mut database = Database::open_existing(path)?;
    let mut mark = || -> rusqlite::Result<usize> {
        let transaction = database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut texts = TextReader::default();
        let mut marked = 0;
        for shown in rows {
            marked += usize::from(rows::mark_if_equal(&transaction, shown, &mut texts)?);
        }
        transaction.commit()?;
        Ok(marked)
    };
    mark().map_err(|reason| StoreError::of(path, reason, BUSY_TIMEOUT))
}

/// Opens the file for reading. A folder that cannot be written has no place for the files that coordinate readers and writers; if there
/// is no log either, nothing has to be coordinated.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let open = |name: &Path, flags: OpenFlags| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    };
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
    open(path, read_only).or_else(|error| {
        let is_locked_out = error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen);
        let Some(name) = path.to_str().filter(|_| is_locked_out && !with_suffix(path, "-wal").exists())
        else {
            return Err(error);
        };
        let escaped = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        open(Path::new(&format!("file:{escaped}?immutable=1")), read_only | OpenFlags::SQLITE_OPEN_URI)
    })
}
