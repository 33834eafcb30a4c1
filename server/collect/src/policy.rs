//! The rules of a server: licences, levels of privacy, and how long it keeps rows. Every bundle needs a consent.

use std::collections::BTreeSet;

use cases::{Datasheet, Opportunity, PrivacyLevel};
use config::{Collect, Privacy};
use thiserror::Error;

/// Name of the licence of a repository without a licence file.
const NO_LICENCE: &str = "none";

/// Most bytes of a consent's text.
const MAX_STATEMENT_BYTES: usize = 16 << 10;

/// The rules of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Accepted licences; absent: any.
    licences: Option<BTreeSet<String>>,
    /// Accepted levels.
    levels: Vec<PrivacyLevel>,
    /// How long rows are kept, in ms; absent: for ever.
    keep_ms: Option<i64>,
}

/// A bundle that breaks a rule. Each message has a remedy.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum PolicyBreach {
    /// There is no consent.
    #[error("the bundle has no consent; export it again, with --consent and your words")]
    NoConsent,
    /// The consents cover fewer rows.
    #[error("the consents of the bundle cover {covered} opportunities, and it has {rows}; export it again")]
    ConsentTooNarrow {
        /// Opportunities that the consents cover.
        covered: u64,
        /// Opportunities of the bundle.
        rows: u64,
    },
    /// A licence is not accepted.
    #[error(
        "the licence {licence} of the repository is not accepted here; accepted are {accepted}. Send another repository, or ask the \
         server's administrator to add it to `collect.licences`"
    )]
    Licence {
        /// The licence, or `none`.
        licence: String,
        /// The accepted ones.
        accepted: String,
    },
    /// Rows contain too much.
    #[error("rows of level {level} are not accepted here; join again, or export, with --level {accepted}")]
    Level {
        /// Level of a row.
        level: PrivacyLevel,
        /// The most revealing one that is accepted.
        accepted: PrivacyLevel,
    },
    /// Nothing is accepted.
    #[error("this server accepts no rows; ask its administrator to change `collect.level`")]
    Closed,
}

impl Policy {
    /// Returns the rules of the settings.
    pub(crate) fn of_settings(settings: &Collect) -> Policy {
        let names = |text: &String| {
            text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
        };
        let levels: &[PrivacyLevel] = match settings.level {
            Privacy::Full => &[PrivacyLevel::Full, PrivacyLevel::Structure, PrivacyLevel::Metrics],
            Privacy::Structure => &[PrivacyLevel::Structure, PrivacyLevel::Metrics],
            Privacy::Metrics => &[PrivacyLevel::Metrics],
            Privacy::Off => &[],
        };
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        Policy {
            licences: settings.licences.as_ref().map(names),
            levels: levels.to_vec(),
            keep_ms: (settings.retention_days > 0).then(|| i64::from(settings.retention_days) * DAY_MS),
        }
    }

    /// Returns the start of the oldest rows that are kept at a moment, both in ms since 1970.
    pub(crate) fn oldest(&self, now: i64) -> i64 {
        self.keep_ms.map_or(i64::MIN, |keep| now.saturating_sub(keep))
    }

    /// Checks a bundle.
    ///
    /// # Errors
    /// It breaks a rule.
    pub(crate) fn check(&self, sheet: &Datasheet, rows: &[Opportunity]) -> Result<(), PolicyBreach> {
        check_consent(sheet, rows.len() as u64)?;
        self.check_licences(&sheet.licences)?;
        let Some(&accepted) = self.levels.first() else { return Err(PolicyBreach::Closed) };
        match rows.iter().map(|row| row.privacy).find(|level| !self.levels.contains(level)) {
            Some(level) => Err(PolicyBreach::Level { level, accepted }),
            None => Ok(()),
        }
    }

    fn check_licences(&self, given: &[String]) -> Result<(), PolicyBreach> {
        let Some(accepted) = &self.licences else { return Ok(()) };
        let none = [NO_LICENCE.to_owned()];
        let given = if given.is_empty() { &none } else { given };
        match given.iter().find(|licence| !accepted.contains(*licence)) {
            None => Ok(()),
            Some(licence) => Err(PolicyBreach::Licence {
                licence: licence.clone(),
                accepted: accepted.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

fn check_consent(sheet: &Datasheet, rows: u64) -> Result<(), PolicyBreach> {
    let is_given = |statement: &str| !statement.trim().is_empty() && statement.len() <= MAX_STATEMENT_BYTES;
    if sheet.consents.is_empty() || !sheet.consents.iter().all(|consent| is_given(&consent.statement)) {
        return Err(PolicyBreach::NoConsent);
    }
    let covered = sheet.consents.iter().fold(0_u64, |sum, consent| sum.saturating_add(consent.opportunities));
    match covered >= rows {
        true => Ok(()),
        false => Err(PolicyBreach::ConsentTooNarrow { covered, rows }),
    }
}
