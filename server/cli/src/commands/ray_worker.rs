//! `ghostbench ray-worker`: answers the cases of a run on a node of a cluster. Started by the package `ghostbench_ray`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use cases::{NO_COPIES_SUFFIX, Run};
use cluster::{Worker, WorkerConnection, WorkerJob};
use completion::{ConfiguredEngine, WorkspaceIndex};
use config::Config;
use engines::{Cassette, Registry, RegistryOptions};
use replay::{cores, differences_on_another_machine, engine_config};

use crate::args::RayWorkerArgs;
use crate::steps::index::{open_indexer, tokens};
use crate::steps::run_replay::runtime;
use crate::steps::settings_sources::variables;
use crate::steps::{engine_registry, ray_cluster};

/// Runs the command.
pub(crate) fn run(args: &RayWorkerArgs) -> anyhow::Result<()> {
    let (connection, job) = WorkerConnection::open()?;
    let paced = job.paced.clone();
    match open(args, job) {
        Ok(worker) => runtime()?.block_on(connection.serve(worker, paced)),
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
    let cassette = match (&args.cassette, job.offline) {
        (None, false) => None,
        (file, _) => Some(Arc::new(Cassette::offline(file.as_deref())?)),
    };
    let engines = engines_of(&job.run, &config, cassette)?;
    let world = args.workspace.as_deref().map(|root| world(root, &job.run)).transpose()?;
    Ok(Worker {
        engines: engines.into(),
        world: world.unwrap_or_else(WorkspaceIndex::empty),
        jobs: job.jobs.unwrap_or_else(cores),
    })
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
    let (indexer, _) = open_indexer(root, None, &|_, _| {})?;
    let snapshot = indexer.files();
    let expected = run.workspace.as_ref().map(|state| state.tree_hash.as_str());
    ensure!(
        expected == Some(snapshot.tree_hash()),
        "the copy of the workspace on this node has other files than the workspace"
    );
    let corpus = tokens(root, snapshot.files(), None);
    Ok(indexer.current().clone().with_corpus(corpus))
}
