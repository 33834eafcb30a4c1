//! Runs engines over a suite. Each answer is written to disk before it is counted.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cases::{Case, Prediction, Run, Score};
use completion::{ConfiguredEngine, WorkspaceIndex};
use replay::{RunAnswers, RunContents, RunFolder, RunInputs, StopSignal, TruthCopies, cores};
use tokio::runtime::{self, Runtime};

use crate::args::{EngineArgs, NoCopiesArg};
use crate::exit::InterruptedError;
use crate::interrupt::stop_token;
use crate::output::{count, shell_quoted};
use crate::progress::Progress;

/// A run to start or resume.
pub(crate) struct ReplayJob<'a> {
    /// The suite.
    pub(crate) cases: Vec<Case>,
    /// The engines of the run.
    pub(crate) engines: Vec<ConfiguredEngine>,
    /// The code that engines may read.
    pub(crate) world: WorkspaceIndex,
    /// Files with copies of the truths.
    pub(crate) copies: TruthCopies,
    /// Content of `run.json`.
    pub(crate) run: Run,
    /// The run's folder.
    pub(crate) folder: PathBuf,
    /// Whether the folder holds an incomplete run to resume.
    pub(crate) resume: bool,
    /// The workspace's path, for the command that resumes the run.
    pub(crate) workspace: Option<&'a Path>,
    /// The engine arguments of the command line.
    pub(crate) args: &'a EngineArgs,
}

/// Makes the missing requests, and returns the whole run with its scores. Ctrl-C keeps the finished ones and prints how to resume.
pub(crate) fn run_replay(asking: ReplayJob<'_>) -> anyhow::Result<(RunContents, Vec<Score>)> {
    let (mut rows, run, done) = open_run(&asking)?;
    let remedy = format!("Resume with: {}", resume_command(&asking));
    let questions = RunInputs {
        cases: asking.cases.into(),
        engines: asking.engines.into(),
        world: asking.world,
        copies: asking.copies.into(),
        jobs: asking.args.jobs.map_or_else(cores, NonZeroUsize::get),
    };
    let token = stop_token().context("cannot listen for Ctrl-C")?;
    let stop = StopSignal::after_pending(token.clone());
    let progress = Progress::new("replayed", "requests");
    let (mut finished, mut total) = (0, 0);
    let tell = |done, planned| {
        (finished, total) = (done, planned);
        progress.set(done as u64, planned as u64);
    };
    let answering = replay::execute(&mut rows, done, run.repeat, &questions, &stop, tell);
    let answers = runtime()?.block_on(answering);
    token.cancel();
    progress.finish(&format!("{finished} of {}", count(total, "request")));
    let answers = answers?;
    if !answers.is_finished() {
        return Err(InterruptedError { remedy }.into());
    }
    let RunAnswers { predictions, scores, .. } = answers;
    Ok((RunContents { run, cases: questions.cases, predictions }, scores))
}

/// Returns the folder, the run's description in it, and the finished answers.
fn open_run(asking: &ReplayJob<'_>) -> anyhow::Result<(RunFolder, Run, Vec<Prediction>)> {
    if asking.resume {
        let (folder, RunContents { run, predictions, .. }) = RunFolder::resume(&asking.folder, &asking.run)?;
        return Ok((folder, run, predictions));
    }
    let folder = RunFolder::create(&asking.folder, &asking.run, &asking.cases)?;
    Ok((folder, asking.run.clone(), Vec::new()))
}

/// Returns the runtime for requests. Engines in this process share the cores, no matter how many requests are in flight.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    let cores = cores();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(cores)
        .max_blocking_threads(cores)
        .enable_all()
        .build();
    runtime.context("cannot start threads")
}

/// Returns the command that resumes the run, quoted for a shell.
fn resume_command(asking: &ReplayJob<'_>) -> String {
    let folder = shell_quoted(&asking.folder);
    let mut command = format!(
        "ghostbench replay {} --out {folder} --resume",
        shell_quoted(&asking.folder.join("cases.jsonl"))
    );
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
    if asking.run.repeat > 1 {
        command += &format!(" --repeat {}", asking.run.repeat);
    }
    command
}
