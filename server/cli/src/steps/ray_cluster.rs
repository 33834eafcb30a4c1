//! Work on a Ray cluster: the description of all that is sent there, and the user's consent.

use std::collections::BTreeMap;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use cases::Run;
use cluster::{
    CarriedFile, CarriedWorkspace, ClusterJob, DriverVersions, EngineRate, RayCluster, RayRunner,
    RequestTask, SettingsLayer, WorkerJob, WorkerTask, WorkspaceText,
};
use config::ConfigFiles;
use workspace::Snapshot;

use crate::args::{ClusterArgs, RateArgs, ReplayArgs};
use crate::exit::UsageError;
use crate::output::{count, print_message, shell_quoted};
use crate::steps::run_replay::runtime;
use crate::steps::trial_store::confirm;

/// Environment variable with the path of Python.
const PYTHON: &str = "GHOSTBENCH_PYTHON";

/// Python without a choice of the user.
const DEFAULT_PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Time for the cluster to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Time without any usable node after which a run ends, seconds: a cluster that scales needs minutes for its first node.
const PATIENCE_S: u64 = 600;

/// A cluster that the user has agreed to.
pub(crate) struct AgreedCluster {
    address: String,
    python: PathBuf,
    environment: BTreeMap<String, String>,
    /// The options of the command line, for the command that resumes.
    pub(crate) options: String,
}

/// Makes the requests of a run elsewhere.
pub(crate) struct ClusterRun {
    /// The runner that makes them.
    pub(crate) runner: RayRunner,
    /// The options of the command line, for the command that resumes the run.
    pub(crate) options: String,
}

/// Checks the arguments, before anything is read.
pub(crate) fn check(args: &ReplayArgs) -> Result<(), UsageError> {
    let (cluster, asking) = (&args.cluster, &args.asking);
    if !cluster.ray_folder.is_empty() && !args.judging.judge {
        return Err(UsageError(
            "--ray-folder is for the tests of --judge: add --judge, or leave it out".to_owned(),
        ));
    }
    if cluster.ray.is_none() || asking.cassette.file.is_none() {
        return Ok(());
    }
    if !asking.cassette.offline {
        let message = "with --ray, a cassette is only replayed: add --offline, or record it on one machine";
        return Err(UsageError(message.to_owned()));
    }
    if args.repeat > 1 {
        let message = "with --ray, a cassette cannot be replayed with --repeat: nodes do not know which of the recorded answers are used";
        return Err(UsageError(message.to_owned()));
    }
    Ok(())
}

/// Returns the cluster at an address, once the user has agreed to send files and settings there. `files` describes the files.
pub(crate) fn agree(
    address: &str,
    args: &ClusterArgs,
    files: Option<String>,
) -> anyhow::Result<AgreedCluster> {
    let environment = environment(&args.ray_env)?;
    let python = args.python.clone().unwrap_or_else(default_python);
    runtime()?.block_on(cluster::versions(&python))?;
    check_address(address)?;
    confirm(&question(address, args, files), args.yes)?;
    Ok(AgreedCluster { address: address.to_owned(), python, environment, options: options(args) })
}

impl AgreedCluster {
    /// Returns the cluster with a task for its workers.
    pub(crate) fn with_task(
        &self,
        task: WorkerTask,
        settings: ConfigFiles,
        workspace: Option<CarriedWorkspace>,
    ) -> anyhow::Result<RayCluster> {
        let job = ClusterJob {
            address: self.address.clone(),
            binary: std::env::current_exe().context("cannot find this program")?,
            cassette: None,
            workspace,
            environment: self.environment.clone(),
            worker: WorkerJob {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                settings: carried_files(settings),
                task,
            },
            rates: Vec::new(),
            patience_s: PATIENCE_S,
        };
        Ok(RayCluster { python: self.python.clone(), job, note: print_message })
    }

    /// Returns what makes the requests of a run on the cluster.
    pub(crate) fn requests(
        &self,
        args: &ReplayArgs,
        run: &Run,
        files: ConfigFiles,
        snapshot: Option<&Snapshot>,
    ) -> anyhow::Result<ClusterRun> {
        let (asking, rates) = (&args.asking, args.rates.rates());
        let task = RequestTask {
            jobs: asking.jobs.map(std::num::NonZeroUsize::get),
            run: Box::new(Run { copies: Vec::new(), ..run.clone() }),
            offline: asking.cassette.offline,
            paced: rates.iter().map(|rate| rate.engine.clone()).collect(),
        };
        let texts = snapshot.map(workspace_texts);
        let mut cluster = self.with_task(WorkerTask::Requests(task), files, texts)?;
        cluster.job.cassette = asking.cassette.file.as_deref().map(std::path::absolute).transpose()?;
        cluster.job.rates = rates;
        let options = self.options.clone() + &rate_options(&args.rates);
        Ok(ClusterRun { runner: RayRunner { cluster, copies: run.copies.clone() }, options })
    }
}

/// Checks that the run has the engines whose requests are limited.
pub(crate) fn check_rates(args: &RateArgs, run: &Run) -> Result<(), UsageError> {
    let names: Vec<&str> = run.engines.iter().map(|config| config.engine.name.as_str()).collect();
    let is_unknown = |rate: &EngineRate| !names.contains(&rate.engine.as_str());
    match args.rates().into_iter().find(is_unknown) {
        Some(rate) => {
            Err(UsageError(format!("--rate and --concurrency: the run has no engine `{}`", rate.engine)))
        }
        None => Ok(()),
    }
}

/// Whether this machine can use a cluster.
pub(crate) struct ClusterSupport {
    /// Python, as chosen by the environment.
    pub(crate) python: PathBuf,
    /// The versions in it, or why it cannot be used.
    pub(crate) versions: Result<DriverVersions, String>,
}

/// Looks for the package in the Python of the environment.
pub(crate) fn support() -> ClusterSupport {
    let python = default_python();
    let versions = runtime()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(cluster::versions(&python)).map_err(|error| error.to_string()));
    ClusterSupport { python, versions }
}

/// Returns the Python of the environment.
fn default_python() -> PathBuf {
    std::env::var_os(PYTHON)
        .filter(|path| !path.is_empty())
        .map_or_else(|| DEFAULT_PYTHON.into(), PathBuf::from)
}

/// Returns the values of variables that the user named.
fn environment(names: &[String]) -> Result<BTreeMap<String, String>, UsageError> {
    let value = |name: &String| match std::env::var(name) {
        Ok(value) => Ok((name.clone(), value)),
        Err(_) => Err(UsageError(format!("--ray-env: the environment variable {name} is not set"))),
    };
    names.iter().map(value).collect()
}

/// Checks that something listens at the address, because Ray waits long for a cluster that does not exist.
fn check_address(address: &str) -> anyhow::Result<()> {
    let place = address.strip_prefix("ray://").unwrap_or(address);
    let invalid =
        || UsageError(format!("`{address}` is no address of a cluster; use HOST:PORT or ray://HOST:PORT"));
    let sockets: Vec<_> = match place.rsplit_once(':').map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(_)) => place
            .to_socket_addrs()
            .with_context(|| format!("cannot find the cluster at {address}"))?
            .collect(),
        _ => return Err(invalid().into()),
    };
    let is_listening = sockets.iter().any(|socket| TcpStream::connect_timeout(socket, CONNECT).is_ok());
    anyhow::ensure!(
        is_listening,
        "no Ray cluster answers at {address}; start one with `ray start --head`, or name another address with --ray"
    );
    Ok(())
}

fn question(address: &str, args: &ClusterArgs, files: Option<String>) -> String {
    let mut sent = vec!["the cases".to_owned()];
    sent.extend(files);
    sent.push("the settings with the keys in them".to_owned());
    if !args.ray_env.is_empty() {
        sent.push(format!("the environment variables {}", args.ray_env.join(", ")));
    }
    format!("This sends {} to the Ray cluster at {address}. Go on?", sent.join(", "))
}

/// Describes the files that engines may read.
pub(crate) fn description_of_code(snapshot: &Snapshot) -> String {
    let files = count(snapshot.totals().files, "file");
    format!("the code of {} ({files})", shell_quoted(snapshot.root()))
}

/// Returns all files that engines may read.
fn workspace_texts(snapshot: &Snapshot) -> CarriedWorkspace {
    let file = |path: &str, text: &str| WorkspaceText { path: path.to_owned(), text: text.to_owned() };
    let sources = snapshot.files().iter().map(|source| file(&source.path, &source.text));
    let manifests = snapshot.manifests().iter().map(|manifest| file(&manifest.path, &manifest.text));
    CarriedWorkspace::Texts(sources.chain(manifests).collect())
}

/// Returns the settings files that can be read; problems of the others have been reported.
fn carried_files(files: ConfigFiles) -> Vec<CarriedFile> {
    use SettingsLayer as L;
    let ConfigFiles { user, workspace, command_line, trusted } = files;
    let places = [L::User, L::Workspace, L::CommandLine, L::TrustList];
    let all = places.into_iter().zip([user, workspace, command_line, trusted]);
    all.filter_map(|(layer, file)| {
        let file = file?;
        Some(CarriedFile { layer, path: file.path, text: String::from_utf8(file.content.ok()?).ok()? })
    })
    .collect()
}

/// Returns the settings files of another machine.
pub(crate) fn config_files(carried: Vec<CarriedFile>) -> ConfigFiles {
    let mut files = ConfigFiles::default();
    for CarriedFile { layer, path, text } in carried {
        let place = match layer {
            SettingsLayer::User => &mut files.user,
            SettingsLayer::Workspace => &mut files.workspace,
            SettingsLayer::CommandLine => &mut files.command_line,
            SettingsLayer::TrustList => &mut files.trusted,
        };
        *place = Some(config::ConfigFile { path, content: Ok(text.into_bytes()) });
    }
    files
}

/// Returns the arguments as options of a command line.
fn options(args: &ClusterArgs) -> String {
    let quoted = |text: &str| shell_quoted(Path::new(text));
    let mut options =
        args.ray.iter().map(|address| format!(" --ray {}", quoted(address))).collect::<String>();
    options.extend(args.python.iter().map(|python| format!(" --python {}", shell_quoted(python))));
    options.extend(args.ray_env.iter().map(|name| format!(" --ray-env {}", quoted(name))));
    options
}

/// Returns the limits as options of a command line.
fn rate_options(args: &RateArgs) -> String {
    let quoted = |text: &str| shell_quoted(Path::new(text));
    let mut options = String::new();
    options.extend(args.rate.iter().map(|(engine, rate)| format!(" --rate {}={rate}", quoted(engine))));
    options.extend(
        args.concurrency.iter().map(|(engine, most)| format!(" --concurrency {}={most}", quoted(engine))),
    );
    options
}
