//! Judging on a Ray cluster: the files that the tests need there, and the case that a node is checked with.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use cases::{Case, to_line};
use cluster::{CarriedWorkspace, JudgingTask, RayJudge, WorkerTask};
use config::ConfigFiles;
use replay::JudgingRules;

use crate::args::{ClusterArgs, SandboxArgs};
use crate::exit::UsageError;
use crate::output::{count, shell_quoted};
use crate::steps::ray_cluster::AgreedCluster;
use crate::steps::run_replay::runtime;
use crate::steps::test_judge::RunJudge;

/// Largest size of the files of a workspace, in bytes. This machine and each node hold them in memory for a moment.
const MAX_BYTES: u64 = 1 << 30;

/// The files of a workspace that its tests may need.
pub(crate) struct TestFiles {
    root: PathBuf,
    paths: Vec<String>,
    bytes: u64,
    /// Folders whose ignored files are among them.
    folders: Vec<PathBuf>,
}

/// The cases to judge, and how.
pub(crate) struct Judging<'a> {
    /// The cases of the run.
    pub(crate) cases: &'a [Case],
    /// The rules.
    pub(crate) rules: &'a JudgingRules,
    /// Sandboxes of a node at a time, as chosen by the user.
    pub(crate) jobs: Option<usize>,
    /// The sandbox.
    pub(crate) sandbox: SandboxArgs,
    /// Hash of the workspace's files.
    pub(crate) tree_hash: &'a str,
}

impl TestFiles {
    /// Lists the files of a workspace. Nothing is read.
    pub(crate) fn list(workspace: &Path, args: &ClusterArgs) -> anyhow::Result<TestFiles> {
        let root =
            workspace.canonicalize().with_context(|| format!("cannot read {}", workspace.display()))?;
        let below = |folder: &PathBuf| {
            let path = root.join(folder).canonicalize().ok().filter(|path| path.is_dir());
            let below = path.as_deref().and_then(|path| path.strip_prefix(&root).ok()).map(Path::to_owned);
            below.ok_or_else(|| {
                UsageError(format!("--ray-folder: {} is not a folder of the workspace", folder.display()))
            })
        };
        let folders: Vec<PathBuf> = args.ray_folder.iter().map(below).collect::<Result<_, _>>()?;
        let files = workspace::list_files(&root, &folders);
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        ensure!(
            bytes <= MAX_BYTES,
            "the files of {} are too large for a cluster: {} MB of at most {} MB; name those that no test needs in .ghostbenchignore",
            root.display(),
            bytes >> 20,
            MAX_BYTES >> 20
        );
        let paths = files.into_iter().map(|file| file.path).collect();
        Ok(TestFiles { root, paths, bytes, folders })
    }

    /// Describes them.
    pub(crate) fn description(&self) -> String {
        let files = count(self.paths.len(), "file");
        let folders: String =
            self.folders.iter().map(|folder| format!(", with {}", folder.display())).collect();
        let root = shell_quoted(&self.root);
        let megabytes = (self.bytes as f64 / 1e6).max(0.1);
        format!(
            "all files of {root} that are neither ignored nor secret-like{folders} ({files}, {megabytes:.1} MB)"
        )
    }

    /// Returns the judge that sends them to the nodes of a cluster.
    pub(crate) fn judge(
        self,
        cluster: &AgreedCluster,
        settings: ConfigFiles,
        judging: &Judging<'_>,
    ) -> anyhow::Result<RunJudge> {
        let folders = self.folders.iter().map(|folder| format!(" --ray-folder {}", shell_quoted(folder)));
        let options = folders.fold(cluster.options.clone(), |options, folder| options + &folder);
        let task = JudgingTask {
            jobs: judging.jobs,
            rules: judging.rules.clone(),
            no_sandbox: judging.sandbox.no_sandbox,
            workspace: self.root.clone(),
            tree_hash: judging.tree_hash.to_owned(),
            checked_case: fastest(judging.cases).map(to_line).unwrap_or_default(),
        };
        let files = CarriedWorkspace::Files { root: self.root, paths: self.paths };
        let cluster = cluster.with_task(WorkerTask::Judgements(task), settings, Some(files))?;
        let judge = Box::new(RayJudge { cluster, runtime: runtime()? });
        Ok(RunJudge::Cluster { judge, options })
    }
}

/// Returns the case whose tests take the shortest time.
fn fastest(cases: &[Case]) -> Option<&Case> {
    let seconds = |case: &Case| case.tests.as_deref().map_or(f64::INFINITY, |tests| tests.seconds);
    let with_tests = cases.iter().filter(|case| case.tests.is_some());
    with_tests.min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
}
