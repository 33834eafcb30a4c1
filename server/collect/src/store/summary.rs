//! Counts for status and dashboard.

use serde::Serialize;

use super::sql::{SqlConnection, SqlError, SqlRow};
use super::{CollectStore, CollectStoreError};

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Days of the dashboard.
const DAYS: i64 = 14;

/// Engines of the dashboard.
const ENGINES: i64 = 50;

/// Counts of all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Opportunities.
    pub opportunities: i64,
    /// Developers with opportunities.
    pub developers: i64,
    /// Records of OpenTelemetry.
    pub telemetry: i64,
    /// Bytes of the database.
    pub bytes: u64,
    /// The last days with opportunities, the newest first.
    pub days: Vec<DaySummary>,
    /// Opportunities by language.
    pub languages: Vec<(String, i64)>,
    /// Engines, the most used first.
    pub engines: Vec<EngineSummary>,
}

/// A day in UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DaySummary {
    /// Start, ms since 1970.
    pub at: i64,
    /// Opportunities.
    pub opportunities: i64,
    /// Their developers.
    pub developers: i64,
    /// Opportunities at which something was shown.
    pub shown: i64,
    /// Opportunities whose suggestion was accepted.
    pub accepted: i64,
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineSummary {
    /// Arm and model.
    pub arm: String,
    /// The model.
    pub model: String,
    /// Answers.
    pub answers: i64,
    /// Answers that were shown.
    pub shown: i64,
    /// Answers that were accepted.
    pub accepted: i64,
    /// Answers with a truth.
    pub judged: i64,
    /// Answers that are exactly the truth.
    pub exact: f64,
}

/// Rows of one account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AccountSummary {
    /// Opportunities.
    pub opportunities: i64,
    /// Repositories.
    pub repositories: i64,
    /// Records of OpenTelemetry.
    pub telemetry: i64,
    /// When the last upload was, ms since 1970; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_upload: Option<i64>,
}

impl CollectStore {
    /// Checks that the database answers.
    pub fn ping(&self) -> Result<(), CollectStoreError> {
        self.read(|connection| Ok(connection.query("SELECT 1", &[]).map(drop)?))
    }

    /// Returns the counts of an account.
    pub fn account_summary(&self, account: &str) -> Result<AccountSummary, CollectStoreError> {
        self.read(|connection| {
            let rows = connection.query(
                "SELECT COUNT(*), COUNT(DISTINCT repository), \
                 (SELECT COUNT(*) FROM telemetry WHERE account = $1), (SELECT MAX(at) FROM uploads WHERE account = $1) \
                 FROM opportunities WHERE account = $1",
                &[account.into()],
            )?;
            Ok(rows.first().map_or_else(AccountSummary::default, |row| AccountSummary {
                opportunities: row.integer(0),
                repositories: row.integer(1),
                telemetry: row.integer(2),
                last_upload: Some(row.integer(3)).filter(|at| *at > 0),
            }))
        })
    }

    /// Returns the counts of all rows.
    pub fn summary(&self) -> Result<Summary, CollectStoreError> {
        self.read(|connection| {
            let totals = connection.query(
                "SELECT COUNT(*), COUNT(DISTINCT developer), (SELECT COUNT(*) FROM telemetry) FROM opportunities",
                &[],
            )?;
            let total = |column| totals.first().map_or(0, |row| row.integer(column));
            Ok(Summary {
                opportunities: total(0),
                developers: total(1),
                telemetry: total(2),
                bytes: connection.size()?,
                days: days(connection)?,
                languages: languages(connection)?,
                engines: engines(connection)?,
            })
        })
    }
}

fn days(connection: &mut dyn SqlConnection) -> Result<Vec<DaySummary>, SqlError> {
    let rows = connection.query(
        "SELECT opened_at / 86400000, COUNT(*), COUNT(DISTINCT developer), \
         SUM(CASE WHEN outcome <> 'not_shown' THEN 1 ELSE 0 END), SUM(CASE WHEN outcome = 'accepted' THEN 1 ELSE 0 END) \
         FROM opportunities GROUP BY 1 ORDER BY 1 DESC LIMIT $1",
        &[DAYS.into()],
    )?;
    let day = |row: &SqlRow| DaySummary {
        at: row.integer(0) * DAY,
        opportunities: row.integer(1),
        developers: row.integer(2),
        shown: row.integer(3),
        accepted: row.integer(4),
    };
    Ok(rows.iter().map(day).collect())
}

fn languages(connection: &mut dyn SqlConnection) -> Result<Vec<(String, i64)>, SqlError> {
    let rows = connection.query(
        "SELECT language, COUNT(*) FROM opportunities GROUP BY language ORDER BY 2 DESC, 1 LIMIT 50",
        &[],
    )?;
    Ok(rows.iter().map(|row| (row.text(0).to_owned(), row.integer(1))).collect())
}

fn engines(connection: &mut dyn SqlConnection) -> Result<Vec<EngineSummary>, SqlError> {
    let rows = connection.query(
        "SELECT a.arm, a.model, COUNT(*), \
         SUM(CASE WHEN a.role = 'shown' AND o.outcome <> 'not_shown' THEN 1 ELSE 0 END), \
         SUM(CASE WHEN a.role = 'shown' AND o.outcome = 'accepted' THEN 1 ELSE 0 END), \
         COUNT(a.exact_match), SUM(a.exact_match) \
         FROM answers a JOIN opportunities o ON o.id = a.opportunity GROUP BY a.arm, a.model ORDER BY 3 DESC, 1, 2 LIMIT $1",
        &[ENGINES.into()],
    )?;
    let engine = |row: &SqlRow| EngineSummary {
        arm: row.text(0).to_owned(),
        model: row.text(1).to_owned(),
        answers: row.integer(2),
        shown: row.integer(3),
        accepted: row.integer(4),
        judged: row.integer(5),
        exact: row.real(6).unwrap_or_default(),
    };
    Ok(rows.iter().map(engine).collect())
}
