//! `ghostbench engines`: lists engines, checks them, completes with them, and converts answers to cassettes.

mod cassette;
mod check;
mod complete;

use std::path::Path;

use ::engines::RegisteredEngine;
use serde_json::json;

use crate::args::{EnginesArgs, EnginesCommand, EnginesListArgs};
use crate::exit::UsageError;
use crate::output::print;
use crate::steps::engine_registry::registry_without_runs;
use crate::steps::settings_sources::SettingsSources;

/// Runs the command.
pub(crate) fn run(args: &EnginesArgs) -> anyhow::Result<()> {
    match &args.command {
        EnginesCommand::List(args) => list(args),
        EnginesCommand::Check(args) => check::run(args),
        EnginesCommand::Complete(args) => complete::run(args),
        EnginesCommand::Cassette(args) => cassette::run(args),
    }
}

fn check_folder(path: &Path) -> Result<(), UsageError> {
    let message =
        || UsageError(format!("{} is not a folder; name the folder of a workspace", path.display()));
    if path.is_dir() { Ok(()) } else { Err(message()) }
}

fn list(args: &EnginesListArgs) -> anyhow::Result<()> {
    check_folder(&args.path)?;
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&args.path)?;
    let mut candidates = registry_without_runs().configured_engines(&config);
    candidates.extend(
        RegisteredEngine::all_without_settings()
            .filter(|other| config.engines.iter().all(|engine| engine.name != other.name)),
    );
    Ok(print(&if args.json { as_json(&candidates) } else { as_table(&candidates) })?)
}

fn kind(candidate: &RegisteredEngine) -> &'static str {
    candidate.kind.map_or("?", |kind| kind.name())
}

fn as_json(candidates: &[RegisteredEngine]) -> String {
    let rows = candidates.iter().map(|candidate| {
        json!({
            "name": candidate.name,
            "kind": candidate.kind.map(|kind| kind.name()),
            "model": candidate.model(),
            "asked": candidate.obstacle().is_none(),
            "reason": candidate.obstacle(),
        })
    });
    format!("{:#}\n", json!(rows.collect::<Vec<_>>()))
}

fn as_table(candidates: &[RegisteredEngine]) -> String {
    let names = candidates.iter().map(|candidate| candidate.name.chars().count());
    let width = names.max().unwrap_or_default();
    let row = |candidate: &RegisteredEngine| {
        let state = match (candidate.obstacle(), candidate.model()) {
            (Some(obstacle), _) => format!("not asked: {obstacle}"),
            (None, model) => model.unwrap_or_default().to_owned(),
        };
        format!("{:<width$}  {:<12}  {state}\n", candidate.name, kind(candidate))
    };
    candidates.iter().map(row).collect()
}
