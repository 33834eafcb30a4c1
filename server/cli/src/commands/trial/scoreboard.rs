//! `ghostbench trial scoreboard`: which arm is better.

use std::collections::VecDeque;

use anyhow::Context;
use cases::Opportunity;
use scoring::trial_scoreboard::TrialSettings;
use scoring::{TrialLog, TrialScoreboard};

use crate::args::{ReportFormat, TrialScoreboardArgs};
use crate::output;
use crate::progress::Progress;
use crate::steps::trial_rows;

/// Most opportunities that the page can show with their texts.
const SHOWN_WITH_TEXTS: usize = 200;

/// Runs the command.
pub(crate) fn run(args: &TrialScoreboardArgs) -> anyhow::Result<()> {
    let mut log = TrialLog::new();
    let mut latest: VecDeque<Opportunity> = VecDeque::new();
    let progress = Progress::spinner("read");
    trial_rows::visit(&args.files, &args.workspace, args.trial.as_deref(), args.html.is_some(), |row| {
        log.add(&row);
        if args.html.is_some() && row.truth().is_some() {
            latest.retain(|earlier| earlier.id != row.id);
            latest.push_back(row);
            if latest.len() > SHOWN_WITH_TEXTS {
                latest.pop_front();
            }
        }
    })?;
    progress.finish(&format!("{} opportunities", log.len()));
    let settings = TrialSettings { metric: args.metric, margin: args.margin, weights: args.weights };
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
