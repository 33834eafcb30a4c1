//! `ghostbench/replay`: replays recorded cases, or those of an open suite, with progress, until all are done and judged by their unit
//! tests, or the request is cancelled.

use std::path::PathBuf;
use std::sync::Arc;

use cases::Case;
use completion::ConfiguredEngine;
use replay::{RecordedCase, RunAnswers, RunInputs, StopSignal};
use session::{Folder, Progress, RecordedCases, RecordedSnapshot, Role, background_threads};
use tokio::sync::watch;
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::case_summaries::{CaseSummaries, recorded_cases, suite_cases};
use crate::ext::{ReplayParams, ReplayResult, ReplayTarget};
use crate::progress::{ProgressDisplay, ProgressTask};
use crate::request_context::RequestContext;
use crate::requests::judge_replay::judge_replay;
use crate::requests::suite::opened_suite;
use crate::run_blocking::{
    indexed_state, no_case_error, no_folder_error, request_failed, run_blocking, run_cancellable,
};
use crate::server::Server;

/// Seed of the confidence intervals, as on the command line.
const SEED: u64 = 1;

pub(crate) async fn replay(
    server: Server,
    context: RequestContext,
    params: ReplayParams,
) -> Result<ReplayResult> {
    let ChosenCases { folder, suite, cases } = chosen_cases(&server, &context, &params).await?;
    if cases.is_empty() {
        return Err(request_failed("nothing is recorded here yet; record a case first"));
    }
    let work = context
        .progress_task
        .clone()
        .unwrap_or_else(|| Arc::new(server.progress_tasks.begin_server_initiated()));
    let (progress, steps) = watch::channel(Progress::default());
    let display = ProgressDisplay::begin(&server, &work, "Ghostbench replays cases", true, steps);
    // Cancelling the request drops this future and stops the engines.
    let (run, answers) = run_replay(&server, &folder, &suite, cases.clone(), &work, &progress).await?;
    server.refresh_lenses();
    let judged = judge_replay(&server, &folder, &suite, &run, &work, &progress).await?;
    drop(progress);
    display.end().await;
    if judged > 0 {
        server.refresh_lenses();
    }
    if let [case] = cases.as_slice() {
        server.refresh_answers(case);
    }
    let summaries = CaseSummaries::of_suite(&server, &folder, &suite, &context).await?;
    let known = Arc::clone(&summaries.recorded);
    let replayed = run_blocking(move || {
        let found = cases.iter().map(|case| known.case(&case.id));
        found.filter_map(std::result::Result::transpose).collect::<std::result::Result<Vec<_>, _>>()
    });
    Ok(ReplayResult {
        run,
        requests: answers.predictions.len(),
        planned: answers.predictions.len() + answers.missing,
        cancelled: !answers.is_finished(),
        cases: replayed.await?.iter().map(|case| summaries.summary(case)).collect(),
    })
}

/// The selected cases.
struct ChosenCases {
    folder: Arc<Folder>,
    /// Their suite: the recorded cases, or one that the user opened.
    suite: Arc<RecordedCases>,
    cases: Vec<Case>,
}

async fn chosen_cases(
    server: &Server,
    context: &RequestContext,
    params: &ReplayParams,
) -> Result<ChosenCases> {
    match params.target {
        ReplayTarget::Case => match &params.case {
            Some(id) => single_case(server, id).await,
            None => Err(Error::invalid_params("target `case` needs the parameter `case`")),
        },
        ReplayTarget::File => {
            let Some(document) = &params.text_document else {
                return Err(Error::invalid_params("target `file` needs the parameter `textDocument`"));
            };
            let home = server.folders.locate(&*context.document(&document.uri)?).await;
            let folder = home.folder.ok_or_else(no_folder_error)?;
            let known = recorded_cases(server, &folder).await?;
            let cases = load_cases(&known, move |known| known.of_file(&home.path)).await?;
            Ok(ChosenCases { suite: Arc::clone(&folder.recorded_cases), folder, cases })
        }
        ReplayTarget::Suite => {
            let (folder, suite) = match &params.suite {
                Some(suite) => opened_suite(server, suite)?,
                None => {
                    let folder = server.folder_of(context, params.text_document.as_ref()).await?;
                    (Arc::clone(&folder), Arc::clone(&folder.recorded_cases))
                }
            };
            let known = suite_cases(server, &folder, &suite).await?;
            let cases = load_cases(&known, |known| known.suite.cases()).await?;
            Ok(ChosenCases { folder, suite, cases })
        }
    }
}

async fn single_case(server: &Server, id: &str) -> Result<ChosenCases> {
    for folder in server.folders.all() {
        for suite in folder.suites() {
            let (known, wanted) = (suite_cases(server, &folder, &suite).await?, id.to_owned());
            let cases =
                load_cases(&known, move |known| Ok(known.case(&wanted)?.into_iter().collect())).await?;
            if !cases.is_empty() {
                return Ok(ChosenCases { folder, suite, cases });
            }
        }
    }
    Err(no_case_error(id))
}

/// Loads the cases that `choose` selects, with their texts.
async fn load_cases(
    known: &Arc<RecordedSnapshot>,
    choose: impl FnOnce(&RecordedSnapshot) -> std::result::Result<Vec<Arc<RecordedCase>>, replay::ReplayError>
    + Send
    + 'static,
) -> Result<Vec<Case>> {
    let known = Arc::clone(known);
    run_cancellable(move |cancel| {
        let wanted = choose(&known)?;
        wanted.iter().take_while(|_| !cancel.is_cancelled()).map(|case| known.suite.load(case)).collect()
    })
    .await
}

/// Runs the replay and returns the run's folder.
async fn run_replay(
    server: &Server,
    folder: &Arc<Folder>,
    suite: &Arc<RecordedCases>,
    cases: Vec<Case>,
    work: &ProgressTask,
    progress: &watch::Sender<Progress>,
) -> Result<(PathBuf, RunAnswers)> {
    let read = indexed_state(folder).await?;
    let settings = server.settings_in(Some(folder)).await?;
    let engines: Vec<ConfiguredEngine> = settings.engine_set.in_role(Role::Replay).cloned().collect();
    let state = read.code_version.as_ref().map(|code| code.state.clone());
    let run = replay::describe_run(folder.name.clone(), &cases, &engines, state, SEED, 1);
    let suite = Arc::clone(suite);
    let path = run_blocking(move || suite.new_run()).await?;
    let questions = RunInputs {
        cases: cases.into(),
        engines: engines.into(),
        world: (*read.index).clone(),
        copies: Arc::default(),
        jobs: background_threads().get(),
    };
    let made = replay::replay(
        path.clone(),
        run,
        questions,
        StopSignal::immediately(work.stop.clone()),
        |done, total| {
            progress.send_replace(Progress { done, total });
        },
    )
    .await;
    Ok((path, made.map_err(request_failed)?))
}
