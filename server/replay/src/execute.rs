//! Executes a run, from its description to the rows on disk. Callers print, show or return the result.

use std::future;
use std::ops::ControlFlow;
use std::panic;
use std::path::PathBuf;
use std::sync::Arc;

use cases::{Case, Prediction, Run, SchemaVersion, Score, WorkspaceState, suite_hash};
use completion::ConfiguredEngine;
use index::CancelFlag;
use tokio::task::JoinError;

use crate::ReplayError;
use crate::background_scoring::BackgroundScorer;
use crate::machine::machine;
use crate::plan::plan;
use crate::run_folder::{RunFolder, ScoresFile, write_scores};
use crate::run_scores::{ScoresByKey, complete_scores};
use crate::runner::{RunInputs, StopSignal, engine_config, run_attempts};

/// The answers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAnswers {
    /// Predictions in the order of completion, those of a resumed run first.
    pub predictions: Vec<Prediction>,
    /// Number of predictions of the finished run.
    pub planned: usize,
    /// The scores of the predictions, in their order.
    pub scores: Vec<Score>,
}

impl RunAnswers {
    /// Whether all engines answered all cases.
    pub fn is_finished(&self) -> bool {
        self.predictions.len() == self.planned
    }
}

/// Describes a run on this machine by this version.
pub fn describe_run(
    name: String,
    cases: &[Case],
    engines: &[ConfiguredEngine],
    workspace: Option<WorkspaceState>,
    seed: u64,
    repeat: u32,
) -> Run {
    Run {
        schema: SchemaVersion::CURRENT,
        tool: format!("ghostbench {}", env!("CARGO_PKG_VERSION")),
        name,
        suite: suite_hash(cases),
        seed,
        repeat,
        engines: engines.iter().map(engine_config).collect(),
        workspace,
        copies: Vec::new(),
        machine: machine(),
    }
}

/// Executes a run in a folder without a run, and scores its answers. If it is stopped early, finished answers are stored and
/// scored.
///
/// `tell` receives the number of finished requests and the total, first at the start.
pub async fn replay(
    folder: PathBuf,
    run: Run,
    questions: RunInputs,
    stop: StopSignal,
    tell: impl FnMut(usize, usize),
) -> Result<RunAnswers, ReplayError> {
    let RunInputs { cases, .. } = questions.clone();
    let (path, described) = (folder, run.clone());
    let mut rows = run_blocking(move |_| RunFolder::create(&path, &described, &cases)).await?;
    execute(&mut rows, Vec::new(), run.repeat, &questions, &stop, tell).await
}

/// Runs the attempts that are missing in `done`; masks secrets in each answer and appends it to the run before it is counted. Scores
/// cases as soon as all engines have answered them, and writes the scores of all answers at the end.
///
/// `tell` receives the number of finished requests and the total, first at the start.
pub async fn execute(
    rows: &mut RunFolder,
    done: Vec<Prediction>,
    repeat: u32,
    questions: &RunInputs,
    stop: &StopSignal,
    mut tell: impl FnMut(usize, usize),
) -> Result<RunAnswers, ReplayError> {
    let names: Vec<String> = questions.engines.iter().map(|engine| engine.name().to_owned()).collect();
    let mut attempts = plan(&questions.cases, &names, repeat, &done);
    attempts.retain(|attempt| {
        questions.copies.needs_request(&questions.engines[attempt.engine], &questions.cases[attempt.case])
    });
    let planned = done.len() + attempts.len();
    let mut predictions = done;
    let mut failure = None;
    tell(predictions.len(), planned);
    let mut scorer = BackgroundScorer::start(&questions.cases, &attempts);
    let record = |case: usize, prediction: Prediction| {
        if let Err(error) = rows.append(&prediction) {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        scorer.add(case, prediction.clone());
        predictions.push(prediction);
        tell(predictions.len(), planned);
        ControlFlow::Continue(())
    };
    run_attempts(attempts, questions, cases::redact_prediction, stop, record).await;
    if let Some(error) = failure {
        return Err(error);
    }
    let (cases, folder) = (Arc::clone(&questions.cases), rows.path().to_owned());
    run_blocking(move |cancel| {
        let goes_on = || !cancel.is_cancelled();
        // Answers of an earlier process have stored scores.
        let mut known = ScoresByKey::read(&ScoresFile::of(&folder));
        known.extend(scorer.finish(&goes_on));
        let scores = complete_scores(known, &cases, &predictions, &goes_on).scores;
        if goes_on() {
            write_scores(&folder, &scores)?;
        }
        Ok(RunAnswers { predictions, planned, scores })
    })
    .await
}

/// Runs slow work without blocking the threads that process requests; the flag is set when this future is dropped. Continues its
/// panics.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce(&CancelFlag) -> T + Send + 'static) -> T {
    match completion::run_blocking(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(reason)) => panic::resume_unwind(reason),
        // The runtime shuts down, so the result is not needed.
        Err(Err(_)) => future::pending().await,
    }
}
