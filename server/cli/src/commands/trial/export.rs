//! `ghostbench trial export`: reviewed opportunities as a bundle for others, as a suite, or as recorded cases.

use std::collections::HashSet;
use std::path::Path;

use anyhow::Context;
use cases::{Bundle, BundleConsent, Case, Opportunity, PrivacyLevel, to_continue};
use report::format::opportunities;
use serde_json::{Value, json};
use trial::StoreReader;
use trial::store::StoreFilter;

use crate::args::{TrialExportArgs, TrialExportFormat};
use crate::exit::UsageError;
use crate::output::{self, count, print_message, shell_quoted};
use crate::steps::licence::licence_names;
use crate::steps::open_telemetry::EvaluatedRows;
use crate::steps::trial_rows::refuse_blind;
use crate::steps::trial_store::{TrialPlace, confirm, now};

/// Runs the command.
pub(crate) fn run(args: &TrialExportArgs) -> anyhow::Result<()> {
    let place = TrialPlace::of(&args.workspace)?;
    let filter = place.filter(&args.filter)?;
    let reader = StoreReader::open(&place.store())?;
    let reviewed = StoreFilter { reviewed: Some(true), ..filter.clone() };
    let rows = reader.read_all(&reviewed)?;
    let mut rows: Vec<Opportunity> = rows.into_iter().map(|row| row.opportunity).collect();
    refuse_blind(&args.workspace, args.filter.trial.as_deref(), &rows, "an export")?;
    let left_out = reader.count(&filter)?.saturating_sub(rows.len() as u64);
    if rows.is_empty() {
        let message = match left_out {
            0 => "no opportunity is selected".to_owned(),
            _ => format!(
                "none of {} is reviewed; show them first: ghostbench trial review --full",
                opportunities(left_out)
            ),
        };
        return Err(UsageError(message).into());
    }
    if left_out > 0 {
        print_message(&format!(
            "{left_out} are left out, because `ghostbench trial review --full` has not shown them as they are now"
        ));
    }
    if let Some(level) = args.level {
        rows.iter_mut().for_each(|row| trial::privacy::apply(row, level, &place.key));
    }
    let mut report = json!({ "opportunities": rows.len(), "left_out": left_out });
    let mut text = String::new();
    if let Some(path) = &args.suite {
        text.push_str(&write_suite(path, &rows, &mut report)?);
    }
    if args.record {
        text.push_str(&record(&place, &rows, &mut report)?);
    }
    if let Some(collector) = &args.otlp {
        let opportunities = opportunities(rows.len() as u64);
        confirm(
            &format!("{opportunities}, without code, will be sent to {collector}. Do you agree?"),
            args.yes,
        )?;
        EvaluatedRows::new(&rows).send(collector)?;
        report["otlp"] = json!(collector);
        text.push_str(&format!("{opportunities} sent\n"));
    }
    if let Some(path) = &args.out {
        text.push_str(&write_rows(args, &place, path, rows, &mut report)?);
    }
    Ok(output::print(&if args.json { format!("{report:#}\n") } else { text })?)
}

/// Writes the cases of the rows as a suite. Returns the message.
fn write_suite(path: &Path, rows: &[Opportunity], report: &mut Value) -> anyhow::Result<String> {
    let cases = suite(rows);
    if cases.is_empty() {
        let message = "no selected opportunity has a truth with code; there is no case";
        return Err(UsageError(message.to_owned()).into());
    }
    replay::write_suite(path, &cases)?;
    report["suite"] = json!({ "path": path.display().to_string(), "cases": cases.len() });
    let (number, path) = (count(cases.len(), "case"), shell_quoted(path));
    Ok(format!("{number} in {path}\nNext: ghostbench replay {path} --workspace .\n"))
}

/// Adds the cases of the rows to the recorded cases of the workspace. Returns the message.
fn record(place: &TrialPlace, rows: &[Opportunity], report: &mut Value) -> anyhow::Result<String> {
    let is_full = |row: &&Opportunity| row.privacy == PrivacyLevel::Full;
    let full: Vec<Opportunity> = rows.iter().filter(is_full).cloned().collect();
    let cases = suite(&full);
    if cases.is_empty() {
        let message =
            "no selected opportunity has a truth with the code as it is; there is no case to record";
        return Err(UsageError(message.to_owned()).into());
    }
    let suite = place.recorded_suite()?;
    let added = suite.add_all(cases)?;
    let new = added.iter().filter(|added| added.is_new).count();
    let (known, hidden) = (added.len() - new, rows.len() - full.len());
    report["recorded"] = json!({ "path": suite.path().display().to_string(), "cases": new, "known": known });
    if hidden > 0 {
        print_message(&format!(
            "{hidden} are not recorded as cases, because their code is not stored as it is"
        ));
    }
    let known = if known > 0 { format!("; {known} were recorded before") } else { String::new() };
    let path = shell_quoted(&suite.path());
    Ok(format!(
        "{} recorded in {path}{known}\nEditors show them as code lenses. Next: ghostbench replay {path} --workspace .\n",
        count(new, "case")
    ))
}

/// Writes the rows in the format that was chosen, once the developer has agreed. Returns the message.
fn write_rows(
    args: &TrialExportArgs,
    place: &TrialPlace,
    path: &Path,
    rows: Vec<Opportunity>,
    report: &mut Value,
) -> anyhow::Result<String> {
    let number = rows.len() as u64;
    let question = format!(
        "{} with {} will be in {}, for others. Do you agree: \"{}\"?",
        opportunities(number),
        levels(&rows),
        output::path(path),
        args.consent
    );
    confirm(&question, args.yes)?;
    report["path"] = json!(path.display().to_string());
    match args.format {
        TrialExportFormat::Bundle => {
            let consent =
                BundleConsent { given_at: now(), opportunities: number, statement: args.consent.clone() };
            let bundle = Bundle::new(rows, licence_names(&place.root), vec![consent]);
            write(path, &bundle.print())?;
            report["datasheet"] = json!(bundle.datasheet);
        }
        TrialExportFormat::Continue => {
            let events = rows.iter().filter_map(to_continue);
            write(path, &events.map(|event| format!("{event}\n")).collect::<String>())?;
        }
        TrialExportFormat::OtlpSpans => {
            write(path, &format!("{}\n", EvaluatedRows::new(&rows).spans()))?;
        }
        TrialExportFormat::OtlpEvaluations => {
            write(path, &format!("{}\n", EvaluatedRows::new(&rows).evaluations()))?;
        }
    }
    Ok(format!("{} in {}\n", opportunities(number), shell_quoted(path)))
}

/// Returns the cases of the rows; of equal ones, the first.
fn suite(rows: &[Opportunity]) -> Vec<Case> {
    let mut ids = HashSet::new();
    let cases = rows.iter().flat_map(Opportunity::to_cases);
    let is_supported = |case: &Case| syntax::Language::from_name(&case.language).is_some();
    cases.filter(|case| is_supported(case) && ids.insert(case.id.clone())).collect()
}

fn levels(rows: &[Opportunity]) -> String {
    let mut levels: Vec<&str> = rows.iter().map(|row| row.privacy.name()).collect();
    levels.sort_unstable();
    levels.dedup();
    format!("level {}", levels.join(", "))
}

/// Writes a file, readable only by its owner.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if path.is_dir() {
        return Err(UsageError(format!("{} is a folder; name a file with --out", output::path(path))).into());
    }
    private_files::write_atomically(path, text.as_bytes())
        .with_context(|| format!("cannot write {}; choose another place with --out", output::path(path)))
}
