//! Runs engines over a suite. Each answer is written to disk before it is counted.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use cases::{Case, Prediction, Run, Score};
use completion::{ConfiguredEngine, WorkspaceIndex};
use replay::{
    RequestPlan, RunAnswers, RunContents, RunEstimate, RunFolder, RunInputs, StopSignal, TruthCopies, cores,
};
use tokio::runtime::{self, Runtime};

use crate::args::{EngineArgs, LimitArgs, NoCopiesArg};
use crate::exit::{InterruptedError, LimitError};
use crate::interrupt::stop_token;
use crate::output::{count, error_style, print_message, shell_quoted};
use crate::progress::Progress;
use crate::steps::estimate::{self, check_budget, estimate};
use crate::steps::ray_cluster::ClusterRun;

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStart {
    /// In a folder without a run.
    New,
    /// An incomplete run of the same engines continues.
    Resume,
    /// A run gets further engines.
    Extend,
}

/// A run to start, resume or extend.
pub(crate) struct ReplayJob<'a> {
    /// The suite, the engines, and the code that they may read.
    pub(crate) inputs: RunInputs,
    /// Which requests are made.
    pub(crate) plan: RequestPlan,
    /// Content of `run.json`.
    pub(crate) run: Run,
    /// The run's folder.
    pub(crate) folder: PathBuf,
    /// The contents of the folder.
    pub(crate) start: RunStart,
    /// The workspace's path, for the command that resumes the run.
    pub(crate) workspace: Option<&'a Path>,
    /// The engine arguments of the command line.
    pub(crate) args: &'a EngineArgs,
    /// The cluster that makes the requests; `None` for this process.
    pub(crate) cluster: Option<ClusterRun>,
}

/// A replayed run.
pub(crate) struct FinishedReplay {
    /// The run.
    pub(crate) contents: RunContents,
    /// The scores of its answers.
    pub(crate) scores: Vec<Score>,
    /// The estimate that was shown, if engines outside of this process were asked.
    pub(crate) estimate: Option<RunEstimate>,
    /// The command that repeats failed requests, if there are any.
    pub(crate) retry: Option<String>,
}

/// Returns the inputs of a run.
pub(crate) fn run_inputs(
    cases: Vec<Case>,
    engines: Vec<ConfiguredEngine>,
    world: WorkspaceIndex,
    copies: TruthCopies,
    args: &EngineArgs,
) -> RunInputs {
    RunInputs {
        cases: cases.into(),
        engines: engines.into(),
        world,
        copies: copies.into(),
        jobs: args.jobs.map_or_else(cores, NonZeroUsize::get),
    }
}

/// Makes the missing requests, and returns the whole run with its scores. Ctrl-C and limits keep the finished ones and print how to
/// resume.
pub(crate) fn run_replay(asking: ReplayJob<'_>) -> anyhow::Result<FinishedReplay> {
    check_budget(&asking.args.limits, &asking.inputs)?;
    let (mut rows, run, done) = open_run(&asking)?;
    let estimate = asks_others(&asking).then(|| estimate(&asking.inputs, &asking.plan, &done, &run.name));
    let estimate = estimate.filter(RunEstimate::has_external_requests);
    if let Some(estimate) = &estimate {
        print_message(estimate::text(estimate, error_style()).trim_end());
    }
    let token = stop_token().context("cannot listen for Ctrl-C")?;
    let stop = StopSignal::after_pending(token.clone());
    let progress = Progress::new("replayed", "requests");
    let (mut finished, mut total) = (0, 0);
    let tell = |done, planned| {
        (finished, total) = (done, planned);
        progress.set(done as u64, planned as u64);
    };
    let (plan, inputs) = (asking.plan, &asking.inputs);
    let runtime = runtime()?;
    let answers = match asking.cluster.as_ref().map(|cluster| cluster.runner.clone()) {
        Some(runner) => {
            runtime.block_on(replay::execute_on(runner, &mut rows, done, plan, inputs, &stop, tell))
        }
        None => runtime.block_on(replay::execute(&mut rows, done, plan, inputs, &stop, tell)),
    };
    token.cancel();
    progress.finish(&format!("{finished} of {}", count(total, "request")));
    let answers = answers?;
    if let Some(limit) = answers.limit {
        let remedy = format!(
            "Resume with a higher limit: {}",
            resume_command(&asking, asking.plan.retries_failed, None)
        );
        return Err(LimitError { limit, remedy }.into());
    }
    if !answers.is_finished() {
        let limits = Some(asking.args.limits);
        let remedy = format!("Resume with: {}", resume_command(&asking, asking.plan.retries_failed, limits));
        return Err(InterruptedError { remedy }.into());
    }
    let RunAnswers { predictions, scores, .. } = answers;
    // The engines of an extended run are more than those of this command.
    let can_retry = asking.start != RunStart::Extend && predictions.iter().any(Prediction::has_failed);
    Ok(FinishedReplay {
        retry: can_retry.then(|| resume_command(&asking, true, Some(asking.args.limits))),
        contents: RunContents { run, cases: asking.inputs.cases, predictions },
        scores,
        estimate,
    })
}

/// Whether requests may leave this process.
fn asks_others(asking: &ReplayJob<'_>) -> bool {
    let mut kinds = asking.inputs.engines.iter().map(|engine| engine.engine.description().kind);
    !asking.args.cassette.offline && kinds.any(|kind| kind.is_external())
}

/// Returns the folder, the run's description in it, and the finished answers.
fn open_run(asking: &ReplayJob<'_>) -> anyhow::Result<(RunFolder, Run, Vec<Prediction>)> {
    let (folder, RunContents { run, predictions, .. }) = match asking.start {
        RunStart::New => {
            let folder = RunFolder::create(&asking.folder, &asking.run, &asking.inputs.cases)?;
            return Ok((folder, asking.run.clone(), Vec::new()));
        }
        RunStart::Resume => RunFolder::resume(&asking.folder, &asking.run)?,
        RunStart::Extend => RunFolder::extend(&asking.folder, &asking.run)?,
    };
    Ok((folder, run, predictions))
}

/// Returns the runtime for requests. Engines in this process share the cores, no matter how many requests are in flight. There are threads
/// beyond the cores, so that the next request does not wait until answers have been cleaned.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    let cores = cores();
    let (workers, started) = (2 * cores, AtomicUsize::new(0));
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(cores)
        .on_thread_start(move || {
            // The workers start first. They pass requests and answers on; the other threads compute.
            if started.fetch_add(1, Ordering::Relaxed) < workers {
                completion::take_short_turns();
            }
        })
        .enable_all()
        .build();
    runtime.context("cannot start threads")
}

/// Returns the command that resumes the run with these limits, quoted for a shell.
fn resume_command(asking: &ReplayJob<'_>, retries_failed: bool, limits: Option<LimitArgs>) -> String {
    let folder = shell_quoted(&asking.folder);
    let mut command = match (asking.start, retries_failed) {
        (RunStart::Extend, _) => format!("ghostbench replay --into {folder}"),
        (_, true) => format!("ghostbench replay --out {folder} --retry-failed"),
        (_, false) => format!("ghostbench replay --out {folder} --resume"),
    };
    if let Some(workspace) = asking.workspace {
        command += &format!(" --workspace {}", shell_quoted(workspace));
    }
    command.extend(
        asking.args.engines.iter().map(|engine| format!(" --engine {}", shell_quoted(Path::new(engine)))),
    );
    if let Some(file) = &asking.args.settings.file {
        command += &format!(" --config {}", shell_quoted(file));
    }
    if let Some(file) = &asking.args.cassette.file {
        command += &format!(" --cassette {}", shell_quoted(file));
    }
    if asking.args.no_copies != NoCopiesArg::default() {
        command += &format!(" --no-copies {}", asking.args.no_copies);
    }
    if asking.args.cassette.offline {
        command += " --offline";
    }
    if asking.run.repeat > 1 && asking.start != RunStart::Extend {
        command += &format!(" --repeat {}", asking.run.repeat);
    }
    command.extend(asking.cluster.iter().map(|cluster| cluster.options.as_str()));
    if let Some(budget) = limits.and_then(|limits| limits.budget) {
        command += &format!(" --budget {budget}");
    }
    if let Some(requests) = limits.and_then(|limits| limits.max_requests) {
        command += &format!(" --max-requests {requests}");
    }
    command
}
