//! `ghostbench watch`: replays a fixed suite once more, and reports which engines changed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cases::{ChangeKind, WatchedChange, WatchedNight, suite_hash};
use completion::WorkspaceIndex;
use replay::{RequestPlan, WatchHistory, read_history, unfinished_nights};

use crate::args::{NoCopiesArg, ReportFormat, WatchArgs};
use crate::exit::{FindingError, UsageError};
use crate::output;
use crate::steps::estimate::{estimate, print_estimate};
use crate::steps::index::{IndexedWorkspace, index};
use crate::steps::require_answers::require_answers;
use crate::steps::run_replay::{ReplayJob, RunStart, run_inputs, run_replay};
use crate::steps::settings_sources::SettingsSources;
use crate::steps::write_csv::write_csv;
use crate::steps::{cassette, engine_registry, use_threads};

/// Runs the command.
pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<()> {
    match &args.suite {
        Some(suite) if !args.show => replay_night(args, suite),
        _ => {
            let nights = read_history(&args.history)?;
            if nights.is_empty() {
                let folder = output::path(&args.history);
                return Err(UsageError(format!(
                    "{folder} contains no history (history.jsonl is missing or empty)"
                ))
                .into());
            }
            print(args, &nights)?;
            check_changes(args, &nights)
        }
    }
}

/// Replays the suite, and adds the night to the history.
fn replay_night(args: &WatchArgs, suite: &Path) -> anyhow::Result<()> {
    use_threads(args.asking.jobs)?;
    let cases = replay::read_suite(suite)?;
    let root = args.workspace.as_deref().unwrap_or(Path::new("."));
    let config = SettingsSources::new(args.asking.settings.file.as_deref()).config(root)?;
    let cassette = cassette::open(&args.asking.cassette)?;
    let candidates = engine_registry::select_for_run(&config, &args.asking.engines, cassette.as_ref())?;
    let indexed = args.workspace.as_deref().map(index).transpose()?;
    let world = indexed.as_ref().map_or_else(WorkspaceIndex::empty, IndexedWorkspace::index_with_tokens);
    // Copies are the same every night.
    let (engines, copies) =
        engine_registry::engines_for_replay(&candidates, &config, &world, &cases, NoCopiesArg::Off);
    let state = indexed.as_ref().map(|indexed| indexed.code.state.clone());
    let suite = suite_hash(&cases);
    let run = replay::describe_run("watch".to_owned(), &cases, &engines, state, 1, 1);
    let plan = RequestPlan { limits: args.asking.limits.limits(), ..RequestPlan::new(1) };
    let inputs = run_inputs(cases, engines, world, copies, &args.asking);
    if args.asking.limits.dry_run {
        return print_estimate(&estimate(&inputs, &plan, &[], &run.name), args.json);
    }
    let mut history = WatchHistory::open(&args.history, &suite, args.primary)?;
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let folder = history.new_run()?;
    let replayed = run_replay(ReplayJob {
        inputs,
        plan,
        run,
        folder: folder.clone(),
        start: RunStart::New,
        workspace: args.workspace.as_deref(),
        args: &args.asking,
        cluster: None,
    })?;
    history.add(&folder, time, args.primary, &replayed.contents, &replayed.scores)?;
    cassette::close(&args.asking.cassette, cassette.as_deref())?;
    print(args, history.nights())?;
    require_answers(&replayed.contents)?;
    check_changes(args, history.nights())
}

fn print(args: &WatchArgs, nights: &[WatchedNight]) -> anyhow::Result<()> {
    let folders = unfinished_nights(&args.history, nights);
    let unfinished: Vec<String> = folders.iter().map(|folder: &PathBuf| output::path(folder)).collect();
    if let Some(page) = &args.html {
        output::write_page(page, report::watch_html(nights, &unfinished).as_bytes())?;
    }
    if let Some(folder) = &args.csv {
        write_csv(folder, &report::watch_csv_tables(nights))?;
    }
    let text = match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Table => report::watch::table(nights, &unfinished, output::style()),
        ReportFormat::Markdown => report::watch::markdown(nights, &unfinished),
        ReportFormat::Json => report::watch::json(nights, &unfinished),
    };
    Ok(output::print(&text)?)
}

/// Returns an error if the last night revealed a change and the user asked for one.
fn check_changes(args: &WatchArgs, nights: &[WatchedNight]) -> anyhow::Result<()> {
    let mut last = nights.last().into_iter().flat_map(|night| &night.engines);
    let is_own = |change: &WatchedChange| change.kind != ChangeKind::Workspace;
    if args.fail_on_change && last.any(|engine| engine.change.as_ref().is_some_and(is_own)) {
        return Err(FindingError("an engine changed (--fail-on-change)").into());
    }
    Ok(())
}
