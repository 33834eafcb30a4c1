//! `ghostbench trial import`: reads a bundle, or another program's record, into the store of a workspace.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use cases::{ImportedPlace, Opportunity, from_continue, from_tabby, from_zed};
use report::format::opportunities;
use serde_json::json;
use syntax::Language;
use trial::store::{StoreCounts, StoreHealth};
use trial::{Store, StoreSettings};

use super::merge::{read_bundle, read_text};
use crate::args::{TrialImportArgs, TrialImportFormat};
use crate::exit::UsageError;
use crate::output::{self, count, print_message};
use crate::progress::Progress;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::trial_store::{TrialPlace, now};

/// Rows between two flushes: fewer than the writer's queue holds.
const BATCH: usize = 100;

/// Runs the command.
pub(crate) fn run(args: &TrialImportArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let rows = match args.format {
        TrialImportFormat::Bundle => read_bundle(&args.file)?.rows,
        TrialImportFormat::Continue => read_continue(&args.file, &place)?,
        TrialImportFormat::Tabby => read_tabby(&args.file, &place)?,
        TrialImportFormat::Zed => read_zed(&args.file, &place)?,
    };
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&place.root)?;
    let Some(settings) = StoreSettings::from_config(&config, place.key.clone()) else {
        let message = "record.privacy is \"off\", so that nothing is stored; set it to \"full\", \"structure\" or \"metrics\"";
        return Err(UsageError(message.to_owned()).into());
    };
    let store = Store::open(&place.folder, &settings)?;
    let progress = Progress::new("imported", "opportunities");
    let total = rows.len();
    for (index, row) in rows.into_iter().enumerate() {
        store.put(row);
        if (index + 1) % BATCH == 0 || index + 1 == total {
            store.flush();
            progress.set(index as u64 + 1, total as u64);
        }
    }
    let StoreCounts { written, dropped, forgotten } = store.counts();
    if let StoreHealth::Off { message } = store.health() {
        anyhow::bail!("{written} of {} are imported: {message}", opportunities(total as u64));
    }
    progress.finish(&opportunities(written));
    if forgotten > 0 {
        let message = format!("{forgotten} were deleted with `trial forget` before, and stay deleted");
        print_message(&message);
    }
    if args.json {
        let store = store.path().display().to_string();
        let report =
            json!({ "imported": written, "dropped": dropped, "forgotten": forgotten, "store": store });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    Ok(output::print(&format!("{} in {}\n", opportunities(written), store.path().display()))?)
}

/// Reads Continue's dev data: the completions in files of this workspace, in a language that is supported.
fn read_continue(path: &Path, place: &TrialPlace) -> anyhow::Result<Vec<Opportunity>> {
    let text = read_text(path)?;
    let mut rows = Vec::new();
    let mut others = 0;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row = from_continue(line, index + 1, |file| imported_place(file, place));
        match row.with_context(|| output::path(path))? {
            Some(row) => rows.push(row),
            None => others += 1,
        }
    }
    print_left_out(others);
    Ok(rows)
}

/// Reads the events of a Tabby server: the completions in files of this workspace, in a language that is supported.
fn read_tabby(path: &Path, place: &TrialPlace) -> anyhow::Result<Vec<Opportunity>> {
    let log = from_tabby(&read_text(path)?, |file| imported_place(file, place));
    let log = log.with_context(|| output::path(path))?;
    print_left_out(log.left_out);
    Ok(log.rows)
}

/// Reads one of Zed's examples, or all Markdown files of a folder: those in files of this workspace, in a language that is supported.
fn read_zed(path: &Path, place: &TrialPlace) -> anyhow::Result<Vec<Opportunity>> {
    let files = if path.is_dir() { markdown_files(path)? } else { vec![path.to_owned()] };
    if files.is_empty() {
        return Err(
            UsageError(format!("{} contains no .md file; name Zed's examples", output::path(path))).into()
        );
    }
    let opened_at = now();
    let mut rows = Vec::new();
    for file in &files {
        let text = read_text(file)?;
        rows.extend(
            from_zed(&text, &opened_at, |file| imported_place(file, place))
                .with_context(|| output::path(file))?,
        );
    }
    print_left_out(files.len() - rows.len());
    Ok(rows)
}

/// Returns the Markdown files of a folder in order.
fn markdown_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.with_context(|| format!("cannot read {}", output::path(folder)))?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    Ok(files)
}

fn print_left_out(events: usize) {
    if events > 0 {
        let events = count(events, "event");
        print_message(&format!("left out {events}: without code, or not in a code file of this workspace"));
    }
}

/// Returns the place of a file that is named by a URI, a whole path, or a path in the workspace.
fn imported_place(file: &str, place: &TrialPlace) -> Option<ImportedPlace> {
    let whole = url::Url::parse(file)
        .ok()
        .filter(|url| url.scheme() == "file")
        .and_then(|url| url.to_file_path().ok());
    let whole = whole.unwrap_or_else(|| place.root.join(file));
    let relative = whole.strip_prefix(&place.root).ok()?;
    let parts: Vec<&str> = relative.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    if parts.is_empty() || parts.contains(&"..") {
        return None;
    }
    let path = parts.join("/");
    let language = Language::from_path(&path)?.name().to_owned();
    Some(ImportedPlace { path, language })
}
