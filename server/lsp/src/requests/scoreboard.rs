//! `ghostbench/scoreboard`: compares the engines on the recorded cases, by the latest replay of all of them, or the arms of a trial.

use std::path::Path;
use std::sync::Arc;

use index::CancelFlag;
use replay::SuiteRun;
use report::terminal::Style;
use scoring::RunRows;
use scoring::run_summary::{RunNote, completeness_notes};
use serde_json::Value;
use tower_lsp_server::jsonrpc::Result;
use trial::proposal::net_weights;

use crate::case_summaries::recorded_cases;
use crate::ext::{ScoreboardParams, ScoreboardResult};
use crate::request_context::RequestContext;
use crate::requests::trial_scoreboard::{TrialBoard, trial_board};
use crate::run_blocking::{run_blocking, run_cancellable};
use crate::server::Server;

pub(crate) async fn scoreboard(
    server: Server,
    context: RequestContext,
    params: Option<ScoreboardParams>,
) -> Result<ScoreboardResult> {
    let ScoreboardParams { text_document, trial } = params.unwrap_or_default();
    let folder = server.folder_of(&context, text_document.as_ref()).await?;
    let known = recorded_cases(&server, &folder).await?;
    let suite = folder.recorded_cases.suite().path();
    let counted = Arc::clone(&known);
    let cases = run_blocking(move || counted.suite.count()).await?;
    if trial {
        let place = server.trial.place(&folder.root);
        let weights = net_weights(&server.settings_in(Some(&folder)).await?.config);
        let board = run_cancellable(move |cancel| trial_board(&place, weights, STYLE, cancel)).await?;
        let TrialBoard { name, summary, markdown, text } = board;
        let (trial, summary) = (Some(name), Some(summary));
        return Ok(ScoreboardResult { suite, cases, run: None, trial, summary, markdown, text });
    }
    let Some(SuiteRun { folder: run, cases: covered }) = known.suite_run().cloned() else {
        let nothing = "No replay of the whole suite yet.";
        let (markdown, text) = (nothing.to_owned(), nothing.to_owned());
        return Ok(ScoreboardResult { suite, cases, run: None, trial: None, summary: None, markdown, text });
    };
    let read = run.clone();
    let (summary, markdown, text) =
        run_cancellable(move |cancel| render_board(&read, cases.saturating_sub(covered), cancel)).await?;
    let (run, summary) = (Some(run), Some(summary));
    Ok(ScoreboardResult { suite, cases, run, trial: None, summary, markdown, text })
}

/// Style of tables in an editor's window.
const STYLE: Style = Style { color: false, width: 100, unicode: true };

/// The run's summary as JSON, as Markdown and in columns.
fn render_board(
    run: &Path,
    recorded_since: usize,
    cancel: &CancelFlag,
) -> std::result::Result<(Value, String, String), String> {
    let go_on = || if cancel.is_cancelled() { Err("cancelled".to_owned()) } else { Ok(()) };
    let contents = replay::read_run(run).map_err(|error| error.to_string())?;
    go_on()?;
    let scores = replay::scores_of(run, &contents).scores;
    go_on()?;
    let mut notes = completeness_notes(&contents.run, &contents.cases, &contents.predictions);
    if recorded_since > 0 {
        notes.push(RunNote::NewerCases(recorded_since));
    }
    let report = RunRows {
        run: &contents.run,
        cases: &contents.cases,
        predictions: &contents.predictions,
        scores: &scores,
        judgements: &[],
        notes: &notes,
    };
    let summary = report.summary();
    let json = serde_json::from_str(&report::json(&summary)).map_err(|error| error.to_string())?;
    let text = report::terminal::table(&summary, &[], STYLE, &[]);
    Ok((json, report::markdown(&summary), text))
}
