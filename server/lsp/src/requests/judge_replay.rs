//! Judges the answers of a replay by unit tests. A replay is complete without them: whatever prevents judging is logged.

use std::path::Path;
use std::sync::Arc;

use replay::ReplayError;
use session::{Folder, JudgedReplay, Progress, RecordedCases};
use tokio::sync::watch;
use tower_lsp_server::jsonrpc::Result;

use crate::case_summaries::suite_cases;
use crate::progress::ProgressTask;
use crate::run_blocking::{indexed_state, run_blocking};
use crate::server::Server;

/// Judges the answers of the run in the folder `run` to cases with tests, and returns the number of judged answers. Once the request is
/// cancelled or the task stopped, running tests are killed.
pub(crate) async fn judge_replay(
    server: &Server,
    folder: &Arc<Folder>,
    suite: &Arc<RecordedCases>,
    run: &Path,
    work: &ProgressTask,
    progress: &watch::Sender<Progress>,
) -> Result<usize> {
    let settings = server.settings_in(Some(folder)).await?;
    let Some(code) = indexed_state(folder).await?.code_version else { return Ok(0) };
    if !settings.config.tests.judges_in_editor || settings.is_restricted || work.stop.is_cancelled() {
        return Ok(0);
    }
    let known = suite_cases(server, folder, suite).await?;
    let stop = work.stop.child_token();
    let _stops_with_request = stop.clone().drop_guard();
    let (folder, run, progress) = (Arc::clone(folder), run.to_owned(), progress.clone());
    let judging = run_blocking(move || {
        let judge = || {
            let contents = replay::read_run(&run)?;
            let path = |case: &cases::Case| known.current_path(&case.path).to_owned();
            let replayed = JudgedReplay {
                root: &folder.root,
                tree_hash: &code.state.tree_hash,
                settings: &settings.config.tests,
                run: &run,
                paths: contents.cases.iter().map(path).collect(),
                contents,
                stop: &stop,
            };
            folder.tests.judge(replayed, |step| {
                progress.send_replace(step);
            })
        };
        Ok::<_, std::convert::Infallible>(judge())
    });
    let judged = judging.await?;
    Ok(judged.unwrap_or_else(|error| {
        server.warn(format!("unit tests did not judge this replay: {}", first_line(&error)));
        0
    }))
}

/// Returns the first line of a message: output of tests may quote code, which is not logged.
fn first_line(error: &ReplayError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
