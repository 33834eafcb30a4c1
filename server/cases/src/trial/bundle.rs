//! A bundle: opportunities of one or several developers in one file, for others, with a datasheet as its first row.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Opportunity;
use crate::{ParseError, SchemaVersion, parse_line, parse_lines, to_line};

/// Agreement to pass the rows of a bundle on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundleConsent {
    /// When it was given, RFC 3339 in UTC.
    pub given_at: String,
    /// Number of opportunities that it covers.
    pub opportunities: u64,
    /// The agreement, in the person's words.
    pub statement: String,
}

/// The first row of a bundle. Its numbers are those of the rows that follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Datasheet {
    /// Format version.
    pub schema: SchemaVersion,
    /// Kind of the file: `ghostbench-trial`.
    pub bundle: String,
    /// Number of opportunities.
    pub opportunities: u64,
    /// Opportunities with a truth.
    pub truths: u64,
    /// Number of developers.
    pub developers: u64,
    /// Number of editor sessions.
    pub sessions: u64,
    /// Number of masked secrets.
    pub secrets: u64,
    /// Opportunities by privacy level.
    pub levels: BTreeMap<String, u64>,
    /// Opportunities by language.
    pub languages: BTreeMap<String, u64>,
    /// Opportunities with an answer, by arm and model.
    pub engines: BTreeMap<String, u64>,
    /// Start of the first opportunity; absent in an empty bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// Start of the last opportunity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Licences of the repositories: short names, or the names of licence files with other ones.
    pub licences: Vec<String>,
    /// Agreements, one for each bundle that was merged.
    pub consents: Vec<BundleConsent>,
}

/// Value of [`Datasheet::bundle`].
const KIND: &str = "ghostbench-trial";

/// A file that is no bundle.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum BundleError {
    /// A row is invalid.
    #[error(transparent)]
    Row(#[from] ParseError),
    /// The first row is no datasheet.
    #[error(
        "line 1: the first row must be a datasheet with `\"bundle\":\"ghostbench-trial\"`; write the file with `ghostbench trial export`"
    )]
    NoDatasheet,
    /// The last row is incomplete.
    #[error("the last row is incomplete; export the bundle again")]
    Truncated,
    /// An id occurs twice.
    #[error("opportunity {0} occurs twice; export the bundle again")]
    Twice(String),
}

impl Datasheet {
    /// Describes rows.
    pub fn new(rows: &[Opportunity], licences: Vec<String>, consents: Vec<BundleConsent>) -> Datasheet {
        let mut sheet = Datasheet {
            schema: SchemaVersion::CURRENT,
            bundle: KIND.to_owned(),
            opportunities: rows.len() as u64,
            truths: rows.iter().filter(|row| !row.truths.is_empty()).count() as u64,
            developers: distinct(rows.iter().map(|row| &*row.developer)),
            sessions: distinct(rows.iter().map(|row| &*row.session)),
            secrets: rows.iter().map(|row| u64::from(row.secrets)).sum(),
            levels: BTreeMap::new(),
            languages: BTreeMap::new(),
            engines: BTreeMap::new(),
            first: rows.iter().map(|row| row.opened_at.clone()).min(),
            last: rows.iter().map(|row| row.opened_at.clone()).max(),
            licences,
            consents,
        };
        for row in rows {
            *sheet.levels.entry(row.privacy.to_string()).or_default() += 1;
            *sheet.languages.entry(row.cursor.language.clone()).or_default() += 1;
            for answer in &row.answers {
                *sheet.engines.entry(format!("{} ({})", answer.arm, answer.engine.model)).or_default() += 1;
            }
        }
        sheet
    }
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> u64 {
    values.collect::<BTreeSet<_>>().len() as u64
}

/// Opportunities with their datasheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The datasheet.
    pub datasheet: Datasheet,
    /// The rows.
    pub rows: Vec<Opportunity>,
}

impl Bundle {
    /// Creates a bundle; the datasheet is computed.
    pub fn new(rows: Vec<Opportunity>, licences: Vec<String>, consents: Vec<BundleConsent>) -> Bundle {
        Bundle { datasheet: Datasheet::new(&rows, licences, consents), rows }
    }

    /// Prints the file.
    pub fn print(&self) -> String {
        let rows = self.rows.iter().map(to_line);
        [to_line(&self.datasheet)].into_iter().chain(rows).collect()
    }

    /// Parses a file.
    ///
    /// # Errors
    /// The file is incomplete, or a row is invalid.
    pub fn parse(text: &str) -> Result<Bundle, BundleError> {
        let (first, rest) = text.split_once('\n').ok_or(BundleError::NoDatasheet)?;
        let datasheet: Datasheet = match parse_line::<serde_json::Value>(first, 1)?.get("bundle") {
            Some(kind) if kind == KIND => parse_line(first, 1)?,
            _ => return Err(BundleError::NoDatasheet),
        };
        let in_file = |error: ParseError| ParseError { line: error.line + 1, ..error };
        let lines = parse_lines::<Opportunity>(rest).map_err(in_file)?;
        if lines.complete_bytes < rest.len() || lines.rows.len() as u64 != datasheet.opportunities {
            return Err(BundleError::Truncated);
        }
        let mut ids = BTreeSet::new();
        match lines.rows.iter().find(|row| !ids.insert(row.id.as_str())) {
            Some(row) => Err(BundleError::Twice(row.id.clone())),
            None => Ok(Bundle { datasheet, rows: lines.rows }),
        }
    }

    /// Puts bundles together, in the order of time. Of rows with the same id, the one of the last bundle counts. Returns the number of
    /// rows that were replaced by different ones.
    pub fn merge(bundles: Vec<Bundle>) -> (Bundle, usize) {
        let mut rows: BTreeMap<String, Opportunity> = BTreeMap::new();
        let (mut licences, mut consents) = (BTreeSet::new(), Vec::new());
        let mut replaced = 0;
        for bundle in bundles {
            licences.extend(bundle.datasheet.licences);
            consents.extend(bundle.datasheet.consents);
            for row in bundle.rows {
                let id = row.id.clone();
                let is_same = rows.get(&id).is_none_or(|earlier| *earlier == row);
                replaced += usize::from(!is_same);
                rows.insert(id, row);
            }
        }
        consents.dedup();
        let mut rows: Vec<Opportunity> = rows.into_values().collect();
        rows.sort_by(|a, b| (&a.opened_at, &a.id).cmp(&(&b.opened_at, &b.id)));
        (Bundle::new(rows, licences.into_iter().collect(), consents), replaced)
    }
}
