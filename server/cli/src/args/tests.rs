//! Arguments of the commands that run unit tests.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use replay::{CodevShape, JudgingRules};

use super::{ClusterArgs, SettingsArgs, VerdictArgs};

/// The sandbox of tests.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct SandboxArgs {
    /// Run tests without a sandbox, if the system has none: code that engines wrote then runs with all your rights, in a copy of
    /// the workspace.
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}

/// `ghostbench judge`.
#[derive(Debug, clap::Args)]
pub(crate) struct JudgeArgs {
    /// Folder of the run.
    pub(crate) run: PathBuf,
    /// Workspace of the tests: the code that the suite was built from.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// Number of sandboxes at a time [default: one per core, as far as the memory allows].
    #[arg(long, value_name = "N")]
    pub(crate) judge_jobs: Option<NonZeroUsize>,
    /// Judge as the programs of Codev-Bench and YABLoCo do, for comparisons with their numbers. Codev-Bench believes the last line that pytest
    /// prints, and completes the file of the case's own texts; YABLoCo damages some code when it reads an answer.
    #[arg(long)]
    pub(crate) faithful: bool,
    /// A rule of Codev-Bench about the shape of answers, which also must hold; may be given more than once.
    #[arg(long, value_name = "RULE", requires = "faithful", value_parser = parse_shape)]
    pub(crate) shape: Vec<CodevShape>,
    /// The sandbox.
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// The cluster.
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// The question that ranks engines.
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Print every number as JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl JudgeArgs {
    /// Returns the rules of judging.
    pub(crate) fn rules(&self) -> JudgingRules {
        if self.faithful { JudgingRules::Original { shapes: self.shape.clone() } } else { JudgingRules::Ours }
    }
}

fn parse_shape(name: &str) -> Result<CodevShape, String> {
    let known = CodevShape::ALL.map(CodevShape::name).join(", ");
    let found = CodevShape::ALL.into_iter().find(|shape| shape.name() == name);
    found.ok_or_else(|| format!("one of {known}"))
}

/// Judging at the end of `ghostbench replay`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ReplayJudgeArgs {
    /// Judge the answers by the unit tests of their cases, in the workspace. Repeat or resume by `ghostbench judge`.
    #[arg(long, requires = "workspace")]
    pub(crate) judge: bool,
    /// Number of sandboxes at a time [default: one per core, as far as the memory allows].
    #[arg(long, value_name = "N", requires = "judge")]
    pub(crate) judge_jobs: Option<NonZeroUsize>,
    /// The sandbox.
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// Tests of `ghostbench build codev-bench`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct BuildTestsArgs {
    /// Run the repository's tests, and keep only cases of codev-bench that tests can judge: they pass with the truth, and fail without
    /// it. Writes cases.jsonl for `ghostbench replay` beside the benchmark's files.
    #[arg(long)]
    pub(crate) with_tests: bool,
    /// Runs of all tests that must agree; tests that do not judge nothing.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) test_runs: u32,
    /// The sandbox.
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}
