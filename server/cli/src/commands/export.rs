//! `ghostbench export`: writes a run for other tools.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context;
use report::InspectLog;
use scoring::RunRows;
use serde_json::json;

use crate::args::{ExportArgs, ExportFormat};
use crate::exit::UsageError;
use crate::output::{self, count, shell_quoted};
use crate::progress::Progress;
use crate::steps::export_rows::export_rows;
use crate::steps::show_run::score;

/// Maximum length of an engine's name in a file name.
const MAX_NAME: usize = 60;

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    if args.format != ExportFormat::InspectEval {
        return export_rows(args);
    }
    if args.dataset.is_some() {
        return Err(
            UsageError("--dataset is for repoqa; leave it out, or add --format repoqa".to_owned()).into()
        );
    }
    let contents = replay::read_run(&args.run)?;
    if contents.predictions.is_empty() {
        return Err(UsageError(format!(
            "{} has no answers yet; finish it with --resume",
            args.run.display()
        ))
        .into());
    }
    let scores = score(&args.run, &contents);
    let rows = RunRows {
        run: &contents.run,
        cases: &contents.cases,
        predictions: &contents.predictions,
        scores: &scores,
        judgements: &[],
        notes: &[],
    };
    create_folder(&args.out)?;
    let progress = Progress::new("exported", "logs");
    let mut logs = Vec::new();
    report::inspect_logs(&rows, &rows.summary(), &started(&args.run), |log| {
        let path = args.out.join(file_name(logs.len(), &log));
        private_files::write(&path, &log.bytes)?;
        logs.push(json!({
            "path": path.display().to_string(),
            "engine": log.engine,
            "origin": log.origin.name(),
            "exposure": log.exposure.name(),
            "samples": log.samples,
        }));
        progress.set(logs.len() as u64, contents.run.engines.len() as u64);
        Ok(())
    })
    .with_context(|| format!("cannot write to {}; choose another place with --out", args.out.display()))?;
    progress.finish(&count(logs.len(), "log"));
    if args.json {
        return Ok(output::print(&format!("{:#}\n", json!({ "logs": logs })))?);
    }
    let (number, out) = (count(logs.len(), "log"), shell_quoted(&args.out));
    Ok(output::print(&format!("{number} in {out}\nNext: inspect view --log-dir {out}\n"))?)
}

fn create_folder(path: &Path) -> anyhow::Result<()> {
    if path.is_file() {
        return Err(UsageError(format!("{} is a file; name a folder with --out", path.display())).into());
    }
    private_files::create_folder(path)
        .with_context(|| format!("cannot create {}; choose another place with --out", path.display()))
}

/// Returns the time at which the run was created (RFC 3339): equal exports of a run are equal to the byte.
fn started(run: &Path) -> String {
    let modified = fs::metadata(run.join("run.json")).and_then(|file| file.modified());
    let seconds =
        modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_secs());
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

/// Returns the file name of a log: numbered, since names of engines may differ only in characters that a file name cannot have.
fn file_name(number: usize, log: &InspectLog) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = log.engine.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '-' }).collect();
    format!("{:02}-{name}-{}-{}.eval", number + 1, log.origin, log.exposure)
}
