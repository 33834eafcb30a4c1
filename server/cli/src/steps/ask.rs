//! Asking engines, with every answer on disk before the next one is counted.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use cases::{Case, Prediction, Run, Schema, WorkspaceState, suite_hash};
use completion::World;
use replay::{ConfiguredEngine, RunFolder};
use tokio::runtime::{self, Runtime};

use crate::args::EngineArgs;
use crate::exit::Interrupted;
use crate::output::{count, quoted};
use crate::progress::Progress;
use crate::steps::cores;
use crate::{interrupt, machine};

/// A run that is to be made or gone on with.
pub(crate) struct Asking<'a> {
    /// The suite.
    pub(crate) cases: Vec<Case>,
    /// Whom to ask.
    pub(crate) engines: Vec<ConfiguredEngine>,
    /// What engines may see.
    pub(crate) world: &'a World,
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

/// Describes a run.
pub(crate) fn describe(
    name: String,
    cases: &[Case],
    engines: &[ConfiguredEngine],
    workspace: Option<WorkspaceState>,
    seed: u64,
    repeat: u32,
) -> Run {
    Run {
        schema: Schema::CURRENT,
        tool: format!("ghostbench {}", env!("CARGO_PKG_VERSION")),
        name,
        suite: suite_hash(cases),
        seed,
        repeat,
        engines: engines.iter().map(ConfiguredEngine::config).collect(),
        workspace,
        machine: machine::describe(),
    }
}

/// Asks what is still to be asked. Stopped by Ctrl-C, it keeps what is finished and says how to go on.
pub(crate) fn ask(asking: Asking<'_>) -> anyhow::Result<()> {
    let (mut folder, done) = open(&asking)?;
    let fingerprints: Vec<String> =
        asking.run.engines.iter().map(|config| config.engine.fingerprint.clone()).collect();
    let attempts = replay::plan(&asking.cases, &fingerprints, asking.run.repeat, &done);
    let total = done.len() + attempts.len();
    let mut finished = done.len();
    let mut failure = None;
    let progress = Progress::new("replayed", "requests");
    let mut record = |mut prediction: Prediction| {
        cases::redact_prediction(&mut prediction);
        failure = folder.append(&prediction).err();
        finished += usize::from(failure.is_none());
        progress.set(finished as u64, total as u64);
        if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let remedy = format!("Go on with: {}", resume_command(&asking));
    let jobs = asking.args.jobs.map_or_else(cores, NonZeroUsize::get);
    let (cases, engines): (Arc<[Case]>, Arc<[ConfiguredEngine]>) =
        (asking.cases.into(), asking.engines.into());
    let stop = interrupt::stop_token().context("cannot listen for Ctrl-C")?;
    runtime()?.block_on(replay::ask_all(attempts, &cases, &engines, asking.world, jobs, &stop, &mut record));
    stop.cancel();
    progress.finish(&format!("{finished} of {}", count(total, "request")));
    match failure {
        Some(error) => Err(error.into()),
        None if finished < total => Err(Interrupted { remedy }.into()),
        None => Ok(()),
    }
}

fn open(asking: &Asking<'_>) -> anyhow::Result<(RunFolder, Vec<Prediction>)> {
    if asking.resume {
        let (folder, contents) = RunFolder::resume(&asking.folder, &asking.run)?;
        return Ok((folder, contents.predictions));
    }
    Ok((RunFolder::create(&asking.folder, &asking.run, &asking.cases)?, Vec::new()))
}

/// Engines that compute in this process share the cores, however many requests are under way.
fn runtime() -> anyhow::Result<Runtime> {
    let cores = cores();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(cores)
        .max_blocking_threads(cores)
        .enable_all()
        .build();
    runtime.context("cannot start threads")
}

/// The command that goes on with the run, ready to be pasted.
fn resume_command(asking: &Asking<'_>) -> String {
    let folder = quoted(&asking.folder);
    let mut command =
        format!("ghostbench replay {} --out {folder} --resume", quoted(&asking.folder.join("cases.jsonl")));
    if let Some(workspace) = asking.workspace {
        command += &format!(" --workspace {}", quoted(workspace));
    }
    command.extend(asking.args.engines.iter().map(|engine| format!(" --engine {engine}")));
    if asking.run.repeat > 1 {
        command += &format!(" --repeat {}", asking.run.repeat);
    }
    command
}
