//! `ghostbench/scoreboard`: how the engines compare on the recorded cases, by the last replay of all of them.

use std::path::Path;
use std::sync::Arc;

use index::Cancel;
use replay::WholeRun;
use report::RunReport;
use report::terminal::Style;
use serde_json::Value;
use tower_lsp_server::jsonrpc::Result;

use crate::beside::{beside, beside_while_wanted};
use crate::ext::{ScoreboardParams, ScoreboardResult};
use crate::moment::Moment;
use crate::server::Server;
use crate::summaries::known;

pub(crate) async fn scoreboard(server: Server, params: Option<ScoreboardParams>) -> Result<ScoreboardResult> {
    let moment = Moment::of_request();
    let document = params.and_then(|params| params.text_document);
    let folder = server.folder_of(&moment, document.as_ref()).await?;
    let known = known(&server, &folder).await?;
    let suite = folder.recorded.suite().path();
    let counted = Arc::clone(&known);
    let cases = beside(move || counted.suite.count()).await?;
    let Some(WholeRun { folder: run, cases: covered }) = known.whole().cloned() else {
        let nothing = "No replay of the whole suite yet.";
        let (markdown, text) = (nothing.to_owned(), nothing.to_owned());
        return Ok(ScoreboardResult { suite, cases, run: None, summary: None, markdown, text });
    };
    let read = run.clone();
    let (summary, markdown, text) =
        beside_while_wanted(move |cancel| board(&read, cases.saturating_sub(covered), cancel)).await?;
    Ok(ScoreboardResult { suite, cases, run: Some(run), summary: Some(summary), markdown, text })
}

/// How tables look in an editor's window.
const STYLE: Style = Style { color: false, width: 100, unicode: true };

/// The run's summary as JSON, as Markdown and in columns.
fn board(
    run: &Path,
    recorded_since: usize,
    cancel: &Cancel,
) -> std::result::Result<(Value, String, String), String> {
    let go_on = || if cancel.is_cancelled() { Err("cancelled".to_owned()) } else { Ok(()) };
    let contents = replay::read_run(run).map_err(|error| error.to_string())?;
    go_on()?;
    let scores = replay::scores_of(run, &contents);
    go_on()?;
    let mut notes = report::notes(&contents.run, &contents.cases, &contents.predictions);
    if recorded_since > 0 {
        notes.push(format!("Recorded since then, and not in these numbers: {recorded_since}."));
    }
    let report = RunReport {
        run: &contents.run,
        cases: &contents.cases,
        predictions: &contents.predictions,
        scores: &scores,
        notes: &notes,
    };
    let summary = report.summary();
    let json = serde_json::from_str(&report::json(&summary)).map_err(|error| error.to_string())?;
    let text = report::terminal::table(&summary, STYLE, &[]);
    Ok((json, report::markdown(&summary), text))
}
