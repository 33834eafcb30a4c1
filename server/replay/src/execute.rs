//! Executes a run, from its description to the rows on disk. Callers print, show or return the result.

use std::error::Error;
use std::future::Future;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use cases::{Case, Prediction, Run, SchemaVersion, Score, WorkspaceState, suite_hash};
use completion::ConfiguredEngine;

use crate::ReplayError;
use crate::answer_log::AnswerLog;
use crate::background_scoring::BackgroundScorer;
use crate::blocking_work::run_blocking;
use crate::machine::machine;
use crate::plan::{Attempt, plan};
use crate::request_slots::StopSignal;
use crate::run_folder::{RunFolder, ScoresFile, write_scores};
use crate::run_scores::{ScoresByKey, complete_scores};
use crate::runner::{RunInputs, engine_config, run_attempts};
use crate::spend::{ReachedLimit, SpendGuard, SpendLimits};

/// The answers of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunAnswers {
    /// Predictions in the order of completion, those of a resumed run first; an answer to a repeated request is at the place of the failed
    /// one.
    pub predictions: Vec<Prediction>,
    /// Number of answers that are still missing, or were to be repeated.
    pub missing: usize,
    /// The limit that ended the run, if one did.
    pub limit: Option<ReachedLimit>,
    /// The scores of the predictions, in their order.
    pub scores: Vec<Score>,
}

impl RunAnswers {
    /// Whether all engines answered all cases.
    pub fn is_finished(&self) -> bool {
        self.missing == 0
    }
}

/// Which requests of a run are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestPlan {
    /// Number of requests per case.
    pub repeat: u32,
    /// Whether failed requests are repeated.
    pub retries_failed: bool,
    /// Limits of the run.
    pub limits: SpendLimits,
}

impl RequestPlan {
    /// Makes all requests once, without limits.
    pub fn new(repeat: u32) -> RequestPlan {
        RequestPlan { repeat, retries_failed: false, limits: SpendLimits::default() }
    }

    /// Returns the attempts that are missing in `done`.
    pub(crate) fn attempts(&self, inputs: &RunInputs, done: &[Prediction]) -> PlannedAttempts {
        let names: Vec<String> = inputs.engines.iter().map(|engine| engine.name().to_owned()).collect();
        let answered: Vec<&Prediction> =
            done.iter().filter(|row| !(self.retries_failed && row.has_failed())).collect();
        let mut attempts = plan(&inputs.cases, &names, self.repeat, answered);
        let engine_and_case =
            |attempt: &Attempt| (&inputs.engines[attempt.engine], &inputs.cases[attempt.case]);
        attempts.retain(|attempt| {
            let (engine, case) = engine_and_case(attempt);
            inputs.copies.needs_row(engine, case)
        });
        let (reused, requests) = attempts.into_iter().partition(|attempt| {
            let (engine, case) = engine_and_case(attempt);
            inputs.copies.engine_with_same_request(engine, case).is_some()
        });
        PlannedAttempts { requests, reused }
    }
}

/// The missing attempts of a run.
pub(crate) struct PlannedAttempts {
    /// Attempts with a request.
    pub(crate) requests: Vec<Attempt>,
    /// Attempts whose request equals that of the same engine with all files, and which get its answer.
    pub(crate) reused: Vec<Attempt>,
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
    execute(&mut rows, Vec::new(), RequestPlan::new(run.repeat), &questions, &stop, tell).await
}

/// Makes the requests of a run: in this process, or elsewhere.
pub trait RequestRunner {
    /// Makes the requests, masks secrets in the answers, and passes each with the index of its case to `record` in the order of
    /// completion, until all are finished, `stop` is signalled or `record` returns `Break`. Reserves each request in `stop` first.
    ///
    /// # Errors
    ///
    /// Further requests cannot be made. All answers so far are recorded.
    fn run(
        self,
        attempts: Vec<Attempt>,
        inputs: &RunInputs,
        stop: &StopSignal,
        record: impl FnMut(usize, Prediction) -> ControlFlow<()>,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>>;
}

/// Makes requests in this process.
struct ThisProcess;

impl RequestRunner for ThisProcess {
    async fn run(
        self,
        attempts: Vec<Attempt>,
        inputs: &RunInputs,
        stop: &StopSignal,
        record: impl FnMut(usize, Prediction) -> ControlFlow<()>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        run_attempts(attempts, inputs, cases::redact_prediction, stop, record).await;
        Ok(())
    }
}

/// Runs the attempts that are missing in `done` in this process; see [`execute_on`].
pub async fn execute(
    rows: &mut RunFolder,
    done: Vec<Prediction>,
    requests: RequestPlan,
    questions: &RunInputs,
    stop: &StopSignal,
    tell: impl FnMut(usize, usize),
) -> Result<RunAnswers, ReplayError> {
    execute_on(ThisProcess, rows, done, requests, questions, stop, tell).await
}

/// Runs the attempts that are missing in `done`; masks secrets in each answer and appends it to the run before it is counted. Scores
/// cases as soon as all engines have answered them, and writes the scores of all answers at the end.
///
/// `tell` receives the number of finished requests and the total, first at the start.
pub async fn execute_on(
    runner: impl RequestRunner,
    rows: &mut RunFolder,
    done: Vec<Prediction>,
    requests: RequestPlan,
    questions: &RunInputs,
    stop: &StopSignal,
    mut tell: impl FnMut(usize, usize),
) -> Result<RunAnswers, ReplayError> {
    let attempts = requests.attempts(questions, &done);
    let guard = SpendGuard::new(requests.limits, questions, &done);
    let stop = guard.iter().cloned().fold(stop.clone(), StopSignal::with_guard);
    let folder = rows.path().to_owned();
    let mut scorer = BackgroundScorer::start(&questions.cases, [&attempts.requests, &attempts.reused]);
    let mut log = AnswerLog::new(rows, done, questions, &attempts)?;
    let planned = log.predictions.len() + log.missing - log.repeated.len();
    tell(planned - log.missing, planned);
    log.reuse_known_answers(|case, row| scorer.add(case, row))?;
    let mut failure = None;
    let record = |case: usize, prediction: Prediction| {
        let recorded = log.record(case, prediction, |case, row| scorer.add(case, row));
        tell(planned - log.missing, planned);
        match recorded {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let ran = runner.run(attempts.requests, questions, &stop, record).await;
    if let Some(error) = failure {
        return Err(error);
    }
    ran.map_err(|reason| ReplayError::Requests { reason })?;
    let AnswerLog { predictions, missing, .. } = log;
    let limit = guard.and_then(|guard| guard.reached());
    let cases = Arc::clone(&questions.cases);
    run_blocking(move |cancel| {
        let goes_on = || !cancel.is_cancelled();
        // Answers of an earlier process have stored scores.
        let mut known = ScoresByKey::read(&ScoresFile::of(&folder));
        known.extend(scorer.finish(&goes_on));
        let scores = complete_scores(known, &cases, &predictions, &goes_on).scores;
        if goes_on() {
            write_scores(&folder, &scores)?;
        }
        Ok(RunAnswers { predictions, missing, limit, scores })
    })
    .await
}
