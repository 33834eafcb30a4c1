//! Reads the opportunities of a trial: from the store of a workspace, or from files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use cases::{Datasheet, Opportunity, TrialDefinition, parse_line};
use scoring::TrialLog;
use trial::assignment::BlindNames;
use trial::store::{STORE_FILE, StoreFilter};
use trial::{StoreReader, TrialNumbers, canaries, definition};

use crate::exit::UsageError;
use crate::folders;
use crate::output;

/// Most bytes of a line: a document of the largest recorded size several times over.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// Reads the numbers of the files, or of the workspace's store if there are no files, and the latest `kept` opportunities with a truth.
/// Only those of a trial count: the one with this name, or the last one of the workspace. Returns the definition of the trial, too, if it
/// is one of the workspace.
pub(crate) fn read_numbers(
    files: &[PathBuf],
    workspace: &Path,
    trial: Option<&str>,
    hidden: Option<&BlindNames>,
    kept: usize,
) -> anyhow::Result<(TrialNumbers, Option<TrialDefinition>)> {
    if files.is_empty() {
        return read_store(workspace, trial, hidden, kept);
    }
    let (mut log, mut latest) = (TrialLog::new(), VecDeque::new());
    for file in files {
        visit_file(file, |row| {
            if trial.is_some_and(|trial| row.trial.as_deref() != Some(trial)) {
                return;
            }
            log.add(&row);
            if kept > 0 && row.truth().is_some() {
                latest.retain(|earlier: &Opportunity| earlier.id != row.id);
                latest.push_back(row);
                if latest.len() > kept {
                    latest.pop_front();
                }
            }
        })?;
    }
    Ok((TrialNumbers { log, latest: latest.into() }, None))
}

/// Returns the names under which the trial that runs in a workspace shows its arms; `None` if they are not hidden, for another trial than
/// `trial`, and for rows of files.
pub(crate) fn blind_names(
    files: &[PathBuf],
    workspace: &Path,
    trial: Option<&str>,
) -> anyhow::Result<Option<BlindNames>> {
    let Some(root) = workspace.canonicalize().ok().filter(|_| files.is_empty()) else {
        return Ok(None);
    };
    let folder = folders::data_folder("name files of opportunities")?.trial(&root);
    let latest = definition::read_definition(&folder)?;
    let blind = latest.as_ref().and_then(BlindNames::in_effect);
    Ok(blind.filter(|names| trial.is_none_or(|name| name == names.trial)))
}

/// Refuses rows of a trial whose arms are hidden: every form in which they leave the store names the engines. `what` begins the sentence
/// that says so.
pub(crate) fn refuse_blind(
    workspace: &Path,
    trial: Option<&str>,
    rows: &[Opportunity],
    what: &str,
) -> anyhow::Result<()> {
    let blind = blind_names(&[], workspace, trial)?;
    let is_blind = |trial: &str| rows.iter().any(|row| row.trial.as_deref() == Some(trial));
    match blind.map(|names| names.trial).filter(|trial| is_blind(trial)) {
        Some(trial) => Err(UsageError(format!(
            "the trial `{trial}` is running, and {what} would reveal its engines; stop it first: ghostbench trial stop, or name another \
             one with --trial"
        ))
        .into()),
        None => Ok(()),
    }
}

/// Returns the arms of a trial whose answers to the canary questions changed, with the day.
pub(crate) fn drifts(
    workspace: &Path,
    trial: Option<&TrialDefinition>,
) -> anyhow::Result<Vec<(String, String)>> {
    let Some(trial) = trial else { return Ok(Vec::new()) };
    let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let folder = folders::data_folder("name files of opportunities")?.trial(&root);
    let changes = canaries::changes(&folder, trial).context("cannot read the answers to canary questions")?;
    Ok(changes.into_iter().map(|change| (change.arm, change.day)).collect())
}

fn read_store(
    workspace: &Path,
    trial: Option<&str>,
    hidden: Option<&BlindNames>,
    kept: usize,
) -> anyhow::Result<(TrialNumbers, Option<TrialDefinition>)> {
    let root = workspace
        .canonicalize()
        .with_context(|| format!("cannot open {}; name a folder", output::path(workspace)))?;
    let folder = folders::data_folder("name files of opportunities")?.trial(&root);
    let mut definitions = definition::read_definitions(&folder)?;
    let definition = match trial {
        Some(name) => definitions.into_iter().find(|definition| definition.name == name),
        None => definitions.pop(),
    };
    let trial = trial.map(str::to_owned).or_else(|| Some(definition.as_ref()?.name.clone()));
    let store = folder.join(STORE_FILE);
    if !store.is_file() {
        return Err(UsageError(format!(
            "{} has no recorded opportunities; start a trial, or name files of opportunities",
            output::path(&root)
        ))
        .into());
    }
    let filter = StoreFilter { trial, ..StoreFilter::default() };
    let reader = StoreReader::open(&store)?;
    let numbers = trial::read_numbers(&reader, &filter, hidden, kept, || false)?.unwrap_or_default();
    Ok((numbers, definition))
}

/// The last line may be incomplete, because its writer was killed.
fn visit_file(path: &Path, mut visit: impl FnMut(Opportunity)) -> anyhow::Result<()> {
    let name = output::path(path);
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line);
        if read.with_context(|| format!("cannot read {name}"))? == 0 {
            break;
        }
        let is_whole = line.ends_with(b"\n");
        let invalid =
            |problem: String| UsageError(format!("{name}: {problem}; name a file of opportunities"));
        if !is_whole && line.len() as u64 == MOST_LINE_BYTES {
            return Err(invalid(format!("line {number} is too long")).into());
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() || number == 1 && parse_line::<Datasheet>(&text, number).is_ok() {
            continue;
        }
        match parse_line::<Opportunity>(&text, number) {
            Ok(row) => visit(row),
            Err(_) if !is_whole => {}
            Err(error) => return Err(invalid(error.to_string()).into()),
        }
    }
    Ok(())
}
