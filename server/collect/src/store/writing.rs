//! Storing uploads: each row once, and an upload that is repeated has no effect.

use serde::{Deserialize, Serialize};

use super::sql::{SqlConnection, SqlError, SqlValue};
use super::{CollectStore, CollectStoreError, advance, audit, now};

/// The answer to an upload. The client may delete its copy once it has this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Hash of the bundle.
    pub digest: String,
    /// Rows that are new.
    pub new: u64,
    /// Rows that replaced an earlier state of the same opportunity.
    pub updated: u64,
    /// Rows that were there already, or in a newer state.
    pub known: u64,
    /// Rows that were left out, because they were recorded before a deletion.
    pub forgotten: u64,
    /// Rows that were left out, because they are older than the server keeps rows.
    pub expired: u64,
    /// Secrets that the server masked and the client had not.
    pub secrets: u64,
    /// Whether the same bundle had arrived before.
    #[serde(default)]
    pub repeated: bool,
}

/// An answer of a row, for dashboards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerColumns {
    pub(crate) arm: String,
    pub(crate) model: String,
    pub(crate) role: &'static str,
    pub(crate) status: &'static str,
    pub(crate) total_ms: f64,
    pub(crate) first_ms: Option<f64>,
    pub(crate) exact_match: Option<f64>,
    pub(crate) edit_similarity: Option<f64>,
    pub(crate) cost: Option<f64>,
}

/// A row that was checked, and whose secrets are masked.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedRow {
    pub(crate) id: String,
    /// ms since 1970.
    pub(crate) opened_at: i64,
    pub(crate) trial: Option<String>,
    pub(crate) mode: &'static str,
    pub(crate) language: String,
    pub(crate) privacy: &'static str,
    pub(crate) exposure: &'static str,
    pub(crate) outcome: &'static str,
    pub(crate) scenario: Option<&'static str>,
    pub(crate) accepted_chars: i64,
    pub(crate) secrets: i64,
    pub(crate) answers: Vec<AnswerColumns>,
    /// Hash of the row.
    pub(crate) hash: String,
    /// The row without its developer, deflated.
    pub(crate) body: Vec<u8>,
}

/// A checked bundle of one account.
#[derive(Clone, Debug, PartialEq)]
pub struct Upload {
    pub(crate) account: String,
    pub(crate) digest: String,
    /// Opaque name of the repository; empty if the client gives none.
    pub(crate) repository: String,
    /// Licences as a JSON list.
    pub(crate) licences: String,
    /// When the developer exported the rows, ms since 1970.
    pub(crate) exported_at: i64,
    /// Rows that began earlier are left out; ms since 1970.
    pub(crate) oldest: i64,
    /// The datasheet as JSON.
    pub(crate) datasheet: String,
    /// Secrets that the client had not masked.
    pub(crate) secrets: u64,
    pub(crate) rows: Vec<PreparedRow>,
}

/// The effect of a row.
enum Fate {
    New,
    Updated,
    Known,
}

impl CollectStore {
    /// Returns the receipt of an upload that has been stored.
    pub fn receipt(&self, account: &str, digest: &str) -> Result<Option<Receipt>, CollectStoreError> {
        self.read(|connection| Ok(receipt(connection, account, digest)?))
    }

    /// Stores an upload. When this returns, it is durable.
    ///
    /// # Errors
    /// A row belongs to another account; nothing is stored then.
    pub fn put(&self, upload: &Upload) -> Result<Receipt, CollectStoreError> {
        self.write(|connection| {
            // The lock on the counter puts the transactions of all servers in order.
            let mut number = advance(connection, "rows", upload.rows.len() as i64)?;
            if let Some(receipt) = receipt(connection, &upload.account, &upload.digest)? {
                return Ok(receipt);
            }
            let developer = developer(connection, &upload.account)?;
            let forgotten_at = forgotten_at(connection, upload)?;
            let mut receipt =
                Receipt { digest: upload.digest.clone(), secrets: upload.secrets, ..Receipt::default() };
            for row in &upload.rows {
                number += 1;
                if row.opened_at <= forgotten_at {
                    receipt.forgotten += 1;
                } else if row.opened_at < upload.oldest {
                    receipt.expired += 1;
                } else {
                    match put_row(connection, upload, row, &developer, number)? {
                        Fate::New => receipt.new += 1,
                        Fate::Updated => receipt.updated += 1,
                        Fate::Known => receipt.known += 1,
                    }
                }
            }
            note_upload(connection, upload, &receipt)?;
            Ok(receipt)
        })
    }
}

fn receipt(
    connection: &mut dyn SqlConnection,
    account: &str,
    digest: &str,
) -> Result<Option<Receipt>, SqlError> {
    let rows = connection.query(
        "SELECT receipt FROM uploads WHERE account = $1 AND digest = $2",
        &[account.into(), digest.into()],
    )?;
    let receipt = rows.first().and_then(|row| serde_json::from_str(row.text(0)).ok());
    Ok(receipt.map(|receipt| Receipt { repeated: true, ..receipt }))
}

fn developer(connection: &mut dyn SqlConnection, account: &str) -> Result<String, CollectStoreError> {
    let rows = connection.query("SELECT developer FROM accounts WHERE name = $1", &[account.into()])?;
    let row = rows.first().ok_or_else(|| CollectStoreError::NoAccount(account.to_owned()))?;
    Ok(row.text(0).to_owned())
}

/// Returns the moment until which everything of this account and repository stays deleted.
fn forgotten_at(connection: &mut dyn SqlConnection, upload: &Upload) -> Result<i64, SqlError> {
    let rows = connection.query(
        "SELECT MAX(at) FROM forgotten WHERE account = $1 AND (repository = '' OR repository = $2)",
        &[upload.account.as_str().into(), upload.repository.as_str().into()],
    )?;
    Ok(rows.first().map_or(0, |row| row.integer(0)))
}

fn put_row(
    connection: &mut dyn SqlConnection,
    upload: &Upload,
    row: &PreparedRow,
    developer: &str,
    number: i64,
) -> Result<Fate, CollectStoreError> {
    let known = connection.query(
        "SELECT account, exported_at, hash FROM opportunities WHERE id = $1",
        &[row.id.as_str().into()],
    )?;
    let fate = match known.first() {
        Some(known) if known.text(0) != upload.account => {
            return Err(CollectStoreError::ForeignRow(row.id.clone()));
        }
        Some(known) if known.text(2) == row.hash || known.integer(1) > upload.exported_at => {
            return Ok(Fate::Known);
        }
        Some(_) => Fate::Updated,
        None => Fate::New,
    };
    connection.execute(
        "INSERT INTO opportunities (id, number, account, developer, repository, licences, exported_at, opened_at, trial, mode, \
         language, privacy, exposure, outcome, scenario, accepted_chars, secrets, hash, body) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) \
         ON CONFLICT (id) DO UPDATE SET number = excluded.number, repository = excluded.repository, \
         licences = excluded.licences, exported_at = excluded.exported_at, opened_at = excluded.opened_at, \
         trial = excluded.trial, mode = excluded.mode, language = excluded.language, privacy = excluded.privacy, \
         exposure = excluded.exposure, outcome = excluded.outcome, scenario = excluded.scenario, \
         accepted_chars = excluded.accepted_chars, secrets = excluded.secrets, hash = excluded.hash, body = excluded.body",
        &[
            row.id.as_str().into(),
            number.into(),
            upload.account.as_str().into(),
            developer.into(),
            upload.repository.as_str().into(),
            upload.licences.as_str().into(),
            upload.exported_at.into(),
            row.opened_at.into(),
            row.trial.clone().into(),
            row.mode.into(),
            row.language.as_str().into(),
            row.privacy.into(),
            row.exposure.into(),
            row.outcome.into(),
            row.scenario.into(),
            row.accepted_chars.into(),
            row.secrets.into(),
            row.hash.as_str().into(),
            row.body.clone().into(),
        ],
    )?;
    put_answers(connection, row)?;
    Ok(fate)
}

fn put_answers(connection: &mut dyn SqlConnection, row: &PreparedRow) -> Result<(), SqlError> {
    let id: SqlValue = row.id.as_str().into();
    connection.execute("DELETE FROM answers WHERE opportunity = $1", std::slice::from_ref(&id))?;
    for (answer, position) in row.answers.iter().zip(0_i64..) {
        connection.execute(
            "INSERT INTO answers (opportunity, position, arm, model, role, status, total_ms, first_ms, exact_match, \
             edit_similarity, cost) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[
                id.clone(),
                position.into(),
                answer.arm.as_str().into(),
                answer.model.as_str().into(),
                answer.role.into(),
                answer.status.into(),
                answer.total_ms.into(),
                answer.first_ms.into(),
                answer.exact_match.into(),
                answer.edit_similarity.into(),
                answer.cost.into(),
            ],
        )?;
    }
    Ok(())
}

fn note_upload(
    connection: &mut dyn SqlConnection,
    upload: &Upload,
    receipt: &Receipt,
) -> Result<(), CollectStoreError> {
    let text =
        serde_json::to_string(receipt).map_err(|error| CollectStoreError::Database(error.to_string()))?;
    connection.execute(
        "INSERT INTO uploads (account, digest, at, repository, datasheet, receipt) VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            upload.account.as_str().into(),
            upload.digest.as_str().into(),
            now().into(),
            upload.repository.as_str().into(),
            upload.datasheet.as_str().into(),
            text.into(),
        ],
    )?;
    let Receipt { new, updated, known, forgotten, expired, secrets, .. } = receipt;
    let detail = format!(
        "{new} new, {updated} updated, {known} known, {forgotten} forgotten, {expired} expired, {secrets} secrets masked"
    );
    Ok(audit::append(connection, &upload.account, "upload", &upload.digest, &detail)?)
}
