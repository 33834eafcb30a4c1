//! The numbers of a trial, read from its store: for scoreboards and pages.

use std::ops::ControlFlow;

use cases::Opportunity;
use scoring::TrialLog;

use crate::assignment::BlindNames;
use crate::store::{StoreError, StoreFilter, StoreReader, StoredOpportunity};

/// The numbers of a trial.
#[derive(Debug, Default)]
pub struct TrialNumbers {
    /// The numbers of all selected opportunities.
    pub log: TrialLog,
    /// The latest opportunities with a truth, oldest first, with their texts.
    pub latest: Vec<Opportunity>,
}

/// Reads the numbers of the selected opportunities and the latest `kept` of those with a truth. `hidden` replaces the names of arms.
/// Returns `None` as soon as `is_cancelled` says so.
///
/// # Errors
/// The store or a row cannot be read.
pub fn read_numbers(
    reader: &StoreReader,
    filter: &StoreFilter,
    hidden: Option<&BlindNames>,
    kept: usize,
    is_cancelled: impl Fn() -> bool,
) -> Result<Option<TrialNumbers>, StoreError> {
    let hide = |row: &mut Opportunity| hidden.into_iter().for_each(|names| names.hide(row));
    let mut numbers = TrialNumbers::default();
    let count = |rows: Vec<StoredOpportunity>| {
        let mut log = TrialLog::new();
        for mut row in rows {
            hide(&mut row.opportunity);
            log.add(&row.opportunity);
        }
        log
    };
    let stopped = reader.map_short(filter, count, |log| {
        numbers.log.append(log);
        if is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if stopped.is_some() {
        return Ok(None);
    }
    let latest = reader.latest(filter, kept, |row| row.truth().is_some())?;
    numbers.latest = latest.into_iter().map(|row| row.opportunity).collect();
    numbers.latest.iter_mut().for_each(hide);
    Ok(Some(numbers))
}
