//! `ghostbench/scoreboard` of a trial: the numbers of `ghostbench trial scoreboard`, with the trial's own metric and
//! margin, and the values of outcomes in the settings.
//!
//! While the developer must not know the arms, they have numbers instead of names, also in the JSON.

use std::path::Path;

use cases::Opportunity;
use index::CancelFlag;
use report::terminal::Style;
use scoring::TrialScoreboard;
use scoring::trial_scoreboard::{NetWeights, TrialSettings};
use serde_json::Value;
use trial::assignment::BlindNames;
use trial::definition::read_definition;
use trial::store::{STORE_FILE, StoreFilter};
use trial::{StoreReader, TrialNumbers, canaries};

/// A scoreboard in all forms.
pub(crate) struct TrialBoard {
    /// Name of the trial.
    pub(crate) name: String,
    /// As JSON.
    pub(crate) summary: Value,
    /// As Markdown.
    pub(crate) markdown: String,
    /// In columns.
    pub(crate) text: String,
}

/// The numbers of a trial.
pub(crate) struct ReadBoard {
    /// Name of the trial.
    pub(crate) name: String,
    /// The numbers.
    pub(crate) board: TrialScoreboard,
    /// The latest opportunities with a truth, oldest first, with their texts.
    pub(crate) latest: Vec<Opportunity>,
}

/// Compares the arms of the last trial in a folder for trials. The error says why that is not possible.
pub(crate) fn trial_board(
    folder: &Path,
    weights: NetWeights,
    style: Style,
    cancel: &CancelFlag,
) -> Result<TrialBoard, String> {
    let ReadBoard { name, board, .. } = read_board(folder, weights, 0, cancel)?;
    let json = report::trial::json(&board);
    Ok(TrialBoard {
        name,
        summary: serde_json::from_str(&json).map_err(|error| error.to_string())?,
        markdown: report::trial::markdown(&board),
        text: report::trial::table(&board, style),
    })
}

/// Computes the numbers of the last trial in a folder for trials, and keeps its latest opportunities, at most `kept`.
pub(crate) fn read_board(
    folder: &Path,
    weights: NetWeights,
    kept: usize,
    cancel: &CancelFlag,
) -> Result<ReadBoard, String> {
    let definition = read_definition(folder).map_err(|error| error.to_string())?;
    let definition = definition.ok_or("there is no trial in this folder; start one first")?;
    let store = folder.join(STORE_FILE);
    if !store.is_file() {
        return Err(format!("trial {} has no recorded opportunities yet; type some code", definition.name));
    }
    let filter = StoreFilter { trial: Some(definition.name.clone()), ..StoreFilter::default() };
    let reader = StoreReader::open(&store).map_err(|error| error.to_string())?;
    let hidden = BlindNames::in_effect(&definition);
    let read = trial::read_numbers(&reader, &filter, hidden.as_ref(), kept, || cancel.is_cancelled());
    let TrialNumbers { mut log, latest } = read.map_err(|error| error.to_string())?.ok_or("cancelled")?;
    for change in canaries::changes(folder, &definition).map_err(|error| error.to_string())? {
        let arm = hidden.as_ref().map_or(&*change.arm, |hidden| hidden.shown_as(&change.arm));
        log.add_drift(arm.to_owned(), change.day);
    }
    let board = log.scoreboard(&TrialSettings::of_trial(&definition, weights));
    Ok(ReadBoard { name: definition.name, board, latest })
}
