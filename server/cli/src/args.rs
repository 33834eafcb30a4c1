//! Command-line arguments. `commands` interprets them.

mod asking;
mod benchmarks;
mod cluster;
mod collect;
mod engines;
mod judging;
mod reporting;
mod serve;
mod tests;
mod trial;
mod trial_scoreboard;
mod values;
mod watch;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use ::engines::ScriptedReply;
use cases::Scenario;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use index::Strategy;

pub(crate) use self::asking::{CassetteArgs, EngineArgs, LimitArgs, NoCopiesArg, SettingsArgs};
pub(crate) use self::benchmarks::{
    BenchmarkName, BuildArgs, DescribeArgs, ImportArgs, ImportFormat, ScoreArgs,
};
pub(crate) use self::cluster::{ClusterArgs, RateArgs, RayWorkerArgs};
pub(crate) use self::collect::{
    CollectArgs, CollectAuditArgs, CollectCommand, CollectForgetArgs, CollectJoinArgs, CollectLeaveArgs,
    CollectScoreboardArgs, CollectSendArgs, CollectServeArgs, CollectServerArgs, CollectStatusArgs,
    CollectStoreArgs, CollectTokenAddArgs, CollectTokenArgs, CollectTokenCommand, CollectTokenListArgs,
    CollectTokenRevokeArgs, RoleArg,
};
pub(crate) use self::engines::{
    EnginesArgs, EnginesCassetteArgs, EnginesCheckArgs, EnginesCommand, EnginesCompleteArgs, EnginesListArgs,
};
pub(crate) use self::judging::{BaselineArgs, GateArgs, VerdictArgs};
pub(crate) use self::reporting::{CompareArgs, ExportArgs, ExportFormat, ReportArgs, ReportFormat};
pub(crate) use self::serve::ServeArgs;
pub(crate) use self::tests::{BuildTestsArgs, JudgeArgs, ReplayJudgeArgs, SandboxArgs};
pub(crate) use self::trial::{
    TrialArgs, TrialCommand, TrialExportArgs, TrialExportFormat, TrialFilterArgs, TrialForgetArgs,
    TrialImportArgs, TrialImportFormat, TrialMergeArgs, TrialPlaceArgs, TrialReviewArgs, TrialSimulateArgs,
    TrialStartArgs,
};
pub(crate) use self::trial_scoreboard::TrialScoreboardArgs;
pub(crate) use self::values::{CursorArg, RetrieveTarget};
use self::values::{parse_date, parse_rules, parse_scenario, parse_target};
pub(crate) use self::watch::WatchArgs;

/// Maximum number of repetitions: a thousand measure a share to a third of a percent.
const MAX_REPEAT: i64 = 1000;

/// Find out which completion engine is really better, on your own code.
#[derive(Debug, Parser)]
#[command(
    name = "ghostbench",
    version,
    arg_required_else_help = true,
    after_help = "Start with:  ghostbench try ."
)]
pub(crate) struct Args {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Turn a repository into a benchmark and score engines on it.
    #[command(after_help = "Examples:
  ghostbench try .                                  400 cases from this repository, the built-in engine
  ghostbench try . --scenario inner_block --open    one scenario, and the report in the browser
  ghostbench try . --mix real-use --cases 500       block kinds in the shares of real requests
  ghostbench try . --engine builtin --engine nearest-line   two engines, side by side")]
    Try(TryArgs),
    /// Serve an editor: ghost text while typing, and replay of cases at the cursor.
    #[command(after_help = "An editor starts this command and communicates with it over stdio. Examples:
  ghostbench lsp                                        ghost text by the built-in engine
  ghostbench lsp --engine builtin --engine nearest-line   the first one writes the ghost text, both are replayed
  ghostbench lsp --log-level debug                      more details in the log file, which never contains code")]
    Lsp(LspArgs),
    /// Serve completion plugins: the APIs that they speak, recorded by the trial.
    #[command(
        after_help = "A plugin takes part by its server's address; docs/front-door.md lists the plugins. Examples:
  ghostbench serve                                  at http://127.0.0.1:7117, for the engine in the settings
  ghostbench serve ~/shop ~/site                    requests belong to the files of two folders
  ghostbench serve --listen 127.0.0.1:8012 --engine qwen   at another port, and another engine"
    )]
    Serve(ServeArgs),
    /// Mine cases from a repository: the first step of `try`.
    #[command(after_help = "Examples:
  ghostbench mine . --out cases.jsonl
  ghostbench mine . --cases 1000 --seed 7 --scenario full_block --scenario rag --out cases.jsonl
  ghostbench mine . --from-history                           from the commits of this branch
  ghostbench mine . --from-history v1.0..HEAD --since 2025-06    from new commits: a model that ended
                                                             before June 2025 cannot have seen them")]
    Mine(MineArgs),
    /// Run engines over a suite: the second step of `try`.
    #[command(after_help = "Examples:
  ghostbench replay cases.jsonl --workspace . --out run
  ghostbench replay --workspace . --out run --resume                 resume an interrupted run
  ghostbench replay --workspace . --out run --retry-failed           repeat the requests that failed
  ghostbench replay cases.jsonl --dry-run                            what it would cost
  ghostbench replay cases.jsonl --budget 5                           stop before it costs more
  ghostbench replay --into run --workspace . --engine new            add an engine to a run
  ghostbench replay codev/cases.jsonl --workspace . --judge          judge the answers by the cases' unit tests
  ghostbench replay cases.jsonl --cassette answers.jsonl             record answers, repeat no request
  ghostbench replay cases.jsonl --cassette answers.jsonl --offline   replay the answers without any engine
  ghostbench replay cases.jsonl --workspace . --ray head:6379 --out run   on the nodes of a Ray cluster")]
    Replay(Box<ReplayArgs>),
    /// Judge the answers of a run by unit tests, in a sandbox.
    #[command(
        after_help = "The cases must have tests, and the workspace must be the code that they were built from. Examples:
  ghostbench build codev-bench . --with-tests --out codev     cases whose tests fail without the truth
  ghostbench replay codev/cases.jsonl --workspace . --out run
  ghostbench judge run --workspace .                          resumes where an interrupted one stopped
  ghostbench judge run --workspace . --judge-jobs 1 --json
  ghostbench judge run --workspace . --ray head:6379          on the nodes of a Ray cluster"
    )]
    Judge(JudgeArgs),
    /// Prepare a sandbox; started by `judge`.
    #[command(name = "sandbox-mount", hide = true)]
    SandboxMount,
    /// Run one command in a sandbox; started by `judge`.
    #[command(name = "sandbox-init", hide = true)]
    SandboxInit {
        /// File with the description of the command [default: standard input].
        spec: Option<PathBuf>,
    },
    /// Answer or judge cases on a node of a cluster; started by `--ray`.
    #[command(name = "ray-worker", hide = true)]
    RayWorker(RayWorkerArgs),
    /// Index a workspace ahead of its first use, or manage all caches.
    #[command(after_help = "Examples:
  ghostbench index .          index this workspace
  ghostbench index --list     list the caches and their sizes
  ghostbench index --clear    remove all caches; they are rebuilt when needed")]
    Index(IndexArgs),
    /// Show a run: the last step of `try`.
    #[command(after_help = "Examples:
  ghostbench report run                 the table, and run/report.html
  ghostbench report run --format json   every number, for scripts
  ghostbench report run --deadline 300  rank the engines by their answers within 300 ms
  ghostbench report run --margin 1pt    which engines differ by less than one point?
  ghostbench report run --baseline last-week --non-inferior 1pt --format markdown   a gate for pull requests
  ghostbench report run --fail-under exact_match=40% --fail-on 'p95 > 800ms or failed[language=go] > 2%'
  ghostbench report run --csv tables    one CSV file per table, in the folder `tables`
  ghostbench report run --open          the report in the browser")]
    Report(ReportArgs),
    /// Compare engines of several runs on the cases that the runs share.
    #[command(
        after_help = "The runs may have asked different engines, or the same engine on two days. Examples:
  ghostbench compare before after                         is the engine still as good?
  ghostbench compare a b --baseline builtin               every engine with the built-in one
  ghostbench compare a b --margin 1pt                     which engines differ by less than one point?
  ghostbench compare a b --html comparison.html            the verdict with plots, as a page
  ghostbench compare a b --primary edit_similarity --deadline 300 --format markdown"
    )]
    Compare(CompareArgs),
    /// Replay a fixed suite once more, and report which engines have changed: for a nightly job.
    #[command(after_help = "Examples:
  ghostbench watch cases.jsonl --engine hosted --history nights              add a night, and show the history
  ghostbench watch cases.jsonl --history nights --fail-on-change --json      for CI: exit code 1 if an engine changed
  ghostbench watch --history nights --show                                   show the history only
In cron:  0 3 * * *  ghostbench watch ~/cases.jsonl --engine hosted --history ~/nights --fail-on-change
Each night is a run: ghostbench report nights/12")]
    Watch(WatchArgs),
    /// Write a run or a suite for other tools.
    #[command(after_help = "Examples:
  ghostbench export run --out logs      one log per engine, for the viewer of inspect_ai:
  inspect view --log-dir logs
  ghostbench export run --format crosscodeeval --out cceval            the cases, and a file of predictions per engine
  ghostbench export cases.jsonl --format codev-bench --out codev       the cases of a suite")]
    Export(ExportArgs),
    /// Make a suite from the files of a public benchmark.
    #[command(after_help = "Examples:
  ghostbench import crosscodeeval line_completion.jsonl line_completion_rg1_bm25.jsonl --out cases.jsonl
  ghostbench import codev-bench prompts/ --out cases.jsonl
  ghostbench replay cases.jsonl --out run
  ghostbench export run --format crosscodeeval --out predictions

Sources (Ghostbench contains none of them; read the licence before you use one):
  codev-bench          github.com/LingmaTongyi/Codev-Bench: no licence, so its rows must not be redistributed
  crosscodeeval        github.com/amazon-science/cceval: Apache-2.0; the code in it has the licences of its repositories
  safim                github.com/gonglinyuan/safim, rows on Hugging Face (gonglinyuan/safim): see its data card
  humaneval-infilling  github.com/openai/human-eval-infilling: MIT
  repoeval             github.com/microsoft/CodeT, folder RepoCoder: MIT; the code in it has the licences of its repositories
  repobench            github.com/Leolty/repobench, rows on Hugging Face (tianyang/repobench_*_v1.1): see its data card
A broken row is reported with its file and line, and the others are imported.")]
    Import(ImportArgs),
    /// Build a benchmark in the shape of a public one from a repository.
    #[command(after_help = "Examples:
  ghostbench build codev-bench . --out codev            the six files, a folder each
  ghostbench build codev-bench . --out codev --with-tests   only blocks that the repository's own tests can judge
  ghostbench build crosscodeeval . --out cceval         three files per language: plain, and with retrieved context
  ghostbench build repoqa . --out repoqa --size 20      a data set of functions to find by their documentation
  ghostbench build yabloco ../redis --out yabloco       functions of C and C++ to write, by their callees
Each writes datasheet.json: the repository, its commit and licence, rules, counts, and the reasons for left out places.")]
    Build(BuildArgs),
    /// Compute a public benchmark's own numbers from files that its tools made.
    #[command(after_help = "Examples:
  ghostbench score --format crosscodeeval line_completion.jsonl prediction.jsonl
  ghostbench score --format repoqa repoqa-2024-06-23.json.gz outputs.jsonl --json
  ghostbench score --format codev-bench results/                  all modes and parts of one model
  ghostbench score --format yabloco bench-v0.7.csv bench-v0.7.json CodeLlama-13B.csv results/ --faithful
A broken row is reported with its file and line, and the others are scored.")]
    Score(ScoreArgs),
    /// Run a live trial in your editor: start, review, export, forget.
    #[command(after_help = "Examples:
  ghostbench trial start --arm builtin --arm qwen --mode shadow
  ghostbench trial status
  ghostbench trial scoreboard
  ghostbench trial review --since 1d
  ghostbench trial export --suite cases.jsonl
Everything stays on this machine until you export it.")]
    Trial(TrialArgs),
    /// Collect the traces of a team: serve, join, send, read, delete.
    #[command(after_help = "On the server, then each developer, then an analyst:
  ghostbench collect serve
  ghostbench collect token add ann
  ghostbench collect join --server https://traces.example --consent 'I agree to its use by my team'
  ghostbench trial review --full && ghostbench collect send
  ghostbench collect scoreboard --trial spring
See docs/collect.md.")]
    Collect(CollectArgs),
    /// Show the effective settings of a folder with their origins, the engines in use, and all problems.
    #[command(after_help = "Examples:
  ghostbench doctor                       the effective settings of this folder, with their origins
  ghostbench doctor --config ci.toml      with a settings file that overrides all others
  ghostbench doctor --json                for scripts; exit code 1 means that there are problems")]
    Doctor(DoctorArgs),
    /// List the available engines, check their configuration, and try a completion.
    #[command(after_help = "Examples:
  ghostbench engines list                          the configured and the built-in engines
  ghostbench engines check                         availability, speed and template of each
  ghostbench engines complete src/app.py:120:17    a completion at line 120, column 17
  ghostbench engines cassette answers.jsonl --engine qwen --out qwen.cassette.jsonl
                                                   replay answers that another program recorded")]
    Engines(EnginesArgs),
    /// Trust a workspace's ghostbench.toml to configure engines, after you have read it.
    #[command(after_help = "Examples:
  ghostbench trust                        the current file of this folder or its repository
  ghostbench trust --list                 the trusted files, and which of them have changed
  ghostbench trust ../shop --remove       remove a file from the list
A changed file has to be trusted again.")]
    Trust(TrustArgs),
    /// Show information about the settings format.
    #[command(after_help = "Examples:
  ghostbench config schema > ghostbench.schema.json    for editors that complete and check ghostbench.toml
See docs/configuration.md for all keys, and `ghostbench doctor` for the effective settings.")]
    Config(ConfigArgs),
    /// Print the completions of a shell.
    #[command(after_help = "Examples:
  ghostbench completions bash > ~/.local/share/bash-completion/completions/ghostbench
  ghostbench completions zsh > ~/.zfunc/_ghostbench         with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  ghostbench completions fish > ~/.config/fish/completions/ghostbench.fish
  ghostbench completions powershell >> $PROFILE
Packages of the system install them.")]
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder; packages contain them.
    #[command(name = "manual", hide = true)]
    Manual {
        /// The folder; it is created if it is missing.
        folder: PathBuf,
    },
    /// Show the context that each strategy sends to an engine at a position, or measure it over a suite.
    #[command(after_help = "Examples:
  ghostbench retrieve src/app.py:120:17                     the context of each strategy at line 120, column 17
  ghostbench retrieve src/app.py:120:17 --strategy hybrid --budget 1024
  ghostbench retrieve cases.jsonl --workspace .             the share of the truths that each strategy finds
  ghostbench retrieve src/app.py:120:17 --strategy functions --embeddings http://127.0.0.1:8080")]
    Retrieve(RetrieveArgs),
}

/// Selection of cases.
#[derive(Debug, clap::Args)]
pub(crate) struct MiningArgs {
    /// Number of cases. Cases of cross_file come in threes: one hole without context, with retrieved context, and with context
    /// retrieved with knowledge of the truth. Of 400 cases in all scenarios, 57 test whether an engine is silent when no code is
    /// missing: enough to tell a restraint of 80 % from 55 %.
    #[arg(long, default_value_t = 400, value_name = "N")]
    pub(crate) cases: usize,
    /// Seed of all random choices; the same tree and seed give the same cases.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Scenario to mine; may be given more than once [default: all five].
    #[arg(long = "scenario", value_name = "SCENARIO", value_parser = parse_scenario)]
    pub(crate) scenarios: Vec<Scenario>,
    /// Proportions of the block kinds.
    #[arg(long, value_enum, default_value_t = MixArg::Even)]
    pub(crate) mix: MixArg,
}

/// Proportions of the block kinds.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MixArg {
    /// Equal shares, like Codev-Bench; a tenth of its statements are imports.
    Even,
    /// Shares of real requests, from Codev-Bench's industrial log; imports as in `even`.
    RealUse,
}

/// `ghostbench try`.
#[derive(Debug, clap::Args)]
pub(crate) struct TryArgs {
    /// Repository to try.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Selection of cases.
    #[command(flatten)]
    pub(crate) mining: MiningArgs,
    /// Selection of engines.
    #[command(flatten)]
    pub(crate) asking: EngineArgs,
    /// The question that ranks engines.
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Folder for the run [default: a new one in Ghostbench's data folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print every number as JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Open the report in the browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// `ghostbench lsp`.
#[derive(Debug, clap::Args)]
pub(crate) struct LspArgs {
    /// Use stdio (the default).
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Engine to serve; may be given more than once: the first one writes the ghost text, all are replayed [default: all configured
    /// engines, else builtin]. Available are the configured engines, builtin, and its baselines longest-match, nearest-line and empty.
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<String>,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Rules of a scripted engine in front of the others, as JSON; for tests.
    #[arg(long, value_name = "JSON", value_parser = parse_rules, hide = true)]
    pub(crate) scripted: Option<Arc<[ScriptedReply]>>,
    /// Let time pass in trials by `ghostbench/advanceTime` only; for simulations.
    #[arg(long, hide = true)]
    pub(crate) simulated_clock: bool,
    /// Log verbosity.
    #[arg(long, value_enum, default_value_t = LogLevel::Info, value_name = "LEVEL")]
    pub(crate) log_level: LogLevel,
}

/// Log verbosity; each level includes the previous ones.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors.
    Error,
    /// Omissions.
    Warn,
    /// Start, indexing, replays and end of the server.
    Info,
    /// Every request.
    Debug,
}

impl From<LogLevel> for tracing::Level {
    fn from(level: LogLevel) -> tracing::Level {
        match level {
            LogLevel::Error => tracing::Level::ERROR,
            LogLevel::Warn => tracing::Level::WARN,
            LogLevel::Info => tracing::Level::INFO,
            LogLevel::Debug => tracing::Level::DEBUG,
        }
    }
}

/// `ghostbench mine`.
#[derive(Debug, clap::Args)]
pub(crate) struct MineArgs {
    /// Repository to mine.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Selection of cases.
    #[command(flatten)]
    pub(crate) mining: MiningArgs,
    /// Mine the code that developers wrote in commits instead of the current files. RANGE is one for `git rev-list`, such as
    /// v1.0..HEAD [default: HEAD]. Such cases carry their context, and engines read no workspace for them.
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "HEAD", conflicts_with = "mix")]
    pub(crate) from_history: Option<String>,
    /// Only commits from this day or month on (UTC), as 2025-06-30 or 2025-06.
    #[arg(long, value_name = "DATE", requires = "from_history", value_parser = parse_date)]
    pub(crate) since: Option<String>,
    /// File for the suite, `-` for standard output [default: a new one in Ghostbench's data folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the numbers of cases as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Number of threads [default: one per core]; the cases do not depend on it.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// `ghostbench replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// The suite: an output file of `mine`, or the `cases.jsonl` of a run [default with --resume and --retry-failed: that of the run].
    #[arg(required_unless_present_any = ["resume", "retry_failed", "into"])]
    pub(crate) suite: Option<PathBuf>,
    /// Run to add engines to: asks its cases, and none of its other engines again. The workspace has to be the same.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["suite", "out", "resume", "retry_failed", "repeat", "seed"], requires = "engines")]
    pub(crate) into: Option<PathBuf>,
    /// The code that engines may read; without it they see only the cases.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Selection of engines.
    #[command(flatten)]
    pub(crate) asking: EngineArgs,
    /// The question that ranks engines.
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// The baseline.
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// Rules that fail the command.
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// The cluster.
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Limits over its nodes.
    #[command(flatten)]
    pub(crate) rates: RateArgs,
    /// Number of requests per case.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEAT))]
    pub(crate) repeat: u32,
    /// Unit tests.
    #[command(flatten)]
    pub(crate) judging: ReplayJudgeArgs,
    /// Seed of the confidence intervals.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Folder for the run [default: a new one in Ghostbench's data folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Resume the run in --out.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Resume the run in --out, and repeat its failed requests. Their failures stay in its predictions.jsonl.
    #[arg(long, requires = "out")]
    pub(crate) retry_failed: bool,
    /// Print every number as JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Open the report in the browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// `ghostbench index`.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    /// Workspace to index.
    #[arg(default_value = ".", conflicts_with_all = ["list", "clear"])]
    pub(crate) path: PathBuf,
    /// List the caches instead.
    #[arg(long, conflicts_with = "clear")]
    pub(crate) list: bool,
    /// Remove all caches instead.
    #[arg(long)]
    pub(crate) clear: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench retrieve`.
#[derive(Debug, clap::Args)]
pub(crate) struct RetrieveArgs {
    /// A position as FILE:LINE:COLUMN, counted from 1 as in editors, or a suite.
    #[arg(value_name = "FILE:LINE:COLUMN | SUITE", value_parser = parse_target)]
    pub(crate) target: RetrieveTarget,
    /// Strategy to run; may be given more than once [default: that of the settings, else hybrid, symbols, functions, bm25-chunks].
    /// Available are these, recent (which needs an editor's edits, so it finds nothing here) and none.
    #[arg(long = "strategy", value_name = "NAME")]
    pub(crate) strategies: Vec<Strategy>,
    /// Token budget per strategy, four bytes each [default: that of the settings, else 512].
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// The code to search [default for a position: this folder].
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Comparison of functions.
    #[command(flatten)]
    pub(crate) embeddings: EmbeddingArgs,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Seed of the confidence intervals.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Folder of the workspace.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// Additional settings.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench trust`.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Folder of the workspace, or its file.
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,
    /// List the trusted files instead.
    #[arg(long, conflicts_with = "remove")]
    pub(crate) list: bool,
    /// Remove the file from the list.
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ghostbench config`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ConfigArgs {
    /// Information to show.
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// Information about the settings format.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the JSON schema of ghostbench.toml.
    #[command(after_help = "Example:
  ghostbench config schema > ghostbench.schema.json")]
    Schema,
}

/// `ghostbench completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Source of embeddings.
#[derive(Debug, clap::Args)]
pub(crate) struct EmbeddingArgs {
    /// Compare functions by embeddings of this server instead of words: any server with OpenAI's /v1/embeddings. Each of the
    /// workspace's functions is sent to it once.
    #[arg(long = "embeddings", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The server's model to use, if it has several.
    #[arg(long = "embedding-model", value_name = "NAME", requires = "server")]
    pub(crate) model: Option<String>,
    /// Environment variable with the server's API key.
    #[arg(long = "embedding-key-env", value_name = "VARIABLE", requires = "server")]
    pub(crate) key_variable: Option<String>,
}
