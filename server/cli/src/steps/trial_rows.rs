//! Reads the opportunities of a trial: from the store of a workspace, or from files.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cases::{Datasheet, Opportunity, parse_line};
use trial::store::{STORE_FILE, StoreFilter, TextLoad};
use trial::{StoreReader, definition};

use crate::exit::UsageError;
use crate::folders;
use crate::output;

/// Most bytes of a line: a document of the largest recorded size several times over.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// Passes the opportunities of the files to `visit`, or of the workspace's store if there are no files. Only those of a trial count: the
/// one with this name, or the last one of the workspace. `with_documents` reads the documents around the cursors, too.
pub(crate) fn visit(
    files: &[PathBuf],
    workspace: &Path,
    trial: Option<&str>,
    with_documents: bool,
    mut visit: impl FnMut(Opportunity),
) -> anyhow::Result<()> {
    if files.is_empty() {
        return visit_store(workspace, trial, with_documents, visit);
    }
    for file in files {
        visit_file(file, |row| {
            if trial.is_none_or(|trial| row.trial.as_deref() == Some(trial)) {
                visit(row);
            }
        })?;
    }
    Ok(())
}

fn visit_store(
    workspace: &Path,
    trial: Option<&str>,
    with_documents: bool,
    mut visit: impl FnMut(Opportunity),
) -> anyhow::Result<()> {
    let root = workspace
        .canonicalize()
        .with_context(|| format!("cannot open {}; name a folder", output::path(workspace)))?;
    let folder = folders::data_folder("name files of opportunities")?.trial(&root);
    let last = || anyhow::Ok(definition::read_definition(&folder)?.map(|definition| definition.name));
    let trial = match trial {
        Some(trial) => Some(trial.to_owned()),
        None => last()?,
    };
    let store = folder.join(STORE_FILE);
    if !store.is_file() {
        return Err(UsageError(format!(
            "{} has no recorded opportunities; start a trial, or name files of opportunities",
            output::path(&root)
        ))
        .into());
    }
    let filter = StoreFilter { trial, ..StoreFilter::default() };
    let texts = if with_documents { TextLoad::All } else { TextLoad::Short };
    StoreReader::open(&store)?.visit(&filter, texts, |row| {
        visit(row.opportunity);
        ControlFlow::<()>::Continue(())
    })?;
    Ok(())
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
