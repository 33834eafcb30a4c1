//! From the bytes of a request to rows that can be stored.
//!
//! ```text
//! bytes ─ unpack, at most 32 MB ─ parse ─ policy: consent, licences, levels ─ check each row ─ mask secrets ─► Upload
//! ```
//!
//! Pure, but for the clock of the caller. A bundle is accepted as a whole or not at all. Nothing of a client is believed: secrets are
//! searched again, numbers of the datasheet are those of the rows, and the developer is that of the account.

use cases::{Bundle, BundleError, Datasheet, Metric, MetricValue, Opportunity, redact_opportunity, to_line};
use thiserror::Error;

use crate::account::Account;
use crate::packed::{self, UnpackError};
use crate::policy::{Policy, PolicyBreach};
use crate::store::writing::AnswerColumns;
use crate::store::{PreparedRow, Upload};

/// Most bytes of a bundle, unpacked. Clients send less.
pub(crate) const MAX_BUNDLE_BYTES: usize = 32 << 20;

/// Most rows of a bundle: ten days of a developer.
const MAX_ROWS: usize = 5_000;

/// Most answers of a row.
const MAX_ANSWERS: usize = 64;

/// Most bytes of a name, such as that of a trial or an arm.
const MAX_NAME_BYTES: usize = 256;

/// How far the clock of a client may be ahead, in ms.
const MAX_AHEAD_MS: i64 = 24 * 60 * 60 * 1000;

/// A bundle that is not accepted.
#[derive(Debug, Error)]
pub(crate) enum IngestError {
    /// It cannot be unpacked.
    #[error("the bundle cannot be unpacked: {0}; send it again")]
    Unpack(String),
    /// It is too long.
    #[error("the bundle is longer than {} MB; send it in parts", limit >> 20)]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// It has too many rows.
    #[error("the bundle has {rows} rows, more than {MAX_ROWS}; send it in parts")]
    TooManyRows {
        /// Its rows.
        rows: usize,
    },
    /// It is no bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// It is no text.
    #[error("the bundle is no UTF-8 text")]
    NoText,
    /// It breaks a rule of the server.
    #[error(transparent)]
    Policy(#[from] PolicyBreach),
    /// A row is impossible.
    #[error("opportunity {id}: {reason}; export the bundle again")]
    Row {
        /// Its id.
        id: String,
        /// The reason.
        reason: &'static str,
    },
}

/// A request with a bundle.
pub(crate) struct BundleRequest<'a> {
    /// The body.
    pub(crate) body: &'a [u8],
    /// Whether it is in gzip's format.
    pub(crate) is_packed: bool,
    /// Opaque name of the repository; empty if there is none.
    pub(crate) repository: &'a str,
    /// The sender.
    pub(crate) account: &'a Account,
    /// The present time, ms since 1970.
    pub(crate) now: i64,
}

/// Checks a bundle and prepares its rows.
pub(crate) fn prepare(request: &BundleRequest<'_>, policy: &Policy) -> Result<Upload, IngestError> {
    let unpacked;
    let bytes = match request.is_packed {
        true => {
            unpacked = packed::gunzip(request.body, MAX_BUNDLE_BYTES)?;
            &unpacked
        }
        false => request.body,
    };
    let text = std::str::from_utf8(bytes).map_err(|_| IngestError::NoText)?;
    let Bundle { datasheet, rows } = Bundle::parse(text)?;
    if rows.len() > MAX_ROWS {
        return Err(IngestError::TooManyRows { rows: rows.len() });
    }
    policy.check(&datasheet, &rows)?;
    let exported_at = exported_at(&datasheet, request.now);
    let masked: u64 = rows.iter().map(|row| u64::from(row.secrets)).sum();
    let mut rows = rows;
    for row in &mut rows {
        check_row(row, request.now)?;
        row.developer.clear();
        redact_opportunity(row);
    }
    let Datasheet { licences, consents, .. } = datasheet;
    // The numbers of the client may be wrong.
    let datasheet = Datasheet::new(&rows, licences, consents);
    Ok(Upload {
        account: request.account.name.clone(),
        digest: blake3::hash(bytes).to_hex().to_string(),
        repository: request.repository.to_owned(),
        licences: to_json(&datasheet.licences),
        exported_at,
        oldest: policy.oldest(request.now),
        secrets: datasheet.secrets.saturating_sub(masked),
        datasheet: to_json(&datasheet),
        rows: rows.iter().map(|row| prepared(row, request.now)).collect(),
    })
}

fn to_json(value: &impl serde::Serialize) -> String {
    to_line(value).trim_end().to_owned()
}

/// Returns when the rows were exported. A clock that is ahead must not let an old bundle win over newer ones for ever.
fn exported_at(sheet: &Datasheet, now: i64) -> i64 {
    let times = sheet.consents.iter().filter_map(|consent| milliseconds(&consent.given_at));
    times.max().unwrap_or_default().min(now)
}

fn check_row(row: &Opportunity, now: i64) -> Result<(), IngestError> {
    let failed = |reason| IngestError::Row { id: row.id.chars().take(MAX_NAME_BYTES).collect(), reason };
    if row.id.len() != 32 || !row.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(failed("its id is not 32 hexadecimal digits"));
    }
    match milliseconds(&row.opened_at) {
        None => return Err(failed("its time is not in RFC 3339")),
        Some(at) if at > now + MAX_AHEAD_MS => return Err(failed("it lies in the future; check the clock")),
        Some(_) => {}
    }
    if row.answers.len() > MAX_ANSWERS {
        return Err(failed("it has too many answers"));
    }
    let names = [row.trial.as_deref().unwrap_or_default(), &row.cursor.language, &row.session];
    let arms =
        row.answers.iter().flat_map(|answer| [&*answer.arm, &answer.engine.model, &answer.engine.kind]);
    // PostgreSQL stores no text with this character.
    if names.into_iter().chain(arms).any(|name| name.len() > MAX_NAME_BYTES || name.contains('\0')) {
        return Err(failed("a name in it is too long or has a null character"));
    }
    let in_text = |truth: &cases::Truth| {
        let spans = truth.provenance.iter().map(|span| &span.range);
        spans.into_iter().all(|range| truth.text.get(range.start..range.end).is_some())
    };
    match row.truths.iter().all(in_text) {
        true => Ok(()),
        false => Err(failed("a range of a truth lies outside of its text")),
    }
}

/// Parses a time, in ms since 1970.
fn milliseconds(time: &str) -> Option<i64> {
    let since = humantime::parse_rfc3339(time).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

fn prepared(row: &Opportunity, now: i64) -> PreparedRow {
    let line = to_line(row);
    let metrics = trial::privacy::answer_metrics(row);
    let answers = row.answers.iter().zip(&metrics).map(|(answer, metrics)| AnswerColumns {
        arm: answer.arm.clone(),
        model: answer.engine.model.clone(),
        role: answer.role.name(),
        status: answer.status.name(),
        total_ms: answer.ms.total,
        first_ms: answer.ms.first,
        exact_match: value(metrics.get(&Metric::ExactMatch)),
        edit_similarity: value(metrics.get(&Metric::EditSimilarity)),
        cost: answer.cost.as_ref().map(|cost| cost.amount),
    });
    PreparedRow {
        id: row.id.clone(),
        opened_at: milliseconds(&row.opened_at).unwrap_or(now),
        trial: row.trial.clone(),
        mode: row.mode.name(),
        language: row.cursor.language.clone(),
        privacy: row.privacy.name(),
        exposure: row.exposure.name(),
        outcome: row.outcome.kind.name(),
        scenario: row.task.map(|task| task.scenario().name()),
        accepted_chars: row.outcome.accepted_chars.into(),
        secrets: row.secrets.into(),
        answers: answers.collect(),
        hash: blake3::hash(line.as_bytes()).to_hex()[..32].to_owned(),
        body: packed::pack(line.as_bytes()),
    }
}

fn value(value: Option<&MetricValue>) -> Option<f64> {
    value?.share().filter(|share| share.is_finite())
}

impl From<UnpackError> for IngestError {
    fn from(error: UnpackError) -> IngestError {
        match error {
            UnpackError::TooLong { limit } => IngestError::TooLong { limit },
            UnpackError::Damaged => IngestError::Unpack(error.to_string()),
        }
    }
}
