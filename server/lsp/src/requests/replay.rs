//! `ghostbench/replay`: asks the engines recorded cases again, with progress, until it is done or cancelled.

use std::path::PathBuf;
use std::sync::Arc;

use cases::Case;
use index::Cancel;
use replay::{Answers, ConfiguredEngine, Questions, RecordedCase, Stop};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::background_threads;
use crate::beside::{beside, beside_while_wanted, failed, no_case, no_folder};
use crate::ext::{ReplayParams, ReplayResult, Target};
use crate::folders::Folder;
use crate::moment::Moment;
use crate::progress::{Shown, Step, Work};
use crate::recorded::Known;
use crate::server::Server;
use crate::summaries::{Summaries, known};

/// Seed of the intervals, as on the command line.
const SEED: u64 = 1;

pub(crate) async fn replay(server: Server, params: ReplayParams) -> Result<ReplayResult> {
    let moment = Moment::of_request();
    let (folder, cases) = chosen(&server, &moment, &params).await?;
    if cases.is_empty() {
        return Err(failed("nothing is recorded here yet; record a case first"));
    }
    let work = moment.work.clone().unwrap_or_else(|| Arc::new(server.works.begin_anew()));
    let shown = Shown::begin(&server, &work, "Ghostbench asks again", true);
    // Cancelling the request drops this, and with it what engines are at.
    let (run, answers) = make(&server, &folder, cases.clone(), &work, &shown).await?;
    shown.end().await;
    server.refresh_lenses();
    let summaries = Summaries::of_folder(&server, &folder, &moment.documents).await?;
    let known = Arc::clone(&summaries.known);
    let replayed = beside(move || {
        let found = cases.iter().map(|case| known.case(&case.id));
        found.filter_map(std::result::Result::transpose).collect::<std::result::Result<Vec<_>, _>>()
    });
    Ok(ReplayResult {
        run,
        requests: answers.predictions.len(),
        planned: answers.planned,
        cancelled: !answers.is_finished(),
        cases: replayed.await?.iter().map(|case| summaries.of(case)).collect(),
    })
}

/// The cases that are meant, and the folder they belong to.
async fn chosen(server: &Server, moment: &Moment, params: &ReplayParams) -> Result<(Arc<Folder>, Vec<Case>)> {
    match params.target {
        Target::Case => match &params.case {
            Some(id) => one(server, id).await,
            None => Err(Error::invalid_params("to replay a case, name it: case")),
        },
        Target::File => {
            let Some(document) = &params.text_document else {
                return Err(Error::invalid_params("to replay a file, name its textDocument"));
            };
            let home = server.folders.home(&*moment.document(&document.uri)?).await;
            let folder = home.folder.ok_or_else(no_folder)?;
            let known = known(server, &folder).await?;
            let cases = loaded(&known, move |known| known.of_file(&home.path)).await?;
            Ok((folder, cases))
        }
        Target::Suite => {
            let folder = server.folder_of(moment, params.text_document.as_ref()).await?;
            let known = known(server, &folder).await?;
            let cases = loaded(&known, |known| known.suite.cases()).await?;
            Ok((folder, cases))
        }
    }
}

async fn one(server: &Server, id: &str) -> Result<(Arc<Folder>, Vec<Case>)> {
    for folder in server.folders.all() {
        let (known, wanted) = (known(server, &folder).await?, id.to_owned());
        let cases = loaded(&known, move |known| Ok(known.case(&wanted)?.into_iter().collect())).await?;
        if !cases.is_empty() {
            return Ok((folder, cases));
        }
    }
    Err(no_case(id))
}

/// The cases that `choose` chooses, with their texts.
async fn loaded(
    known: &Arc<Known>,
    choose: impl FnOnce(&Known) -> std::result::Result<Vec<Arc<RecordedCase>>, replay::Error> + Send + 'static,
) -> Result<Vec<Case>> {
    let known = Arc::clone(known);
    let loading = move |cancel: &Cancel| {
        let wanted = choose(&known)?;
        wanted.iter().take_while(|_| !cancel.is_cancelled()).map(|case| known.suite.load(case)).collect()
    };
    beside_while_wanted(loading).await
}

/// Makes the run, and gives its folder.
async fn make(
    server: &Server,
    folder: &Arc<Folder>,
    cases: Vec<Case>,
    work: &Work,
    shown: &Shown,
) -> Result<(PathBuf, Answers)> {
    let contents = folder.contents_when_read().await;
    let settings = server.settings_in(Some(folder)).await?;
    let engines: Vec<ConfiguredEngine> =
        settings.served.engines.iter().map(|engine| engine.replayed.clone()).collect();
    let name = folder.recorded.suite().name().to_owned();
    let state = contents.code.as_ref().map(|code| code.state.clone());
    let run = replay::describe(folder.name.clone(), &cases, &engines, state, SEED, 1);
    let data = server.setup.data.clone();
    let path = beside(move || data.new_run(&name)).await?;
    let questions = Questions {
        cases: cases.into(),
        engines: engines.into(),
        world: contents.world.clone(),
        copies: Arc::default(),
        jobs: background_threads().get(),
    };
    let told = |done, total| {
        shown.steps.send_replace(Step { done, total });
    };
    let made = replay::replay(path.clone(), run, questions, Stop::at_once(work.stop.clone()), told).await;
    let (answers, _) = made.map_err(failed)?;
    Ok((path, answers))
}
