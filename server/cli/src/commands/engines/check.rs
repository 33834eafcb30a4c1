//! `ghostbench engines check`: probes each engine and reports problems.
//!
//! `engines::check` makes the requests and `prompt` judges the answers; this module decides which engines run concurrently, and prints
//! the results.

mod messages;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::views::engines::engine_check_table;
use ::engines::check::{self, EngineCheck};
use ::engines::{DEFAULT_ENGINE, Engine, RegisteredEngine, Role};
use config::Config;
use tokio::task::JoinSet;

use crate::args::EnginesCheckArgs;
use crate::exit::{FindingError, NoAnswerError};
use crate::interrupt::unless_stopped;
use crate::output::{count, print, style};
use crate::progress::Progress;
use crate::steps::engine_registry::{self, registry_without_runs};
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::SettingsSources;
use messages::CheckRow;
pub(super) use messages::template_note;

/// Runs the command.
pub(super) fn run(args: &EnginesCheckArgs) -> anyhow::Result<()> {
    super::check_folder(&args.path)?;
    let config = SettingsSources::new(args.settings.file.as_deref()).config(&args.path)?;
    let candidates = candidates(&config, &args.engines)?;
    let progress = Progress::new("checked", "requests");
    let checks = runtime()?.block_on(unless_stopped(check_all(&candidates, &config, &progress)))?;
    progress.finish(&count(checks.iter().flatten().count(), "engine"));
    let rows: Vec<CheckRow<'_>> = candidates
        .iter()
        .zip(&checks)
        .map(|(candidate, check)| CheckRow::new(candidate, check.as_ref(), &config))
        .collect();
    if args.json {
        let rows: Vec<_> = rows.iter().map(CheckRow::json).collect();
        print(&format!("{:#}\n", serde_json::Value::from(rows)))?;
    } else {
        let remarks: Vec<String> = rows.iter().flat_map(CheckRow::remarks).collect();
        let rows: Vec<_> = rows.iter().map(CheckRow::cells).collect();
        print(&engine_check_table(&rows, &remarks, style()))?;
    }
    if rows.iter().any(CheckRow::has_failed) {
        return Err(NoAnswerError("engines gave no answer".to_owned()).into());
    }
    if rows.iter().any(CheckRow::has_finding) {
        return Err(FindingError("engines are not configured correctly").into());
    }
    Ok(())
}

/// Returns the named engines, or all configured ones including unavailable ones; the built-in engine if none is available.
fn candidates(config: &Config, names: &[String]) -> anyhow::Result<Vec<RegisteredEngine>> {
    if !names.is_empty() {
        return Ok(engine_registry::select_for_run(config, names, None)?);
    }
    let mut candidates = registry_without_runs().configured_engines(config);
    if candidates.iter().all(|candidate| candidate.obstacle().is_some()) {
        candidates.extend(engine_registry::select_for_run(config, &[DEFAULT_ENGINE.to_owned()], None)?);
    }
    Ok(candidates)
}

/// Engines at one address, which may be unknown, with their table rows.
type ServerGroup<'a> = (Option<&'a str>, Vec<(usize, Arc<dyn Engine>)>);

/// Checks all available engines, in their order. Engines at one address are checked one after the other, so that they do not affect
/// each other's measurements.
async fn check_all(
    candidates: &[RegisteredEngine],
    config: &Config,
    progress: &Progress,
) -> Vec<Option<EngineCheck>> {
    let mut groups: Vec<ServerGroup<'_>> = Vec::new();
    for (place, candidate) in candidates.iter().enumerate() {
        let Some(engine) = candidate.in_role(Role::Replay) else { continue };
        let address = address(config, &candidate.name);
        let asked = (place, Arc::clone(engine));
        match groups.iter_mut().find(|(other, _)| address.is_some() && *other == address) {
            Some((_, group)) => group.push(asked),
            None => groups.push((address, vec![asked])),
        }
    }
    let asked = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for (_, group) in groups {
        let asked = Arc::clone(&asked);
        tasks.spawn(async move {
            let mut checks = Vec::new();
            for (place, engine) in group {
                let tell = || {
                    asked.fetch_add(1, Ordering::Relaxed);
                };
                checks.push((place, check::check(&*engine, &tell).await));
            }
            checks
        });
    }
    collect(tasks, candidates.len(), &asked, progress).await
}

/// Interval of progress updates.
const PROGRESS_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

async fn collect(
    mut tasks: JoinSet<Vec<(usize, EngineCheck)>>,
    count: usize,
    asked: &AtomicU64,
    progress: &Progress,
) -> Vec<Option<EngineCheck>> {
    let mut checks: Vec<Option<EngineCheck>> = (0..count).map(|_| None).collect();
    let mut look = tokio::time::interval(PROGRESS_INTERVAL);
    loop {
        tokio::select! {
            done = tasks.join_next() => match done {
                // An engine whose check panicked counts as unavailable.
                Some(done) => for (place, check) in done.unwrap_or_default() {
                    checks[place] = Some(check);
                },
                None => return checks,
            },
            _ = look.tick() => {
                let asked = asked.load(Ordering::Relaxed);
                progress.set(asked, asked);
            }
        }
    }
}

fn address<'a>(config: &'a Config, name: &str) -> Option<&'a str> {
    let engine = config.engines.iter().find(|engine| engine.name == name)?;
    engine.settings.as_ref().ok()?.url.as_deref()
}
