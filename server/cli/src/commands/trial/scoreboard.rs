//! `ghostbench trial scoreboard`: which arm is better.

use std::collections::VecDeque;

use anyhow::Context;
use cases::Opportunity;
use report::format::opportunities;
use scoring::trial_scoreboard::TrialSettings;
use scoring::{TrialLog, TrialScoreboard};
use trial::assignment::rename_arms;

use crate::args::{ReportFormat, TrialScoreboardArgs};
use crate::output::{self, print_message};
use crate::progress::Progress;
use crate::steps::trial_rows;

/// Most opportunities that the page can show with their texts.
const SHOWN_WITH_TEXTS: usize = 200;

/// Runs the command.
pub(crate) fn run(args: &TrialScoreboardArgs) -> anyhow::Result<()> {
    let mut log = TrialLog::new();
    let hidden = trial_rows::hidden_names(&args.files, &args.workspace, args.trial.as_deref())?;
    if !hidden.is_empty() {
        print_message(
            "note: the duel runs, so that the names of its engines are hidden; `ghostbench trial stop` reveals them",
        );
    }
    let mut latest: VecDeque<Opportunity> = VecDeque::new();
    let progress = Progress::spinner("read");
    let trial = trial_rows::visit(
        &args.files,
        &args.workspace,
        args.trial.as_deref(),
        args.html.is_some(),
        |mut row| {
            if !hidden.is_empty() {
                rename_arms(&mut row, &hidden);
            }
            log.add(&row);
            if args.html.is_some() && row.truth().is_some() {
                latest.retain(|earlier| earlier.id != row.id);
                latest.push_back(row);
                if latest.len() > SHOWN_WITH_TEXTS {
                    latest.pop_front();
                }
            }
        },
    )?;
    progress.finish(&opportunities(log.len() as u64));
    for (arm, day) in trial_rows::drifts(&args.workspace, trial.as_ref())? {
        let shown = hidden.iter().find(|(name, _)| *name == arm).map(|(_, shown)| shown.clone());
        log.add_drift(shown.unwrap_or(arm), day);
    }
    let asked = trial.map_or_else(TrialSettings::default, |trial| TrialSettings::of_trial(&trial));
    let settings = TrialSettings {
        metric: args.metric.unwrap_or(asked.metric),
        margin: args.margin.unwrap_or(asked.margin),
        weights: args.weights,
    };
    let board = log.scoreboard(&settings);
    write_page(args, &board, latest.make_contiguous())?;
    let text = match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Table => report::trial::table(&board, output::style()),
        ReportFormat::Markdown => report::trial::markdown(&board),
        ReportFormat::Json => report::trial::json(&board),
    };
    Ok(output::print(&text)?)
}

fn write_page(
    args: &TrialScoreboardArgs,
    board: &TrialScoreboard,
    latest: &[Opportunity],
) -> anyhow::Result<()> {
    let Some(file) = &args.html else { return Ok(()) };
    private_files::write(file, report::trial::html(board, latest).as_bytes())
        .with_context(|| format!("cannot write {}; choose another place with --html", output::path(file)))?;
    output::print_message(&format!("Report: {}", output::path(file)));
    if args.open {
        open::that_detached(file).with_context(|| format!("cannot open {}", output::path(file)))?;
    }
    Ok(())
}
