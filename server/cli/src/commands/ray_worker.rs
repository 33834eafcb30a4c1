//! `ghostbench ray-worker`: answers or judges the cases of a run on a node of a cluster. Started by the package `ghostbench_ray`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use cases::{Case, NO_COPIES_SUFFIX, Run, parse_line};
use cluster::{
    JudgeWorker, JudgingTask, RequestTask, RequestWorker, Worker, WorkerConnection, WorkerJob, WorkerTask,
};
use completion::{ConfiguredEngine, WorkspaceIndex};
use config::{Config, Tests};
use engines::{Cassette, Registry, RegistryOptions};
use replay::{cores, differences_on_another_machine, engine_config};
use session::judge_jobs;
use tokio_util::sync::CancellationToken;
use workspace::{ReadLimits, Snapshot};

use crate::args::{RayWorkerArgs, SandboxArgs};
use crate::steps::index::{open_indexer, tokens};
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::variables;
use crate::steps::test_judge::confinement;
use crate::steps::{engine_registry, ray_cluster};

/// A remedy for nodes that cannot judge.
const JUDGE_PROGRAM: &str = "or name a program that judges there: `judge` in the section [tests]";

/// Runs the command.
pub(crate) fn run(args: &RayWorkerArgs) -> anyhow::Result<()> {
    let (connection, job) = WorkerConnection::open()?;
    match open(args, job) {
        Ok(worker) => runtime()?.block_on(connection.serve(worker))?,
        Err(error) => connection.refuse(format!("{error:#}")),
    }
    Ok(())
}

fn open(args: &RayWorkerArgs, job: WorkerJob) -> anyhow::Result<Worker> {
    let version = env!("CARGO_PKG_VERSION");
    ensure!(
        job.version == version,
        "this is Ghostbench {version}, and the run was started by {}",
        job.version
    );
    let variables = variables();
    let config = Config::new(&ray_cluster::config_files(job.settings).layers(&[], &variables), &variables);
    match job.task {
        WorkerTask::Requests(task) => Ok(Worker::Requests(request_worker(args, task, &config)?)),
        WorkerTask::Judgements(task) => {
            let root = args.workspace.as_deref().context("judging needs a workspace")?;
            Ok(Worker::Judge(judge_worker(root, task, &config)?))
        }
    }
}

fn request_worker(args: &RayWorkerArgs, task: RequestTask, config: &Config) -> anyhow::Result<RequestWorker> {
    let cassette = match (&args.cassette, task.offline) {
        (None, false) => None,
        (file, _) => Some(Arc::new(Cassette::offline(file.as_deref())?)),
    };
    let engines = engines_of(&task.run, config, cassette)?;
    let world = args.workspace.as_deref().map(|root| world(root, &task.run)).transpose()?;
    Ok(RequestWorker {
        engines: engines.into(),
        world: world.unwrap_or_else(WorkspaceIndex::empty),
        jobs: task.jobs.unwrap_or_else(cores),
        paced: task.paced,
    })
}

/// Returns a worker that judges, once the tests of a case have passed with the truth.
fn judge_worker(root: &Path, task: JudgingTask, config: &Config) -> anyhow::Result<JudgeWorker> {
    let snapshot = workspace::load(root, &ReadLimits::standard(), &|_| {})?;
    check_copy(Some(&task.tree_hash), &snapshot).map_err(|error| {
        anyhow!("{error}; a .gitignore of the workspace has to name the folders of --ray-folder")
    })?;
    let stop = CancellationToken::new();
    let confinement = confinement(SandboxArgs { no_sandbox: task.no_sandbox });
    let tests = Tests {
        judge: config.tests.judge.clone().map(|words| in_copy(words, &task.workspace, root)),
        command: config.tests.command.clone().map(|words| in_copy(words, &task.workspace, root)),
        ..config.tests.clone()
    };
    let judge = session::open_judge(root, &tests, confinement, &stop);
    let judge = judge.map_err(|error| anyhow!("{error}; {JUDGE_PROGRAM}"))?;
    let jobs = judge_jobs(task.jobs.and_then(NonZeroUsize::new), &tests);
    let case: Case = parse_line(&task.checked_case, 1)?;
    let worker = JudgeWorker::new(judge, task.rules, task.workspace, jobs, stop);
    worker.check_truth(&case).map_err(|error| {
        anyhow!(
            "{error}; install what the tests need on the node, send ignored folders by --ray-folder and variables by --ray-env, {JUDGE_PROGRAM}"
        )
    })?;
    Ok(worker)
}

/// Returns a command whose program, if it is a file of the workspace, is that of a copy.
fn in_copy(mut words: Vec<String>, workspace: &Path, copy: &Path) -> Vec<String> {
    if let Some(program) = words.first_mut()
        && let Ok(path) = Path::new(program.as_str()).strip_prefix(workspace)
    {
        *program = copy.join(path).to_string_lossy().into_owned();
    }
    words
}

/// Returns the engines of a run, which must have its settings here as well.
fn engines_of(
    run: &Run,
    config: &Config,
    cassette: Option<Arc<Cassette>>,
) -> anyhow::Result<Vec<ConfiguredEngine>> {
    let mut names: Vec<String> = Vec::new();
    for known in &run.engines {
        let name = known.engine.name.strip_suffix(NO_COPIES_SUFFIX).unwrap_or(&known.engine.name);
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let options =
        RegistryOptions { cassette, inherited: std::env::vars_os().collect(), ..RegistryOptions::default() };
    let selection = Registry::new(options).select(config, &names)?;
    let engines = engine_registry::with_and_without_copies(&selection.engines, config);
    let find = |known: &cases::EngineConfig| {
        let name = &known.engine.name;
        let engine = engines.iter().find(|engine| engine.name() == name);
        let engine = engine.with_context(|| format!("engine `{name}` cannot be asked on this node"))?;
        let differences = differences_on_another_machine(known, &engine_config(engine));
        if !differences.is_empty() {
            bail!(
                "{}; programs and models must be at the same paths on all nodes, and variables are sent with --ray-env",
                differences.join("; ")
            );
        }
        Ok(engine.clone())
    };
    run.engines.iter().map(find).collect()
}

/// Returns the index of the code, which must be that of the run. It is not cached: the folder is a copy for this worker.
fn world(root: &Path, run: &Run) -> anyhow::Result<WorkspaceIndex> {
    let (indexer, _) = open_indexer(root, None, None)?;
    let snapshot = indexer.files();
    check_copy(run.workspace.as_ref().map(|state| state.tree_hash.as_str()), snapshot)?;
    let corpus = tokens(root, snapshot.files(), None);
    Ok(indexer.current().clone().with_corpus(corpus))
}

fn check_copy(expected: Option<&str>, copy: &Snapshot) -> anyhow::Result<()> {
    ensure!(
        expected == Some(copy.tree_hash()),
        "the copy of the workspace on this node has other files than the workspace"
    );
    Ok(())
}
