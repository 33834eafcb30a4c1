//! `ghostbench/page`: the report of a replay or a trial as one page, for a view in the editor.

use std::path::Path;

use benchmarks::{ScoringRules, run_tables};
use index::CancelFlag;
use scoring::run_summary::completeness_notes;
use scoring::{ComparedRuns, RunRows, VerdictSettings};
use tower_lsp_server::jsonrpc::Result;
use trial::proposal::net_weights;

use crate::case_summaries::recorded_cases;
use crate::ext::{PageKind, PageParams, PageResult};
use crate::request_context::RequestContext;
use crate::requests::trial_scoreboard::read_board;
use crate::run_blocking::{request_failed, run_cancellable};
use crate::server::Server;

/// Most opportunities that the page of a trial shows with their texts, as on the command line.
const SHOWN_WITH_TEXTS: usize = 200;

pub(crate) async fn page(server: Server, context: RequestContext, params: PageParams) -> Result<PageResult> {
    let folder = server.folder_of(&context, params.text_document.as_ref()).await?;
    match params.kind {
        PageKind::Trial => {
            let place = server.trial.place(&folder.root);
            let weights = net_weights(&server.settings_in(Some(&folder)).await?.config);
            run_cancellable(move |cancel| {
                let read = read_board(&place, weights, SHOWN_WITH_TEXTS, cancel)?;
                let html = report::trial::html(&read.board, &read.latest);
                Ok::<_, String>(PageResult { title: format!("trial {}", read.name), html })
            })
            .await
        }
        PageKind::Replay => {
            let known = recorded_cases(&server, &folder).await?;
            let Some(replayed) = known.suite_run() else {
                return Err(request_failed("the recorded cases were not replayed yet; replay them first"));
            };
            let (run, name) = (replayed.folder.clone(), folder.name.clone());
            let html = run_cancellable(move |cancel| replay_page(&run, cancel)).await?;
            Ok(PageResult { title: format!("report on {name}"), html })
        }
    }
}

/// Renders the report of a run, as `ghostbench report` writes it.
fn replay_page(run: &Path, cancel: &CancelFlag) -> std::result::Result<String, String> {
    let go_on = || if cancel.is_cancelled() { Err("cancelled".to_owned()) } else { Ok(()) };
    let contents = replay::read_run(run).map_err(|error| error.to_string())?;
    go_on()?;
    let scores = replay::scores_of(run, &contents).scores;
    go_on()?;
    let notes = completeness_notes(&contents.run, &contents.cases, &contents.predictions);
    let report = RunRows {
        run: &contents.run,
        cases: &contents.cases,
        predictions: &contents.predictions,
        scores: &scores,
        judgements: &replay::judgements(run),
        notes: &notes,
    };
    let runs = ComparedRuns::new(&[report]);
    let question = VerdictSettings::new(contents.run.seed);
    let summary = report.summary_with(&runs, &question).map_err(|error| error.to_string())?;
    go_on()?;
    let tables = run_tables(&contents.cases, &contents.predictions, ScoringRules::Paper);
    Ok(report::html(&report, &runs, &summary, &tables))
}
