//! Asking engines, with every answer on disk before the next one is counted.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cases::{Case, Prediction, Run};
use completion::WorkspaceIndex;
use replay::{ConfiguredEngine, RunFolder, RunInputs, StopSignal, TruthCopies, cores};
use tokio::runtime::{self, Runtime};

use crate::args::{EngineArgs, NoCopiesArg};
use crate::exit::InterruptedError;
use crate::interrupt::stop_token;
use crate::output::{count, shell_quoted};
use crate::progress::Progress;

/// A run that is to be made or gone on with.
pub(crate) struct ReplayJob<'a> {
    /// The suite.
    pub(crate) cases: Vec<Case>,
    /// Whom to ask.
    pub(crate) engines: Vec<ConfiguredEngine>,
    /// What engines may see.
    pub(crate) world: WorkspaceIndex,
    /// Where else the truths are.
    pub(crate) copies: TruthCopies,
    /// What `run.json` says.
    pub(crate) run: Run,
    /// Where the run goes.
    pub(crate) folder: PathBuf,
    /// Whether the folder holds the beginning of this run.
    pub(crate) resume: bool,
    /// The code that engines may read, for the command that goes on with a stopped run.
    pub(crate) workspace: Option<&'a Path>,
    /// What was said about engines on the command line.
    pub(crate) args: &'a EngineArgs,
}

/// Asks what is still to be asked. Stopped by Ctrl-C, it keeps what is finished and says how to go on.
pub(crate) fn run_replay(asking: ReplayJob<'_>) -> anyhow::Result<()> {
    let (mut rows, done) = open_run(&asking)?;
    let remedy = format!("Go on with: {}", resume_command(&asking));
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
    let answering = replay::execute(&mut rows, done, asking.run.repeat, &questions, &stop, tell);
    let answers = runtime()?.block_on(answering);
    token.cancel();
    progress.finish(&format!("{finished} of {}", count(total, "request")));
    if answers?.is_finished() { Ok(()) } else { Err(InterruptedError { remedy }.into()) }
}

fn open_run(asking: &ReplayJob<'_>) -> anyhow::Result<(RunFolder, Vec<Prediction>)> {
    if asking.resume {
        let (folder, contents) = RunFolder::resume(&asking.folder, &asking.run)?;
        return Ok((folder, contents.predictions));
    }
    Ok((RunFolder::create(&asking.folder, &asking.run, &asking.cases)?, Vec::new()))
}

/// Engines that compute in this process share the cores, however many requests are under way.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    let cores = cores();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(cores)
        .max_blocking_threads(cores)
        .enable_all()
        .build();
    runtime.context("cannot start threads")
}

/// The command that goes on with the run, ready to be pasted.
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
