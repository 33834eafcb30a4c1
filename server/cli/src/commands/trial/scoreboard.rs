//! `ghostbench trial scoreboard`: which arm is better.

use anyhow::Context;
use cases::{Opportunity, TrialDefinition};
use report::format::opportunities;
use scoring::TrialScoreboard;
use scoring::trial_scoreboard::TrialSettings;
use trial::TrialNumbers;
use trial::proposal::net_weights;

use crate::args::{ReportFormat, TrialScoreboardArgs};
use crate::output::{self, print_message};
use crate::progress::Progress;
use crate::steps::settings_sources::SettingsSources;
use crate::steps::trial_rows;

/// Most opportunities that the page can show with their texts.
const SHOWN_WITH_TEXTS: usize = 200;

/// Runs the command.
pub(crate) fn run(args: &TrialScoreboardArgs) -> anyhow::Result<()> {
    let hidden = trial_rows::blind_names(&args.files, &args.workspace, args.trial.as_deref())?;
    if let Some(hidden) = &hidden {
        print_message(&format!(
            "note: the trial `{}` is running, so that the names of its engines are hidden; `ghostbench trial stop` reveals them",
            hidden.trial
        ));
    }
    let progress = Progress::spinner("read");
    let kept = if args.html.is_some() { SHOWN_WITH_TEXTS } else { 0 };
    let (TrialNumbers { mut log, latest }, trial) =
        trial_rows::read_numbers(&args.files, &args.workspace, args.trial.as_deref(), hidden.as_ref(), kept)?;
    progress.finish(&opportunities(log.len() as u64));
    for (arm, day) in trial_rows::drifts(&args.workspace, trial.as_ref())? {
        let shown = hidden.as_ref().map_or(&*arm, |hidden| hidden.shown_as(&arm));
        log.add_drift(shown.to_owned(), day);
    }
    let board = log.scoreboard(&question(args, trial.as_ref())?);
    write_page(args, &board, &latest)?;
    let text = match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Table => report::trial::table(&board, output::style()),
        ReportFormat::Markdown => report::trial::markdown(&board),
        ReportFormat::Json => report::trial::json(&board),
    };
    Ok(output::print(&text)?)
}

/// The question of the arguments, of the trial, and of the settings.
fn question(args: &TrialScoreboardArgs, trial: Option<&TrialDefinition>) -> anyhow::Result<TrialSettings> {
    let weights = match args.weights {
        Some(weights) => weights,
        None => {
            let root = args.workspace.canonicalize().unwrap_or_else(|_| args.workspace.clone());
            net_weights(&SettingsSources::new(args.settings.file.as_deref()).config(&root)?)
        }
    };
    let asked = match trial {
        Some(trial) => TrialSettings::of_trial(trial, weights),
        None => TrialSettings { weights, ..TrialSettings::default() },
    };
    Ok(TrialSettings {
        metric: args.metric.unwrap_or(asked.metric),
        margin: args.margin.unwrap_or(asked.margin),
        weights,
    })
}

fn write_page(
    args: &TrialScoreboardArgs,
    board: &TrialScoreboard,
    latest: &[Opportunity],
) -> anyhow::Result<()> {
    let Some(file) = &args.html else { return Ok(()) };
    output::write_page(file, report::trial::html(board, latest).as_bytes())?;
    output::print_message(&format!("Report: {}", output::path(file)));
    if args.open {
        open::that_detached(file).with_context(|| format!("cannot open {}", output::path(file)))?;
    }
    Ok(())
}
